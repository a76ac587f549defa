"""The control room."""

from pages import Page, code

CELLS = [
    code(
        """
from pipekit.learn import ControlRoom

room = ControlRoom(lang="LANG", wide=True)
room
"""
    ),
]

PAGE = Page(
    title=("控制室", "The control room"),
    question=("切成几小份，4 块显卡少闲着？", "How many pieces keep 4 GPUs busy?"),
    minutes=10,
    rows=(4, 5, 6),
    runs=("一次真的训练：切和不切", "one real training run, cut and uncut"),
    cells=CELLS,
)
