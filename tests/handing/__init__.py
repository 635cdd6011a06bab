"""What `tests/handovers.py` is made of."""
