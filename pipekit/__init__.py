"""pipekit: plan, run, show and learn pipeline parallelism on the machine you have."""

__version__ = "0.1.0"
