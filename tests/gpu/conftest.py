"""Configure JAX for the tests on a GPU. Each file skips its tests if no suitable GPU exists (`support.require_*`)."""

from __future__ import annotations

import os

# Otherwise JAX reserves three quarters of the GPU's memory, which leaves too little for the tests of memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
