"""Waits for streams in coroutines, and checks of the order of streams between libraries."""
