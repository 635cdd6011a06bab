"""Configure JAX and Numba for the tests on a GPU.

Each file calls a function `support.require_*`, which skips the file if there is no suitable GPU.
"""

from __future__ import annotations

import os

# Without this variable, JAX reserves three quarters of the GPU's memory, and the tests of memory would have too little
# memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
# The tests launch small grids, for which Numba warns that they leave most of the GPU idle.
os.environ.setdefault("NUMBA_CUDA_LOW_OCCUPANCY_WARNINGS", "0")
