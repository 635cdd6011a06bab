"""Fusion mode of a thread, and report on deferred operations."""
