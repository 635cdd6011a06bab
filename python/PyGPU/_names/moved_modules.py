"""Import private modules of version 0.1.0 that have moved, because pickles name these modules.

A pickle names a class or function by its module. Version 0.1.0 defined many public names in private modules that no
longer exist. An import of such a module returns a module that takes its names from a public module.
"""

from __future__ import annotations

import functools
import importlib
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["HOMES", "spec_of"]

_GROUPS = {
    "PyGPU": "memory_allocator",
    "PyGPU.backend": (
        "labels pointer runtime_device runtime_event runtime_host runtime_memory runtime_stream status typed_allocators"
    ),
    "PyGPU.compiler": "compiler_dynamic",
    "PyGPU.driver": (
        "driver_boxes driver_context driver_copies driver_debugging driver_device driver_device_attributes "
        "driver_enums driver_host_allocations driver_host_memory driver_memory driver_memory_flags driver_module "
        "driver_profiler driver_sets driver_streams driver_textures"
    ),
    "PyGPU.tools": "c_types memory_pools tools_context tools_numbers tools_occupancy",
}

HOMES = {f"PyGPU._{module}": home for home, modules in _GROUPS.items() for module in modules.split()}
"""The public module that has the names of each former private module."""


class _Loader:
    def __init__(self, home: str) -> None:
        self.home = home

    def create_module(self, spec: ModuleSpec) -> None:
        del spec

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__getattr__"] = functools.partial(getattr, importlib.import_module(self.home))


def spec_of(name: str) -> ModuleSpec | None:
    """Return the import specification of a former private module, or None for other names.

    Parameters
    ----------
    name : str
        Full name of a module.

    Returns
    -------
    ModuleSpec or None
    """
    return ModuleSpec(name, _Loader(HOMES[name])) if name in HOMES else None  # type: ignore[arg-type]
