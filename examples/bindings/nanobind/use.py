"""The library through nanobind. ``sh nanobind/make.sh build && PYTHONPATH=build python nanobind/use.py``."""

import sys
from pathlib import Path
from types import SimpleNamespace

import heat_nanobind

import PyGPU as gpuarray

sys.path.append(str(Path(__file__).parents[1]))
from binding_checks import check, expect


def new(count: int) -> gpuarray.GPUArray:
    """Take ownership of the library's memory."""
    device_type, _ = gpuarray.empty(0).__dlpack_device__()
    return gpuarray.from_dlpack(heat_nanobind.create(count, device_type))


names = ("scale", "step", "total", "where")
heat = SimpleNamespace(new=new, **{name: getattr(heat_nanobind, name) for name in names})
check(heat, tells_why=False)
expect(TypeError, lambda: heat.total(gpuarray.zeros((2, 2))), "x: float32 is needed", "float64")
assert heat_nanobind.take_view(gpuarray.zeros(3, "float32"))
