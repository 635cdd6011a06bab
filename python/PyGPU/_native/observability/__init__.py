"""Observability: notebook views, messages for `logging`, progress bars."""
