"""What the tests of deferred operations share: the counts of the library, and programs that are run twice."""
