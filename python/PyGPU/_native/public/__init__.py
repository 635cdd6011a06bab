"""Helpers for public modules: assertions, lists of exported names, and completion of docstrings."""
