"""PyCUDA's interface: In and Out
==============================

Multiplies two arrays: `In` and `Out` copy host arrays around the launch.

    python examples/pycuda_multiply.py

With ``--ptxas-options=-v`` the compiler prints the kernel's resource usage, which becomes a warning.
"""

from __future__ import annotations

import numpy as np

import PyGPU.autoinit  # noqa: F401
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

SOURCE = """
__global__ void multiply(float *product, const float *a, const float *b)
{
    const int i = threadIdx.x;
    product[i] = a[i] * b[i];
}
"""


def multiplied(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the product of the elements, computed on the device by one block."""
    module = SourceModule(SOURCE, options=["--ptxas-options=-v"])
    multiply = module.get_function("multiply")
    product = np.zeros_like(a)
    multiply(drv.Out(product), drv.In(a), drv.In(b), block=(a.size, 1, 1), grid=(1, 1))
    return product


def main() -> None:
    """Multiply random numbers, and compare with NumPy."""
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 400), dtype=np.float32)
    product = multiplied(a, b)
    np.testing.assert_array_equal(product, a * b)
    print(f"largest difference from NumPy: {np.abs(product - a * b).max()}")


if __name__ == "__main__":
    main()
