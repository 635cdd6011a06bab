"""Fusion mode of a thread, and the report on deferred operations."""
