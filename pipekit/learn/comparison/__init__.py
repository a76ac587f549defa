"""The comparison panel: schedules side by side, predicted and measured, at the same total work."""

from pipekit.learn.comparison.panel import ComparisonPanel

__all__ = ["ComparisonPanel"]
