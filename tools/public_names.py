"""Print all import paths of the public names in an installed PyGPU, each with the kind of the object.

``tests/packaging/public_names_0.1.0.txt`` is the output for release 0.1.0; no name in that file may be removed:

    PYTHONPATH=<folder of the wheel> python tools/public_names.py > tests/packaging/public_names_0.1.0.txt

Each line has the module or class, the name, and the kind of the object. The kind of a function includes its parameters;
the kind of an enumeration's member includes its value.
"""

from __future__ import annotations

import enum
import importlib
import inspect
from collections.abc import Iterator
from types import ModuleType
from typing import Any

MODULES = [
    "PyGPU", "PyGPU.allocators", "PyGPU.autoinit", "PyGPU.autoprimaryctx", "PyGPU.backend", "PyGPU.characterize",
    "PyGPU.compiler", "PyGPU.device_array", "PyGPU.driver", "PyGPU.elementwise", "PyGPU.gpuarray", "PyGPU.nvml",
    "PyGPU.reduction", "PyGPU.runtime", "PyGPU.scan", "PyGPU.tools", "PyGPU.typing",
]  # fmt: skip
# Names that `dir` and `__all__` omit, because reading such an attribute opens a driver or depends on a setting.
UNLISTED = {
    "PyGPU": ["use_hip"],
    "PyGPU.backend": ["use_hip"],
    "PyGPU.runtime": ["use_hip"],
    "PyGPU.driver": ["CUDA_DEBUGGING"],
}
SPECIAL = {
    "__bool__",
    "__call__",
    "__enter__",
    "__exit__",
    "__getitem__",
    "__index__",
    "__int__",
    "__len__",
    "__setitem__",
}


def kind(value: Any) -> str:
    """Return the kind of a value, with the properties on which programs may rely."""
    if isinstance(value, ModuleType):
        return "module"
    if isinstance(value, enum.EnumType):
        return "enumeration"
    if isinstance(value, type):
        return "exception" if issubclass(value, BaseException) else "class"
    if isinstance(value, enum.Enum):
        return f"member {value.value}"
    if isinstance(value, property) or inspect.isdatadescriptor(value):
        return "attribute"
    if callable(value):
        return f"function({', '.join(parameters(value))})"
    return type(value).__name__


def parameters(function: Any) -> list[str]:
    """Return the parameter names of a function, with stars for variable ones; no names if the signature is unknown."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return []
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [
        stars.get(one.kind, "") + one.name for one in signature.parameters.values() if one.name not in ("self", "cls")
    ]


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a module: the listed names, and the names of `UNLISTED`."""
    listed = getattr(module, "__all__", None)
    names = [name for name in dir(module) if not name.startswith("_")] if listed is None else list(listed)
    return sorted({*names, *UNLISTED.get(module.__name__, [])})


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """Yield the public members of a class and the special methods in `SPECIAL`, including inherited ones."""
    if isinstance(owner, enum.EnumType):
        yield from owner.__members__.items()
        return
    common = dir(BaseException if issubclass(owner, BaseException) else object)
    for name in sorted(set(dir(owner)) - set(common)):
        if not name.startswith("_") or name in SPECIAL:
            yield name, inspect.getattr_static(owner, name)


def described() -> Iterator[str]:
    """Yield the lines of the output; the members of a class follow the first name of the class."""
    met: set[tuple[int, str]] = set()
    for path in MODULES:
        module = importlib.import_module(path)
        for name in names_of(module):
            value = getattr(module, name)
            yield f"{path} {name} {kind(value)}"
            of_another_dtype = (
                "_" in name and name.rpartition("_")[2] in importlib.import_module("PyGPU").SUPPORTED_DTYPES
            )
            if (
                isinstance(value, type)
                and (id(value), name) not in met
                and not (of_another_dtype and "float32" not in name)
            ):
                met.add((id(value), name))
                for member, attribute in members(value):
                    attribute = attribute.__func__ if isinstance(attribute, staticmethod | classmethod) else attribute
                    yield f"{path}.{name} {member} {kind(attribute)}"


if __name__ == "__main__":
    for line in described():
        print(line)
