"""Test `cupy.cuda.Module` and its functions, which load compiled kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

import PyGPU
import PyGPU.cupy.cuda as cuda
from PyGPU.cupy.cuda import function

SOURCE = """
__device__ int offset;
extern "C" __global__ void fill(int *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = i + offset;
}
"""


def test_cuda_module_of_compiled_source_has_functions_and_variables() -> None:
    module = cuda.compile_with_cache(SOURCE, options=("-DUNUSED=1",))
    address = module.get_global_var("offset")
    cuda.runtime.memset(address, 0, 4)
    kernel = module.get_function(b"fill")
    assert isinstance(kernel, cuda.Function)
    x = PyGPU.zeros(10, "i4")
    kernel((2,), (5,), (x.data, 10))
    assert x.tolist() == list(range(10))
    cuda.runtime.memset(address, 1, 1)
    kernel.linear_launch(7, (x, 7))
    assert x.tolist() == [*range(1, 8), 7, 8, 9]


def test_cuda_module_loads_image_and_file(tmp_path: Path) -> None:
    image = PyGPU.Module(SOURCE).image
    path = tmp_path / "image"
    path.write_bytes(image)
    for load in (lambda module: module.load(image), lambda module: module.load_file(str(path))):
        module = function.Module()
        load(module)
        cuda.runtime.memset(module.get_global_var("offset"), 0, 4)
        x = PyGPU.ones(3, "i4")
        module.get_function("fill")((1,), (3,), (x, 3))
        assert x.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="contains no code"):
        function.Module().get_function("fill")
