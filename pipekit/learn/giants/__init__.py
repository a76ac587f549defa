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

__all__ = [
    "GIANT_ACCURACY",
    "GIANT_PARAMETERS",
    "PUBLISHED",
    "Exam",
    "Picture",
    "Recipe",
    "amoebanet",
    "examine",
    "misread",
    "num_parameters",
    "picture_net",
    "saved_picture_net",
    "train_pictures",
]
