"""PyGPU as a replacement of PyCUDA, for programs and libraries that import `pycuda`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from PyGPU._names.public import public

__all__ = ["as_pycuda"]

_NAME = "pycuda"


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import finder that returns the module ``PyGPU.x`` itself for ``import pycuda.x``."""

    def __init__(self) -> None:
        self._specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not fullname.startswith(f"{_NAME}."):
            return None
        if importlib.util.find_spec(_pygpu_name(fullname)) is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=_pygpu_name(fullname))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_pygpu_name(spec.name))
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module has been executed already, but the import system has replaced its spec. The original spec is
        # restored.
        spec = module.__spec__
        if spec is not None:
            module.__spec__ = self._specs.pop(spec.name, spec)


def _pygpu_name(name: str) -> str:
    return f"PyGPU{name.removeprefix(_NAME)}"


def _is_pygpu(module: ModuleType) -> bool:
    # A module of PyGPU is recognised by its file, because a second copy of the module may have PyCUDA's name.
    return Path(getattr(module, "__file__", None) or "").is_relative_to(Path(__file__).parents[1])


@public("Modules")
def as_pycuda(*, replace: bool = False) -> ModuleType:
    """Make ``import pycuda`` find PyGPU, in this process from now on.

    Parameters
    ----------
    replace : bool, optional
        Whether to replace PyCUDA if it is already imported. Existing references to its modules remain.

    Returns
    -------
    module
        The module PyGPU.

    Raises
    ------
    RuntimeError
        If PyCUDA is already imported and `replace` is false.

    Notes
    -----
    Call this function before any import of `pycuda`: at the beginning of a program, or in a test suite's
    ``conftest.py``.
    Modules are loaded when they are imported; ``pycuda.driver`` and ``PyGPU.driver`` are one module. Repeated calls
    have no effect.

    Examples
    --------
    >>> import PyGPU
    >>> pycuda = PyGPU.as_pycuda()
    >>> import pycuda.driver as cuda
    >>> cuda is PyGPU.driver
    True
    """
    package = importlib.import_module("PyGPU")
    loaded = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == _NAME}
    foreign = sorted(name for name, module in loaded.items() if not _is_pygpu(module))
    if foreign and not replace:
        raise RuntimeError(
            f"{', '.join(foreign[:3])} was imported before, and is not PyGPU: call PyGPU.as_pycuda() before anything "
            "imports pycuda, or as_pycuda(replace=True) to put PyGPU in its place"
        )
    for name in loaded:
        del sys.modules[name]
    sys.modules[_NAME] = package
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Alias())
    return package
