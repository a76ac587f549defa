"""The first page: the course and one's progress."""

from pages import Page, code, text

CELLS = [
    text(
        """
# 从这里开始

一个装不下的大模型，怎么切开放到几块显卡上，还不让它们闲着？下面是整门课，按顺序做，或者只挑一页。点标题就能打开。

（想看最新的进度？点一下下面的单元格，再按 Shift+Enter。）
""",
        """
# Start here

A model too big for one GPU: how is it cut over several, and how are they kept busy? This is the whole course; go through it in
order, or pick one page. Click a title to open it.

(For your latest progress click the cell below and press Shift+Enter.)
""",
    ),
    code(
        """
from pipekit.learn import StartPage

page = StartPage(lang="LANG")
page
"""
    ),
    text(
        """
“打开过”是说在这个文件夹里打开过那一页；练习做对几道，记在 `results.jsonl` 里，没有姓名。

换一位同学用这台电脑？运行 `page.reset()`：成绩从头记，原来的另存一份，文件名里有今天的日期。
""",
        """
"Opened" means that the page was opened in this folder; solved exercises are noted in `results.jsonl`, without a name.

Somebody else at this computer? Run `page.reset()`: results begin anew, the old ones are kept in a file with today's date.
""",
    ),
]

TEACHER = (
    """
# 给老师：开始页

**时间** 上课前看一眼，不占课时。投影时从这里点开要用的那一页。

**进度从哪里来** 练习的成绩来自同一个文件夹里的 `results.jsonl`；“打开过”来自 JupyterLab 打开笔记本时自动留下的备份。两样都没有姓名。

**多位同学共用一台电脑** 课间运行 `page.reset()`。要收成绩，先收再清；清了也能找回：旧成绩在 `results-日期.jsonl` 里。

**发给同学之前** 文件夹里不要有 `results.jsonl`。真的带进去了，收成绩时也认得出：共同的那一段谁也不算。
""",
    """
# The start page: for the teacher

**Time** A look before the lesson; none of the class's. When projecting, open the page you need from here.

**Where progress comes from** Exercises: `results.jsonl` in the same folder. "Opened": the checkpoint that JupyterLab keeps when it opens a notebook. No names in either.

**Several learners at one computer** Run `page.reset()` between them. Collect first, then reset; nothing is lost: old results are in `results-DATE.jsonl`.

**Before you hand folders out** They should hold no `results.jsonl`. If they do, collecting notices: the common beginning counts for nobody.
""",
)

PAGE = Page(
    title=("从这里开始", "Start here"),
    question=("这门课有哪些页，我做到哪儿了？", "What is in the course, and how far am I?"),
    minutes=2,
    rows=(),
    runs=("不训练，只列出课程和进度", "nothing; it lists the course and your progress"),
    cells=CELLS,
    teacher=TEACHER,
)
