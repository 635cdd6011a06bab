"""A kernel from a file
====================

A ``.cu`` file, compiled ahead by nvcc to a cubin, or loaded directly.

``nvcc -cubin -arch=sm_90 scale.cu`` is the command of a build system. The cubin needs no compiler on the target.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import PyGPU as gpuarray

FILE = Path(__file__).parent / "scale.cu"


def compiled_by_nvcc(nvcc: str) -> bytes:
    """Compile the file for the current device."""
    architecture = gpuarray.Device().properties["architecture"]
    with tempfile.TemporaryDirectory() as folder:
        cubin = Path(folder) / "scale.cubin"
        subprocess.run([nvcc, "-cubin", f"-arch={architecture}", "-o", str(cubin), str(FILE)], check=True)
        return cubin.read_bytes()


def main() -> None:
    """Launch the kernel of the cubin if nvcc and a GPU are available, and that of the file everywhere."""
    kernels = {"the file": gpuarray.Kernel(FILE, "scale")}
    nvcc = shutil.which("nvcc")
    if nvcc and gpuarray.backend_name() == "cuda":
        # An image contains the sizes of the parameters, not their types.
        kernels["a cubin"] = gpuarray.Kernel(compiled_by_nvcc(nvcc), "scale").prepare("Pfi")
    else:
        print("no nvcc, or no NVIDIA GPU: without the cubin", file=sys.stderr)
    for origin, kernel in kernels.items():
        x = gpuarray.to_gpu(np.arange(1000, dtype=np.float32))
        kernel[4, 256](x, 2.5, x.size)
        np.testing.assert_array_equal(x.get(), np.arange(1000) * np.float32(2.5))
        print(f"from {origin}: as NumPy, on {x.device}")


if __name__ == "__main__":
    main()
