"""Learn it: real data, small real models, and the control room that predicts, trains and measures."""

from typing import TYPE_CHECKING

from pipekit.lazily import on_demand

if TYPE_CHECKING:
    from pipekit.learn.classroom import StartPage
    from pipekit.learn.comparison import ComparisonPanel
    from pipekit.learn.controlroom import ControlRoom, SweepPanel
    from pipekit.learn.data import Digits, digits
    from pipekit.learn.designboard import DesignBoard
    from pipekit.learn.desk_panel import DeskPanel
    from pipekit.learn.experiment import Experiment, Outcome, Settings
    from pipekit.learn.games import CardsGame, GridPuzzle, LaundryGame, ScratchPaperGame
    from pipekit.learn.lesson import Lesson
    from pipekit.learn.models import accuracy, convnet, mlp, train, uneven_mlp
else:  # a type checker reads the imports above, Python imports on demand
    __getattr__, __dir__ = on_demand(
        __name__,
        {
            "classroom": ["StartPage"],
            "comparison": ["ComparisonPanel"],
            "controlroom": ["ControlRoom", "SweepPanel"],
            "data": ["Digits", "digits"],
            "designboard": ["DesignBoard"],
            "desk_panel": ["DeskPanel"],
            "experiment": ["Experiment", "Outcome", "Settings"],
            "games": ["CardsGame", "GridPuzzle", "LaundryGame", "ScratchPaperGame"],
            "lesson": ["Lesson"],
            "models": ["accuracy", "convnet", "mlp", "train", "uneven_mlp"],
        },
    )

__all__ = [
    "CardsGame",
    "ComparisonPanel",
    "ControlRoom",
    "DesignBoard",
    "DeskPanel",
    "Digits",
    "Experiment",
    "GridPuzzle",
    "LaundryGame",
    "Lesson",
    "Outcome",
    "ScratchPaperGame",
    "Settings",
    "StartPage",
    "SweepPanel",
    "accuracy",
    "convnet",
    "digits",
    "mlp",
    "train",
    "uneven_mlp",
]
