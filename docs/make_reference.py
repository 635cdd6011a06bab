"""Write docs/reference.md, which describes every public name of PyGPU in one line from its docstring.

Run as ``python docs/make_reference.py`` where PyGPU is installed; ``tests/repository/test_docs.py`` checks that
the page matches this script's output.
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
import PyGPU.lib.stride_tricks
from PyGPU._names import index
from PyGPU._protocols.tiers import tier_of

PAGE = Path(__file__).parent / "reference.md"

HEAD = """\
# Reference

*For users who look up a name.*

This page describes every public name of the module `PyGPU` in one line, taken from its docstring by
`python docs/make_reference.py`. `help(PyGPU.empty)` shows the complete docstring with parameters, errors and examples.
The site that `make docs` builds also describes the other modules, such as `driver`, `compiler`, `tools` and `cumath`.

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

# Modules whose names are listed under separate headings.
MODULES = (PyGPU.emath, PyGPU.fft, PyGPU.lib.stride_tricks, PyGPU.linalg, PyGPU.special, PyGPU.testing)

# Families of PybindGPU's classes: each has one class for each of ten dtypes.
FAMILIES = ("DeviceArray", "HostAllocator", "DeviceAllocator", "PagelockedAllocator", "ptr_wrapper", "pointer_wrapper")
FAMILY_GROUP = "PybindGPU's classes per dtype"

# Classes whose methods and attributes the page lists.
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
    return re.sub(r":\w+:`~?([^`]*)`", r"`\1`", line.replace("``", "`"))


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
    """Return the public attributes that a class itself defines, by name."""
    for name in sorted(vars(owner), key=str.lower):
        if not name.startswith("_"):
            yield name, getattr(owner, name)


def entry(name: str, owner: ModuleType = PyGPU) -> Iterator[str]:
    """Return the lines of the page for one public name."""
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
    elif value is getattr(np, name, None) and name in index.GROUPS["NumPy's own"]:
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
    for module in MODULES:
        parts.append(f"\n## `{module.__name__}`\n\n")
        parts += [f"{line}\n" for name in module.__all__ for line in entry(name, module)]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
