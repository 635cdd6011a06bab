"""Provide the parts of `tests/helpers/handovers.py`, which passes memory between libraries at random."""
