"""Import private modules of earlier versions that have moved, because pickles name these modules.

A pickle names a class or function by its module. Versions 0.1.0 and 0.2.0 defined picklable objects in private modules
that no longer exist. An import of such a module returns a module that takes its names from the module in which they are
now.
"""

from __future__ import annotations

import functools
import importlib
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["HOMES", "spec_of"]

_GROUPS = {
    "PyGPU": "memory_allocator",
    "PyGPU._cupy.cupyx.synchronization": "cupy.additions.synchronization",
    "PyGPU._kernels.occupancy": "native.compiled.occupancy",
    "PyGPU._kernels.pickled_kernels": "native.pickled_kernels",
    "PyGPU._observability.benchmark": "native.observability.benchmark",
    "PyGPU._shared_arrays.handle": "sharing.handle",
    "PyGPU.backend": (
        "labels pointer pybindgpu.labels runtime_device runtime_event runtime_host runtime_memory runtime_stream "
        "status typed_allocators"
    ),
    "PyGPU.compiler": "compiler_dynamic",
    "PyGPU.curandom": "pycuda.curandom.tables",
    "PyGPU.driver": (
        "driver_boxes driver_context driver_copies driver_debugging driver_device driver_device_attributes "
        "driver_enums driver_host_allocations driver_host_memory driver_memory driver_memory_flags driver_module "
        "driver_profiler driver_sets driver_streams driver_textures"
    ),
    "PyGPU.tools": "c_types native.c_arguments memory_pools tools_context tools_numbers tools_occupancy",
}

HOMES = {f"PyGPU._{module}": home for home, modules in _GROUPS.items() for module in modules.split()}
"""The module that has the names of each former private module."""

_PACKAGES = {home.rpartition(".")[0] for home in HOMES} | {"PyGPU._native"}
"""Packages of the former private modules."""


class _Loader:
    def __init__(self, home: str | None) -> None:
        self.home = home

    def create_module(self, spec: ModuleSpec) -> None:
        del spec

    def exec_module(self, module: ModuleType) -> None:
        if self.home is not None:
            vars(module)["__getattr__"] = functools.partial(getattr, importlib.import_module(self.home))


def spec_of(name: str) -> ModuleSpec | None:
    """Return the import specification of a former private module or package, or None for other names.

    Parameters
    ----------
    name : str
        Full name of a module.

    Returns
    -------
    ModuleSpec or None
    """
    if name not in HOMES and name not in _PACKAGES:
        return None
    return ModuleSpec(name, _Loader(HOMES.get(name)), is_package=name in _PACKAGES)  # type: ignore[arg-type]
