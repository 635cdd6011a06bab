"""Provide the parts of `tests/helpers/handovers.py`."""
