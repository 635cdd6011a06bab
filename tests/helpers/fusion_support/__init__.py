"""Provide shared code of the tests of deferred operations: counters of the library, and random programs."""
