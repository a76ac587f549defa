"""The control room: move K, M, the checkpoint policy and the schedule; see the prediction; train; see what was measured."""

from pipekit.learn.controlroom.room import ControlRoom
from pipekit.learn.controlroom.sweep import SweepPanel

__all__ = ["ControlRoom", "SweepPanel"]
