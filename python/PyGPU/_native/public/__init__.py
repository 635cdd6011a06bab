"""Declarations of public modules: exported names, and docstrings that several functions share."""
