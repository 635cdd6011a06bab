"""What `tests/helpers/handovers.py` is made of."""
