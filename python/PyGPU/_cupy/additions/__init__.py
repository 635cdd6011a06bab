"""Implementation of `cupyx`."""
