"""Indices of the parts of an array, and functions that are called for parts of it."""
