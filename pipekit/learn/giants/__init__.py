"""Two giant models of GPipe's paper, and small relatives of theirs that a class trains for real."""

from pipekit.learn.giants.amoebanet import (
    GIANT_ACCURACY,
    GIANT_PARAMETERS,
    PUBLISHED,
    amoebanet,
    num_parameters,
)
from pipekit.learn.giants.misread import misread
from pipekit.learn.giants.pictures import (
    Exam,
    Picture,
    Recipe,
    examine,
    picture_net,
    saved_picture_net,
    train_pictures,
)
from pipekit.learn.giants.translator_data import LANGUAGES
from pipekit.learn.giants.translator_saved import saved_translator
from pipekit.learn.giants.translator_tables import compared_languages, translate
from pipekit.learn.giants.translator_training import train_cut_translator, written_right

__all__ = [
    "GIANT_ACCURACY",
    "GIANT_PARAMETERS",
    "LANGUAGES",
    "PUBLISHED",
    "Exam",
    "Picture",
    "Recipe",
    "amoebanet",
    "compared_languages",
    "examine",
    "misread",
    "num_parameters",
    "picture_net",
    "saved_picture_net",
    "saved_translator",
    "train_cut_translator",
    "train_pictures",
    "translate",
    "written_right",
]
