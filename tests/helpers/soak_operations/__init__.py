"""Provide the operations and random choices of tests/helpers/soak.py."""
