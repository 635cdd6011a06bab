"""Before the tests on a device. Every file here skips itself where there is none for it (`support.require_*`)."""

from __future__ import annotations

import os

# Otherwise JAX takes three quarters of the card for itself, and the tests of memory have nothing left to fill.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
