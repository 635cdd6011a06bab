"""Helpers of public modules: lists of exported names, and docstrings that several functions share."""
