"""Import PyGPU's public objects at their first use, and list the public names."""

from __future__ import annotations

import builtins
import importlib
import sys
from typing import Any

from PyGPU._names import deprecated, index
from PyGPU._names.annotations import readable

MODULES = (
    "allocators",
    "autoinit",
    "autoprimaryctx",
    "backend",
    "characterize",
    "compiler",
    "cumath",
    "cupy",
    "cupyx",
    "curandom",
    "dask",
    "debug",
    "device_array",
    "driver",
    "elementwise",
    "emath",
    "fft",
    "gpuarray",
    "lib",
    "linalg",
    "nvml",
    "profile",
    "random",
    "reduction",
    "runtime",
    "scan",
    "special",
    "testing",
    "tools",
    "typing",
)
"""The package's public modules."""

_ACTIVATING_MODULES = {"autoinit", "autoprimaryctx"}
"""Modules that create a context when they are imported; `dir` omits them."""

_STAR_MODULES = {"backend", "elementwise", "gpuarray", "reduction", "scan"}
"""Modules that ``from PyGPU import *`` imports."""

_ARRAY_API_NAMES = dict.fromkeys(("__array_api_version__", "__array_namespace_info__"), "PyGPU._protocols.namespace")
"""Names that the array API requires of a namespace, with their modules; `dir` omits these names."""

_PYCUDA_NAMES = dict.fromkeys(("VERSION", "VERSION_STATUS", "VERSION_TEXT"), "PyGPU._pycuda.version")
"""Constants with PyCUDA's version, for programs that check it; `dir` omits them, because PyGPU's version differs."""

DEPRECATED = deprecated.TABLE
"""Table of the names that warn at each access; also available as ``PyGPU.__deprecated__``."""

_HINT_MODULES = ("elementwise", "reduction", "scan", "compiler", "driver", "gpuarray", "tools", "characterize")
"""Modules whose names users may search in the package itself, the most likely ones first."""

# Hints for names that users may expect in `PyGPU`, but that are in another module or have another name.
_HINTS = {
    "SourceModule": "it is PyGPU.compiler.SourceModule; PyGPU.Module and PyGPU.Kernel are PyGPU's own",
    "RawKernel": "PyGPU.Kernel compiles a text; CuPy's is PyGPU.cupy.RawKernel",
    "RawModule": "PyGPU.Module compiles a text; CuPy's is PyGPU.cupy.RawModule",
    "cuda": "devices, streams and events are PyGPU.Device, PyGPU.Stream and PyGPU.Event; PyCUDA's are in PyGPU.driver, "
    "CuPy's in PyGPU.cupy.cuda",
    "cudaGetDeviceProperties": "PyGPU.device_properties(device) has them",
    "is_available": "PyGPU.backend_name() tells on what PyGPU computes",
}


def _hint(name: str) -> str:
    """Return a hint that recommends a replacement for a missing name, or an empty string."""
    if name in _HINTS:
        return f"; {_HINTS[name]}"
    if name.startswith("_"):
        return ""  # Other libraries query private names; such queries must not import modules.
    for module in _HINT_MODULES:
        if name in importlib.import_module(f"PyGPU.{module}").__all__:
            return f"; it is PyGPU.{module}.{name}"
    from PyGPU._protocols.not_planned_names import replacement

    if text := replacement(name):
        return f"; NumPy's {name} is not planned: {text.replace('`', '')}"
    # Access to some attributes of NumPy emits a warning, so `dir` is used instead of `hasattr`.
    return "; NumPy has it, for values on the host: a.get()" if name in dir(sys.modules.get("numpy")) else ""


def find(name: str) -> Any:
    """Return the object of a public name of `PyGPU`; the first use of the name imports the object's module.

    Raises
    ------
    AttributeError
        If the name does not exist.
    """
    if name in MODULES:
        return importlib.import_module(f"PyGPU.{name}")
    # A name that is in no table may be a name of PybindGPU; `PyGPU.backend` contains these names.
    home = index.HOME.get(name) or (_PYCUDA_NAMES | _ARRAY_API_NAMES).get(name, "PyGPU.backend")
    try:
        return readable(getattr(importlib.import_module(home), name))
    except AttributeError:
        # From the arguments `name` and `obj` Python's traceback derives a suggestion of the closest name.
        package, hint = sys.modules["PyGPU"], _hint(name)
        if hint and sys._getframe(2).f_code.co_name == "_handle_fromlist":
            # In `from PyGPU import name` Python replaces an AttributeError by an ImportError without the hint.
            message = f"cannot import name {name!r} from 'PyGPU'{hint}"
            raise ImportError(message, name="PyGPU", path=package.__file__) from None
        message = f"module 'PyGPU' has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name, obj=package) from None


def find_deprecated(name: str) -> Any:
    """Return the object of a deprecated name and warn; the caller is ``PyGPU.__getattr__``."""
    return deprecated.find(name, stacklevel=3)


def is_asked_by(module: str) -> bool:
    """Test whether a given module has accessed an attribute of `PyGPU`; the caller is ``PyGPU.__getattr__``."""
    # Frame 0 is this function, frame 1 `PyGPU.__getattr__`, frame 2 the code that accessed the attribute.
    return sys._getframe(2).f_globals.get("__name__") == module


def _native() -> set[str]:
    return {name for name in importlib.import_module("PyGPU._core").__all__ if not name.startswith("_")}


def everything() -> list[str]:
    """List all public names of `PyGPU`, including PybindGPU's names. The call imports `PyGPU.backend`."""
    backend = importlib.import_module("PyGPU.backend")
    return sorted({*_native(), *index.HOME, *_STAR_MODULES, *backend.__all__} - set(dir(builtins)))


def shown() -> list[str]:
    """List the public names for ``dir(PyGPU)``, without PybindGPU's names, which outnumber all others."""
    return sorted({*_native(), *index.HOME, *MODULES, "__version__"} - _ACTIVATING_MODULES)
