"""Set up the tests on a device. Each file skips itself if no device suits it (`support.require_*`)."""

from __future__ import annotations

import os

# Without this setting JAX reserves three quarters of the GPU's memory, and too little is left for the tests of memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
