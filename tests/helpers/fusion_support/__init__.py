"""Provide shared code of the tests of deferred operations: access to PyGPU's counters, and random programs."""
