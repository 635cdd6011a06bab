"""Look up names of the package when they are first used, and list them."""

from __future__ import annotations

import builtins
import importlib
import sys
from typing import Any

from PyGPU._names import index

MODULES = (
    "allocators",
    "autoinit",
    "autoprimaryctx",
    "backend",
    "characterize",
    "compiler",
    "cumath",
    "curandom",
    "dask",
    "device_array",
    "driver",
    "elementwise",
    "fft",
    "gpuarray",
    "linalg",
    "nvml",
    "profile",
    "random",
    "reduction",
    "runtime",
    "scan",
    "tools",
    "typing",
)
"""The package's public modules."""

_SWITCHES = {"autoinit", "autoprimaryctx"}
"""Modules that make a context when they are imported: nothing that looks at all names may do that."""

_STARRED = {"backend", "elementwise", "gpuarray", "reduction", "scan"}
"""Modules that ``from PyGPU import *`` brings."""

_OF_THE_ARRAY_API = dict.fromkeys(("__array_api_version__", "__array_namespace_info__"), "PyGPU._protocols.namespace")
"""Names of the package that the array API asks for and nobody types."""

_PYCUDAS = dict.fromkeys(("VERSION", "VERSION_STATUS", "VERSION_TEXT"), "PyGPU._pycuda.version")
"""Names of PyCUDA's package, for programs that ask `pycuda` for its version; not shown, since PyGPU's is another."""


_OF_PYCUDA = ("elementwise", "reduction", "scan", "compiler", "driver", "gpuarray", "tools", "characterize")
"""Modules of which a name may be looked for in the package, the most likely ones first."""

# What a person looks for here that is elsewhere, or has another name.
_HINTS = {
    "SourceModule": "it is PyGPU.compiler.SourceModule; PyGPU.Module and PyGPU.Kernel are PyGPU's own",
    "RawKernel": "PyGPU.Kernel compiles a text",
    "RawModule": "PyGPU.Module compiles a text",
    "cuda": "devices, streams and events are PyGPU.Device, PyGPU.Stream and PyGPU.Event; PyCUDA's are in PyGPU.driver",
    "cudaGetDeviceProperties": "PyGPU.device_properties(device) has them",
    "is_available": "PyGPU.backend_name() tells on what PyGPU computes",
    "testing": "numpy.testing takes the values, a.get()",
}


def _hint(name: str) -> str:
    """Say where a name is that is not there, as far as that is known."""
    if name in _HINTS:
        return f"; {_HINTS[name]}"
    if name.startswith("_"):
        return ""  # a program that asks for it, and not a person: nothing is to be imported for that
    for module in _OF_PYCUDA:
        if name in importlib.import_module(f"PyGPU.{module}").__all__:
            return f"; it is PyGPU.{module}.{name}"
    # Not asked for it: some of NumPy's names warn when they are.
    return "; NumPy has it, for values on the host: a.get()" if name in dir(sys.modules.get("numpy")) else ""


def find(name: str) -> Any:
    """Return what a name of `PyGPU` means that is not loaded with it: a module, a function, one of PybindGPU's names.

    Raises
    ------
    AttributeError
        If there is no such name.
    """
    if name in MODULES:
        return importlib.import_module(f"PyGPU.{name}")
    # PybindGPU's names are many; whatever is none of the others is looked for among them.
    home = index.HOME.get(name) or (_PYCUDAS | _OF_THE_ARRAY_API).get(name, "PyGPU.backend")
    try:
        return getattr(importlib.import_module(home), name)
    except AttributeError:
        # With these Python names the likeliest one in the traceback.
        package, hint = sys.modules["PyGPU"], _hint(name)
        if hint and sys._getframe(2).f_code.co_name == "_handle_fromlist":
            # `from PyGPU import name`: Python would say that it cannot, and drop the hint of an AttributeError.
            told = f"cannot import name {name!r} from 'PyGPU'{hint}"
            raise ImportError(told, name="PyGPU", path=package.__file__) from None
        told = f"module 'PyGPU' has no attribute {name!r}{hint}"
        raise AttributeError(told, name=name, obj=package) from None


def is_asked_by(module: str) -> bool:
    """Tell whether code of a module asked for a name of `PyGPU`: for the package's ``__getattr__``."""
    # This function, `__getattr__`, who asked.
    return sys._getframe(2).f_globals.get("__name__") == module


def _native() -> set[str]:
    return {name for name in importlib.import_module("PyGPU._core").__all__ if not name.startswith("_")}


def everything() -> list[str]:
    """List every public name of `PyGPU`, PybindGPU's included, but for those of Python itself; loads the modules."""
    backend = importlib.import_module("PyGPU.backend")
    return sorted({*_native(), *index.HOME, *_STARRED, *backend.__all__} - set(dir(builtins)))


def shown() -> list[str]:
    """List what a person would type: not PybindGPU's names, of which there are more than of all others."""
    return sorted({*_native(), *index.HOME, *MODULES, "__version__"} - _SWITCHES)
