"""Declarations of public modules: the names that they list, and docstrings that several functions share."""
