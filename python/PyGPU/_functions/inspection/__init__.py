"""Inspection of arrays: types, memory, and components of numbers."""
