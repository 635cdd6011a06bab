"""Set up the tests on a device. Each file skips itself if no device suits it (`support.require_*`)."""

from __future__ import annotations

import os

# Otherwise JAX takes three quarters of the card for itself, and the tests of memory have nothing left to fill.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
