"""Locks and placeholders for processes that fork."""
