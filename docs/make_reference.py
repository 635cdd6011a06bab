"""Writes docs/reference.md: every public name of PyGPU in one line, from its docstring.

Run as ``python docs/make_reference.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` holds the page
against it.
"""

import builtins
import enum
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import PyGPU
from PyGPU._protocols import numpys_own

PAGE = Path(__file__).parent / "reference.md"

HEAD = """\
# Reference

Every public name of `PyGPU` itself in one line. `help(PyGPU.empty)` shows parameters, units, errors and an example; the
text of this page comes from there (`python docs/make_reference.py`). The site that `make docs` builds has all of that,
and the other modules: `driver`, `compiler`, `tools`, `cumath` and so on.
"""

# Where a name stands. A name that is in no group fails the script: say where it belongs.
GROUPS: dict[str, list[str]] = {
    "Making arrays": [
        "GPUArray", "empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like", "arange",
        "linspace", "logspace", "geomspace", "astype", "copyto", "to_gpu", "to_gpu_async", "array", "asarray",
        "asanyarray", "asarray_chkfinite", "ascontiguousarray", "asfortranarray", "require", "asnumpy", "from_dlpack",
        "from_pointer", "frombuffer", "fromiter", "fromstring", "fromfunction", "bartlett", "blackman", "hamming",
        "hanning", "kaiser", "ndarray", "open_shared", "SharedHandle",
    ],
    "Files": ["fromfile", "load", "loadtxt", "genfromtxt", "save", "savetxt", "savez", "savez_compressed"],
    "Functions of each element": ["Ufunc", "where", "clip", "round", "around", "angle", "nan_to_num"],
    "Reductions": [
        "Reduction", "sum", "prod", "min", "max", "amin", "amax", "any", "all", "mean", "var", "std", "argmin",
        "argmax", "count_nonzero", "ptp", "average", "norm", "nansum", "nanprod", "nanmin", "nanmax", "nanmean",
        "nanvar", "nanstd", "nanargmin", "nanargmax",
    ],
    "Order": [
        "sort", "argsort", "lexsort", "partition", "argpartition", "topk", "searchsorted", "digitize", "bincount",
        "histogram", "histogram_bin_edges", "median", "percentile", "quantile", "nanmedian", "nanpercentile",
        "nanquantile",
    ],
    "Sets": [
        "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values", "isin", "union1d", "intersect1d",
        "setdiff1d", "setxor1d",
    ],
    "Other shapes": [
        "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes", "matrix_transpose",
        "ndim", "permute_dims", "ravel", "reshape", "rollaxis", "shape", "size", "squeeze", "swapaxes", "transpose",
    ],
    "Joining and splitting": [
        "append", "block", "column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack",
        "array_split", "dsplit", "hsplit", "split", "unstack", "vsplit",
    ],
    "Moving and repeating elements": [
        "diff", "ediff1d", "copy", "fliplr", "flipud", "resize", "roll", "rot90", "tile", "pad", "delete", "insert",
        "trim_zeros", "fill_diagonal", "packbits", "unpackbits", "fix", "real_if_close", "sort_complex",
    ],
    "Slopes, areas, filters, polynomials": [
        "gradient", "trapezoid", "interp", "unwrap", "convolve", "correlate", "polyval", "polyadd", "polysub",
        "polymul", "polyder", "polyint", "vander",
    ],
    "Functions called for parts": ["apply_along_axis", "apply_over_axes", "piecewise"],
    "Matrices and grids": [
        "indices", "meshgrid", "ravel_multi_index", "unravel_index", "diag", "diagflat", "diagonal", "eye", "identity",
        "trace", "tri", "tril", "triu", "mgrid", "ogrid", "r_", "c_", "ix_", "diag_indices", "diag_indices_from",
        "tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from", "mask_indices",
    ],
    "Types and constants": [
        "float16", "float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8",
        "uint16", "uint32", "uint64", "bool", "e", "pi", "inf", "nan", "newaxis", "finfo", "iinfo", "isdtype",
        "common_type", "min_scalar_type",
    ],
    "Comparing arrays": [
        "allclose", "array_equal", "array_equiv", "can_cast", "isclose", "iscomplex", "iscomplexobj", "isneginf",
        "isposinf", "isreal", "isrealobj", "result_type", "isfortran", "may_share_memory", "shares_memory",
    ],
    "Products": [
        "matmul", "matvec", "vecmat", "vecdot", "dot", "inner", "outer", "kron", "tensordot", "vdot", "einsum",
        "einsum_path", "cross", "cov", "corrcoef",
    ],
    "Scans": ["cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nancumsum", "nancumprod"],
    "Selection": [
        "take", "put", "nonzero", "argwhere", "flatnonzero", "compress", "extract", "place", "putmask", "choose",
        "select", "repeat", "take_along_axis", "put_along_axis",
    ],
    "Views": ["broadcast_to", "expand_dims", "flip", "moveaxis"],
    "Pinned host memory": ["empty_pinned", "zeros_pinned", "empty_like_pinned"],
    "Devices": [
        "Device", "device_count", "current_device", "set_device", "set_default_device", "synchronize",
        "device_properties", "can_access_peer", "enable_peer_access", "reset_device",
    ],
    "Streams and events": ["Stream", "current_stream", "default_stream", "Event"],
    "Kernels": [
        "Kernel", "Module", "LaunchConfig", "In", "Out", "InOut", "Struct", "pointers", "TensorMap", "Graph",
        "GraphNode", "GraphCondition", "GraphBody", "TextureArray", "Texture", "Surface",
    ],
    "Memory": [
        "memory_info", "memory_statistics", "memory_release_threshold", "set_memory_release_threshold", "trim_memory",
        "memory_limit", "set_memory_limit", "pinned_limit", "set_pinned_limit", "host_cache_limit",
        "set_host_cache_limit", "get_allocator", "set_allocator", "using_allocator",
    ],
    "When it is computed": ["fusion", "flush", "fusion_report"],
    "What was found": ["show_config", "config", "backend_name", "driver_version"],
    "Exceptions": [
        "CudaError", "OutOfMemoryError", "CompileError", "NotSupportedError", "BackendUnavailableError", "ForkError",
        "HostFunctionError",
    ],
    "Bindings": ["as_argtype", "get_include"],
    "Modules": ["gpuarray", "backend", "elementwise", "reduction", "scan", "profile", "as_pycuda", "get_array_module"],
    "NumPy's own": list(numpys_own.__all__),
    "PybindGPU's classes and constants": [
        "Allocator", "dtype", "SUPPORTED_DTYPES", "cuda_enabled", "major_version", "minor_version", "release_version",
    ],
}  # fmt: skip

