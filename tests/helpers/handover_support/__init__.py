"""Parts of `tests/helpers/handovers.py`."""
