"""Import finder by which the name of another package, such as `pycuda` or `cupy`, imports modules of PyGPU."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

__all__ = ["PackageAlias", "foreign_modules", "install_alias", "installed_elsewhere", "remove_alias"]

Refusal: TypeAlias = Callable[[str], str | None]


class PackageAlias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import finder that makes ``import name.x`` import the module ``target.x`` of PyGPU.

    Parameters
    ----------
    name : str
        Name of the other package.
    target : str
        Name of the package of PyGPU whose modules are found.
    refusal : function, optional
        Function that returns the ImportError's message for a module name that PyGPU lacks, or None for no own message.
    """

    def __init__(self, name: str, target: str, refusal: Refusal | None = None) -> None:
        self.name, self.target, self.refusal = name, target, refusal
        self._specs: dict[str, importlib.machinery.ModuleSpec | None] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return a module spec if PyGPU has a module for a name in the other package; otherwise None.

        Raises
        ------
        ModuleNotFoundError
            If an import statement requests a module for which `refusal` has a message. `importlib.util.find_spec`
            returns None for such a module.
        """
        if fullname != self.name and not fullname.startswith(f"{self.name}."):
            return None
        if importlib.util.find_spec(self.own_name(fullname)) is None:
            # `importlib.util.find_spec` and import statements call this method through the same function.
            is_import = sys._getframe(2).f_code.co_name == "_find_and_load_unlocked"
            if is_import and self.refusal is not None and (text := self.refusal(fullname)) is not None:
                raise ModuleNotFoundError(f"{fullname} is not there: {text}", name=fullname)
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=self.own_name(fullname))

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return PyGPU's existing module instead of a new module."""
        module = importlib.import_module(self.own_name(spec.name))
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Restore the spec of PyGPU's module, which the import system has replaced; do not execute the module again."""
        spec = module.__spec__
        if spec is not None:
            module.__spec__ = self._specs.pop(spec.name, spec)

    def own_name(self, name: str) -> str:
        """Return the name of PyGPU's module for a name in the other package."""
        return f"{self.target}{name.removeprefix(self.name)}"


def _is_pygpu(module: ModuleType) -> bool:
    # PyGPU's modules are recognised by their file, because a copy of a module may be loaded under the other package's
    # name.
    return Path(getattr(module, "__file__", None) or "").is_relative_to(Path(__file__).parents[1])


def _loaded(name: str) -> dict[str, ModuleType]:
    return {key: module for key, module in sys.modules.items() if key.partition(".")[0] == name}


def _aliases(name: str) -> Iterator[PackageAlias]:
    return (finder for finder in sys.meta_path if isinstance(finder, PackageAlias) and finder.name == name)


def foreign_modules(name: str) -> list[str]:
    """Return the names of a package's loaded modules that do not belong to PyGPU."""
    return sorted(key for key, module in _loaded(name).items() if not _is_pygpu(module))


def installed_elsewhere(name: str) -> str | None:
    """Return the path of the installed package `name`, not of PyGPU's alias; None if it is not installed."""
    for finder in sys.meta_path:
        find_spec = None if isinstance(finder, PackageAlias) else getattr(finder, "find_spec", None)
        spec = find_spec(name, None) if find_spec is not None else None
        if spec is not None and spec.origin is not None:  # `origin` is None for a folder without `__init__.py`.
            return str(spec.origin)
    return None


def install_alias(name: str, target: str, refusal: Refusal | None = None) -> ModuleType:
    """Make later imports of a package's name import a package of PyGPU; return that package."""
    package = importlib.import_module(target)
    if any(_aliases(name)) and sys.modules.get(name) is package:
        return package
    for key in _loaded(name):
        del sys.modules[key]
    sys.modules[name] = package
    if not any(_aliases(name)):
        sys.meta_path.insert(0, PackageAlias(name, target, refusal))
    return package


def remove_alias(name: str) -> None:
    """Make later imports of a package's name import the installed package again.

    References to PyGPU's modules remain valid.
    """
    for finder in list(_aliases(name)):
        sys.meta_path.remove(finder)
        for key in _loaded(name):
            del sys.modules[key]