# Names that are many of one kind stand in their groups by how they begin.
PREFIXES = {
    "cudaDevice": "`cuda*`: devices", "cudaGetDevice": "`cuda*`: devices", "cudaSetDevice": "`cuda*`: devices",
    "cudaDriver": "`cuda*`: devices", "cudaCpuDeviceId": "`cuda*`: devices", "cudaInvalidDeviceId": "`cuda*`: devices",
    "cudaMem": "`cuda*`: memory", "cudaMalloc": "`cuda*`: memory", "cudaFree": "`cuda*`: memory",
    "cudaHost": "`cuda*`: memory", "cudaIpc": "`cuda*`: memory", "cudaPointer": "`cuda*`: memory",
    "cudaIpcEvent": "`cuda*`: streams and events", "cudaIpcGetEvent": "`cuda*`: streams and events",
    "cudaIpcOpenEvent": "`cuda*`: streams and events", "cudaLaunchHostFunc": "`cuda*`: streams and events",
    "cudaFunc": "`cuda*`: kernels",
    "cudaStream": "`cuda*`: streams and events", "cudaEvent": "`cuda*`: streams and events",
    "cudaError": "`cuda*`: statuses", "cudaGet": "`cuda*`: statuses", "cudaPeek": "`cuda*`: statuses",
    "nvml": "`nvml*`",
}  # fmt: skip

# Modules whose names stand under headings of their own.
MODULES = (PyGPU.fft, PyGPU.linalg)

# PybindGPU's families: one class for each of ten dtypes.
FAMILIES = ("DeviceArray", "HostAllocator", "DeviceAllocator", "PagelockedAllocator", "ptr_wrapper", "pointer_wrapper")
FAMILY_GROUP = "PybindGPU's classes per dtype"

# Classes whose members are listed below them.
WITH_MEMBERS = (
    "GPUArray", "Device", "Stream", "Event", "Kernel", "Module", "LaunchConfig", "Struct", "TensorMap",
    "TextureArray", "Texture", "Surface",
)  # fmt: skip


def public_names() -> list[str]:
    """Every public name of `PyGPU`: those that a star brings, and those that Python has too, such as ``sum``."""
    return sorted({*PyGPU.__all__, *(name for name in dir(PyGPU) if hasattr(builtins, name))})


