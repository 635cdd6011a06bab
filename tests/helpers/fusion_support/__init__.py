"""Shared code of the tests of deferred operations: counts of the library, and programs that run twice."""
