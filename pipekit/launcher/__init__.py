"""What start.py does: prepare `.venv`, open the lab, give the learner copies, fill a USB stick.

Everything here runs on the standard library alone, before anything is installed; only `lab.run_cells_first`
imports more, in `.venv`'s Python.
"""
