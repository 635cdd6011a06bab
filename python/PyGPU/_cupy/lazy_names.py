"""Import the objects of `PyGPU.cupy` and `PyGPU.cupyx` at their first use, and list the names of both modules."""

from __future__ import annotations

import importlib
import sys
from opcode import opmap
from types import FrameType
from typing import Any

import numpy as np

from PyGPU._cupy.missing_names import missing_text
from PyGPU._names import index
from PyGPU._names.annotations import readable

__all__ = ["find", "has_own_parameters", "no_attribute", "shown"]

_OWN: dict[str, dict[str, tuple[str, ...]]] = {
    "PyGPU.cupy": {
        "PyGPU._cupy.kernels.raw_kernel": ("RawKernel",),
        "PyGPU._cupy.kernels.raw_module": ("RawModule",),
        "PyGPU._cupy.kernels.elementwise": ("ElementwiseKernel",),
        "PyGPU._cupy.kernels.reduction": ("ReductionKernel",),
        "PyGPU._cupy.kernels.fusion": ("fuse",),
        "PyGPU._cupy.functions.creation": (
            "array", "asanyarray", "asarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "asnumpy",
            "require",
        ),
        "PyGPU._cupy.configuration": (
            "get_array_module", "get_default_memory_pool", "get_default_pinned_memory_pool", "is_available",
            "show_config",
        ),
        "PyGPU._cupy.functions.files": ("load",),
        "PyGPU._cupy.functions.manipulation": ("roll",),
        "PyGPU._cupy.functions.memoization": ("clear_memo", "memoize"),
        "PyGPU._cupy.functions.removed_from_numpy": (
            "alltrue", "asfarray", "byte_bounds", "cumproduct", "disp", "find_common_type", "get_array_wrap", "in1d",
            "issctype", "issubclass_", "issubsctype", "msort", "obj2sctype", "product", "round_",
            "safe_eval", "sctype2char", "set_string_function", "sometrue", "trapz",
        ),
        "PyGPU._cupy.functions.polynomials": ("poly1d", "polyadd", "polymul", "polysub", "polyval", "roots"),
        "PyGPU._cupy.functions.reductions": (
            "amax", "amin", "cumprod", "cumsum", "max", "mean", "min", "prod", "std", "sum", "var",
        ),
        "PyGPU._cupy.functions.searching": ("argmax", "argmin"),
        "PyGPU._cupy.functions.structured_dtypes": ("make_aligned_dtype",),
        "PyGPU._cupy.functions.vectorization": ("vectorize",),
    },
    "PyGPU.cupyx": {
        "PyGPU._cupy.array_methods": ("scatter_add", "scatter_max", "scatter_min"),
        "PyGPU._cupy.cupyx.error_state": ("errstate", "geterr", "seterr"),
        "PyGPU._cupy.cupyx.synchronization": ("DeviceSynchronized", "allow_synchronize"),
        "PyGPU._cupy.cupyx.pinned_arrays": (
            "empty_like_pinned", "empty_pinned", "zeros_like_pinned", "zeros_pinned",
        ),
        "PyGPU._cupy.cupyx.elementwise_functions": ("rsqrt",),
        "PyGPU._cupy.configuration": ("get_runtime_info",),
    },
}  # fmt: skip
"""Names that PyGPU defines only for CuPy's interface, by the modules that define them."""

_MODULES = {
    "PyGPU.cupy": ("cuda", "exceptions", "fft", "lib", "linalg", "polynomial", "random", "testing", "typing"),
    "PyGPU.cupyx": ("profiler", "scipy", "time"),
}

