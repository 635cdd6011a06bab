"""Write docs/reference.md, which describes every public name of PyGPU in one line from its docstring.

Run as ``python docs/make_reference.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that
the page matches this script's output.
"""

import builtins
import enum
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, UnionType
from typing import Any, Union, get_args, get_origin

import numpy as np
from generated_table import escaped

import PyGPU
from PyGPU import _core
from PyGPU._names import index
from PyGPU._protocols.tiers import tier_of

PAGE = Path(__file__).parent / "reference.md"

HEAD = """\
# Reference

*For users who look up a name.*

This page describes every public name of the module `PyGPU`, and then of its other modules, in one line, taken from its
docstring by `python docs/make_reference.py`. `help(PyGPU.empty)` shows the complete docstring with parameters, errors
and examples. [Port from CuPy](porting_from_cupy.md) lists the names of `PyGPU.cupy` and `PyGPU.cupyx`.

A name without a remark is stable. The remarks *compatibility* and *experimental* name [the other tiers](policies.md).
"""

# Public names without a declaration by `public`: modules, and the names of `PyGPU.backend`.
FURTHER = {
    "Modules": ("gpuarray", "backend", "elementwise", "reduction", "scan", "profile"),
    "PybindGPU's classes and constants": (
        "dtype", "cuda_enabled", "major_version", "minor_version", "release_version",
    ),
    "Exceptions": ("HostFunctionError",),
}  # fmt: skip

# Headings of the page for names that are declared by `public`, which names the group.
GROUPS = {title: (*names, *FURTHER.get(title, ())) for title, names in index.GROUPS.items()}

# Headings of the page for PybindGPU's names, by the beginning of the name.
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

# Modules whose names are listed under separate headings: NumPy's, PyGPU's own, PyCUDA's, and PybindGPU's.
MODULES = (
    "random", "linalg", "fft", "special", "emath", "lib", "lib.stride_tricks", "lib.scimath", "testing",
    "profile", "typing", "dask", "debug",
    "gpuarray", "driver", "compiler", "tools", "elementwise", "reduction", "scan", "cumath", "curandom",
    "characterize", "runtime", "nvml", "device_array", "allocators", "backend",
)  # fmt: skip

# Modules without a heading: an import creates a context, or raises an error that names a replacement. CuPy's packages
# have a separate page.
MODULES_ELSEWHERE = ("autoinit", "autoprimaryctx", "cupy", "cupyx", "gl", "sparse")

# Families of PybindGPU's classes: each has one class for each of ten dtypes.
FAMILIES = ("DeviceArray", "HostAllocator", "DeviceAllocator", "PagelockedAllocator", "ptr_wrapper", "pointer_wrapper")
FAMILY_GROUP = "PybindGPU's classes per dtype"

# Classes of the module `PyGPU` whose methods and attributes the page lists; of other modules, all classes.
WITH_MEMBERS = (
    "GPUArray", "Device", "Stream", "Event", "Kernel", "Module", "LaunchConfig", "Struct", "TensorMap",
    "TextureArray", "Texture", "Surface",
)  # fmt: skip


def public_names() -> list[str]:
    """Return every public name of `PyGPU`, including names of Python's built-in functions, such as ``sum``."""
    return sorted({*PyGPU.__all__, *(name for name in dir(PyGPU) if hasattr(builtins, name))})


def summary(documented: Any) -> str:
    """Return the first paragraph of a docstring as one line."""
    text = inspect.getdoc(documented) or ""
    line = " ".join(text.split("\n\n", 1)[0].split())
    # Removes Sphinx markup, which Markdown does not render.
    return escaped(re.sub(r":\w+:`~?([^`]*)`", r"`\1`", line.replace("``", "`")))