def summary(documented: Any) -> str:
    """The first paragraph of a docstring, as one line."""
    text = inspect.getdoc(documented) or ""
    line = " ".join(text.split("\n\n", 1)[0].split())
    # Markup of Sphinx means nothing on this page.
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", line.replace("``", "`"))


def call(name: str, documented: Any) -> str:
    """A name with its parameters, if it has any that can be known."""
    if isinstance(documented, type) and issubclass(documented, enum.Enum):
        return name  # Python's versions spell an enumeration's parameters differently
    try:
        signature = inspect.signature(documented)
    except (TypeError, ValueError):
        return name
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name not in ("self", "cls")]
    # Annotations belong to the stubs, and defaults that print as an address to nobody.
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def family(name: str) -> str | None:
    """The family of a name such as ``DeviceArray_float32``."""
    head, _, label = name.rpartition("_")
    return head if head in FAMILIES and label in PyGPU.SUPPORTED_DTYPES else None


def group_of(name: str) -> str:
    """The heading under which a public name stands."""
    if family(name) is not None:
        return FAMILY_GROUP
    if isinstance(getattr(PyGPU, name, None), PyGPU.Ufunc):
        return "Functions of each element"
    for title, names in GROUPS.items():
        if name in names:
            return title
    # The longest beginning decides: cudaGetDevice is of the devices, cudaGetLastError of the statuses.
    fitting = [prefix for prefix in PREFIXES if name.startswith(prefix)]
    if not fitting:
        raise LookupError(f"docs/make_reference.py: say in GROUPS where {name} belongs")
    return PREFIXES[max(fitting, key=len)]


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Public attributes that a class defines itself, by name."""
    for name in sorted(vars(owner), key=str.lower):
        if not name.startswith("_"):
            yield name, getattr(owner, name)


def entry(name: str, owner: ModuleType = PyGPU) -> Iterator[str]:
    """The lines of one name."""
    value = getattr(owner, name)
    if isinstance(value, ModuleType):
        yield f"- `PyGPU.{name}`: {summary(value)}"
    elif isinstance(value, type) and issubclass(value, BaseException):
        yield f"- `{name}`: {summary(value)}"
    elif isinstance(value, type) and issubclass(value, np.generic):
        yield f"- `{name}`: NumPy's type of that name."
    elif isinstance(value, PyGPU.Ufunc):
        operands = ", ".join(f"x{place + 1}" for place in range(value.nin))
        meaning = summary(value) if value.__name__ == name else f"`{value.__name__}`"
        yield f"- `{name}({operands})`: {meaning}"
    elif value is getattr(np, name, None) and name in numpys_own.__all__:
        yield f"- `{name}`: NumPy's."
    elif type(value).__module__.startswith("PyGPU._functions"):
        yield f"- `{name}[...]`: {summary(value)}"
    elif callable(value):
        yield f"- `{call(name, value)}`: {summary(value)}"
    else:
        yield f"- `{name}`" if name.endswith("_version") else f"- `{name} = {value!r}`"
    if name in WITH_MEMBERS:
        for member, documented in members(value):
            shown = call(member, documented) if callable(documented) else member
            yield f"  - `.{shown}`: {summary(documented)}"


def family_entry(name: str) -> str:
    """One line for the classes of all dtypes, from that for float32."""
    value = getattr(PyGPU, f"{name}_float32")
    return f"- `{call(f'{name}_<dtype>', value)}`: {summary(value)}"


def reference() -> str:
    """The whole page."""
    by_group: dict[str, list[str]] = {title: [] for title in (*GROUPS, *PREFIXES.values(), FAMILY_GROUP)}
    for name in public_names():
        by_group[group_of(name)].append(name)
    parts = [HEAD]
    for title, names in by_group.items():
        parts.append(f"\n## {title}\n\n")
        if title == FAMILY_GROUP:
            labels = ", ".join(PyGPU.SUPPORTED_DTYPES)
            parts.append(f"`<dtype>` is one of {labels}.\n\n")
            parts += [f"{family_entry(name)}\n" for name in FAMILIES]
            continue
        order = GROUPS.get(title, names)
        for name in sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name)):
            parts += [f"{line}\n" for line in entry(name)]
    for module in MODULES:
        parts.append(f"\n## `{module.__name__}`\n\n")
        parts += [f"{line}\n" for name in module.__all__ for line in entry(name, module)]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