_VALUES: dict[str, Any] = {
    "disable_experimental_feature_warning": False,
    "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf,
    "NAN": np.nan, "NaN": np.nan, "NZERO": -0.0, "PZERO": 0.0,
    "float_": np.float64, "complex_": np.complex128, "cfloat": np.complex128, "singlecomplex": np.complex64,
    "AxisError": np.exceptions.AxisError,
    "ComplexWarning": np.exceptions.ComplexWarning,
    "ModuleDeprecationWarning": np.exceptions.ModuleDeprecationWarning,
    "RankWarning": np.exceptions.RankWarning,
    "TooHardError": np.exceptions.TooHardError,
    "VisibleDeprecationWarning": np.exceptions.VisibleDeprecationWarning,
}  # fmt: skip
"""NumPy's constants, types and exceptions under the names that CuPy keeps."""

_RENAMED = {"ufunc": "Ufunc", "fromDlpack": "from_dlpack"}
"""Names of CuPy whose object has another name in `PyGPU`."""

_NUMPYS_OF_OTHER_VERSIONS = {"cumulative_prod", "cumulative_sum", "matvec", "row_stack", "unstack", "vecmat"}
"""NumPy's names that some of the supported versions of NumPy lack; `PyGPU` has them with every version."""


def _numpys_names() -> set[str]:
    """Return NumPy's names, and those names of other NumPy versions that `PyGPU` also has."""
    return {*dir(np), *_NUMPYS_OF_OTHER_VERSIONS}


def _homes(package: str) -> dict[str, str]:
    return {name: module for module, names in _OWN[package].items() for name in names}


def has_own_parameters(package: str, name: str) -> bool:
    """Return whether a name of CuPy has its own implementation in `PyGPU._cupy`."""
    return name in _homes(package)


def _is_numpys(name: str) -> bool:
    """Return whether both NumPy and `PyGPU` have an object of this name; `cupy` then shares PyGPU's object."""
    return name in _numpys_names() and (name in index.HOME or hasattr(_package(), name))


def _package() -> Any:
    return importlib.import_module("PyGPU")


def find(package: str, name: str) -> Any:
    """Import and return an object of `PyGPU.cupy` or `PyGPU.cupyx` at its first use.

    Raises
    ------
    AttributeError
        If the name does not exist. If CuPy has the name, the message recommends a replacement.
    """
    if name in _MODULES[package]:
        return importlib.import_module(f"{package}.{name}")
    if home := _homes(package).get(name):
        return readable(getattr(importlib.import_module(home), name))
    if package == "PyGPU.cupy" and not name.startswith("_"):
        if name in _VALUES:
            return _VALUES[name]
        if name in _RENAMED:
            return getattr(_package(), _RENAMED[name])
        text = missing_text(package, name)
        if text is None and _is_numpys(name):
            return getattr(_package(), name)
    raise no_attribute(package, name)


def no_attribute(package: str, name: str) -> Exception:
    """Return the exception for a name that a module lacks; for a name of CuPy, the message recommends a replacement."""
    shown_package, module = package.removeprefix("PyGPU."), sys.modules[package]
    text = missing_text(package, name)
    hint = f"; {text}" if text else ""
    if hint and _is_from_import():
        # In `from cupy import name` Python replaces an AttributeError by an ImportError, and drops the message that
        # recommends a replacement.
        return ImportError(f"cannot import name {name!r} from {shown_package!r}{hint}", name=shown_package)
    return AttributeError(f"module {shown_package!r} has no attribute {name!r}{hint}", name=name, obj=module)


def _is_from_import() -> bool:
    """Return whether a statement ``from module import name`` called the `__getattr__` of a module in the call stack."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "__getattr__":
        frame = frame.f_back
    caller = frame and frame.f_back
    return caller is not None and caller.f_code.co_code[caller.f_lasti] == opmap["IMPORT_FROM"]


def shown(package: str) -> list[str]:
    """List the public names of `PyGPU.cupy` or `PyGPU.cupyx`."""
    names = {*_homes(package), *_MODULES[package]}
    if package == "PyGPU.cupy":
        native = importlib.import_module("PyGPU._core").__all__
        numpys = {name for name in _numpys_names() & {*native, *index.HOME} if not name.startswith("_")}
        values = {"__version__", *_VALUES, *_RENAMED}
        names |= {name for name in numpys if missing_text(package, name) is None} | values
    return sorted(names)