def call(name: str, documented: Any) -> str:
    """Return a public name with its parameters, if its signature is known."""
    if isinstance(documented, type) and issubclass(documented, enum.Enum):
        return name  # The reported parameters of an enumeration depend on Python's version.
    try:
        signature = inspect.signature(documented)
    except (TypeError, ValueError):
        return name
    parameters = [parameter for parameter in signature.parameters.values() if parameter.name not in ("self", "cls")]
    # Omits annotations, and default values whose text contains an address.
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return f"{name}{signature.replace(parameters=plain, return_annotation=inspect.Signature.empty)}"


def family(name: str) -> str | None:
    """Return the family (``DeviceArray``) of a name such as ``DeviceArray_float32``."""
    head, _, label = name.rpartition("_")
    return head if head in FAMILIES and label in PyGPU.SUPPORTED_DTYPES else None


def group_of(name: str) -> str:
    """Return the heading of a public name."""
    if family(name) is not None:
        return FAMILY_GROUP
    for title, names in GROUPS.items():
        if name in names:
            return title
    # The longest matching prefix determines the heading: `cudaGetDevice` has priority over `cudaGet`.
    fitting = [prefix for prefix in PREFIXES if name.startswith(prefix)]
    if not fitting:
        raise LookupError(f"docs/make_reference.py: {name} is in no group: is it declared, or in FURTHER or PREFIXES?")
    return PREFIXES[max(fitting, key=len)]


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Return the public attributes that a class or a private base class of it defines, by name."""
    bases = [base for base in owner.__mro__ if base is owner or base.__module__.startswith("PyGPU._")]
    for name in sorted({name for base in bases for name in vars(base)}, key=lambda name: (name.lower(), name)):
        if not name.startswith("_"):
            yield name, getattr(owner, name)


def has_members(name: str, owner: ModuleType) -> bool:
    """Return whether the page lists the methods and attributes of a public name: those of a class."""
    if owner is PyGPU:
        return name in WITH_MEMBERS
    value = getattr(owner, name)
    if not isinstance(value, type) or issubclass(value, (BaseException, enum.Enum, tuple)) or name == "vec":
        return False
    return not isinstance(getattr(value, "names", None), dict)  # An enumeration in the style of Boost has `names`.


def member_entry(name: str, documented: Any) -> str:
    """Return the line of the page for a method or an attribute of a class."""
    if callable(documented):
        return f"  - `.{call(name, documented)}`: {summary(documented)}"
    return f"  - `.{name}`: {summary(documented)}" if inspect.isdatadescriptor(documented) else f"  - `.{name}`"


def type_text(value: Any) -> str:
    """Return the text of a type for annotations, which is the same in every version of Python."""
    if get_origin(value) in (UnionType, Union):
        return " | ".join(type_text(each) for each in get_args(value))
    if isinstance(value, str):
        return value
    if isinstance(value, type) and get_origin(value) is None:
        return value.__name__.replace("NoneType", "None")
    return re.sub(r"\b(typing|collections\.abc)\.", "", repr(value))


def entry(name: str, owner: ModuleType = PyGPU) -> Iterator[str]:
    """Return the lines of the page for one public name."""
    value = getattr(owner, name)
    if isinstance(value, ModuleType):
        yield f"- `{owner.__name__}.{name}`: {summary(value)}"
    elif owner.__name__ == "PyGPU.typing":
        is_class = isinstance(value, type) and get_origin(value) is None
        yield f"- `{name}`: {summary(value)}" if is_class else f"- `{name} = {type_text(value)}`"
        return
    elif isinstance(value, type) and issubclass(value, np.generic):
        yield f"- `{name}`: NumPy's type of that name."
    elif owner is not PyGPU and str(getattr(value, "__module__", None)).startswith("numpy"):
        yield f"- `{name}`: NumPy's."
    elif isinstance(value, type) and issubclass(value, BaseException):
        yield f"- `{name}`: {summary(value)}"
    elif isinstance(value, PyGPU.Ufunc):
        yield f"- `{call(name, value)}`: {summary(value) if value.__name__ == name else f'`{value.__name__}`'}"
    elif name in index.GROUPS["NumPy's own"] and value is getattr(np, name, None):
        yield f"- `{name}`: NumPy's."
    elif type(value).__module__.startswith("PyGPU._functions"):
        yield f"- `{name}[...]`: {summary(value)}"
    elif callable(value):
        yield f"- `{call(name, value)}`: {summary(value)}"
    else:
        varies = name.endswith("_version") or isinstance(value, (list, dict))
        yield f"- `{name}`" if varies else f"- `{name} = {value!r}`"
    if has_members(name, owner):
        yield from (member_entry(member, documented) for member, documented in members(value))


def with_tier(line: str, tier: str) -> str:
    """Insert the tier of a name after the name in the first line of its entry."""
    head, mark, rest = line.partition("`: ")
    return f"{head}` (*{tier}*): {rest}" if mark else f"{line} (*{tier}*)"


def entry_with_tier(name: str, tier_of_group: str) -> Iterator[str]:
    """Return the lines of the page for one public name, and the name's tier if it differs from the group's tier."""
    first, *others = entry(name)
    yield first if tier_of(name) == tier_of_group else with_tier(first, tier_of(name))
    yield from others


def family_entry(name: str) -> str:
    """Return the line for a family of classes, which is derived from the line of the class for float32."""
    value = getattr(PyGPU, f"{name}_float32")
    return f"- `{call(f'{name}_<dtype>', value)}`: {summary(value)}"


def module_section(module: ModuleType, homes: dict[int, str]) -> str:
    """Return the section of the page for a module; `homes` has the names of objects that earlier sections describe."""
    lines: list[str] = []
    shared: dict[str, dict[str, None]] = {}
    for name in sorted(getattr(module, "__all__", ()), key=lambda name: (name.lower(), name)):
        value = getattr(module, name)
        has_identity = callable(value) or isinstance(value, ModuleType)  # Several names may share a number or a string.
        known = homes.get(id(value), "") if has_identity else ""
        if name in {*vars(PyGPU), *_core.__all__} and value is getattr(PyGPU, name):
            known = f"PyGPU.{name}"
        if known.rpartition(".")[2] == name:
            shown = f"{family(name)}_<dtype>" if family(name) else name
            shared.setdefault(known.rpartition(".")[0], {})[f"`{shown}`"] = None
        elif known:
            lines.append(f"- `{name}`: `{known}`")
        else:
            homes[id(value)] = f"{module.__name__}.{name}"
            lines += entry(name, module)
    paragraphs = [f"## `{module.__name__}`", summary(module), "\n".join(lines)]
    paragraphs += [f"As in `{home}`: {', '.join(names)}." for home, names in shared.items()]
    return "".join(f"\n{paragraph}\n" for paragraph in paragraphs if paragraph)


def reference() -> str:
    """Return the complete page."""
    by_group: dict[str, list[str]] = {title: [] for title in (*GROUPS, *PREFIXES.values(), FAMILY_GROUP)}
    for name in public_names():
        by_group[group_of(name)].append(name)
    parts = [HEAD]
    for title, names in by_group.items():
        parts.append(f"\n## {title}\n\n")
        tiers = {tier_of(name) for name in names}
        (tier,) = tiers if len(tiers) == 1 else ("stable",)
        if tier != "stable":
            parts.append(f"*{tier.capitalize()}*\n\n")
        if title == FAMILY_GROUP:
            labels = ", ".join(PyGPU.SUPPORTED_DTYPES)
            parts.append(f"`<dtype>` is one of {labels}.\n\n")
            parts += [f"{family_entry(name)}\n" for name in FAMILIES]
            continue
        order = GROUPS.get(title, names)
        for name in sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name)):
            parts += [f"{line}\n" for line in entry_with_tier(name, tier)]
    homes = {id(getattr(PyGPU, name)): f"PyGPU.{name}" for name in reversed(public_names())}
    parts += [module_section(importlib.import_module(f"PyGPU.{module}"), homes) for module in MODULES]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
