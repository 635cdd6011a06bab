"""A Triton kernel on PyGPU arrays: ``python triton/use.py``, with Triton and a GPU."""

import numpy as np
import triton
import triton.language as tl

import PyGPU as gpuarray


@triton.jit
def scale(x, factor, count, BLOCK: tl.constexpr):
    """Multiply in place."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < count
    tl.store(x + offsets, tl.load(x + offsets, mask=inside) * factor, mask=inside)


a = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
# Without torch, Triton launches on the default stream, on which `a` was uploaded.
scale[(triton.cdiv(a.size, 256),)](a, 2.0, a.size, BLOCK=256)
np.testing.assert_array_equal(a.get(), 2.0 * np.arange(1000, dtype=np.float32))
print("as it should be")
