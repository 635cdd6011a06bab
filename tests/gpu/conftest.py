"""Configure JAX for the tests on a GPU. Each file skips its tests if no suitable GPU exists (`support.require_*`)."""

from __future__ import annotations

import os

# Without this variable, JAX reserves three quarters of the GPU's memory, and the memory tests would have too little.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
