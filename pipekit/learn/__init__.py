"""Learn it: real data, small real models, and the control room that predicts, trains and measures."""

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
