"""The function `when_imported`, which runs a function as soon as a module has been imported."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import importlib.machinery
    from collections.abc import Callable, Sequence
    from types import ModuleType

__all__: list[str] = []


class _Waiting:
    """Import finder that makes the import of one module run a function after the module's own code.

    The class does not derive from a base class in `importlib.abc`, because the import of that module takes 10 ms.
    """

    def __init__(self, name: str, action: Callable[[], object]) -> None:
        self.name, self.action = name, action

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the module's spec, which the other finders return, after replacing its loader by a wrapper."""
        if fullname != self.name:
            return None
        other_finders = (finder for finder in sys.meta_path if not isinstance(finder, _Waiting))
        specs = (finder.find_spec(fullname, path, target) for finder in other_finders)
        spec = next((spec for spec in specs if spec is not None), None)
        if spec is not None and spec.loader is not None:
            self._act_behind(spec.loader)
        return spec

    def _act_behind(self, loader: Any) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            if module.__name__ == self.name and self in sys.meta_path:
                sys.meta_path.remove(self)
                _act(self.action, self.name)

        loader.exec_module = exec_module


def when_imported(name: str, action: Callable[[], object]) -> _Waiting:
    """Run a function after the import of a module, or now if the module is already imported.

    Return the import finder that runs the function. The finder is installed only if the module is not imported yet.
    """
    finder = _Waiting(name, action)
    if name in sys.modules:
        _act(action, name)
    else:
        sys.meta_path.insert(0, finder)
    return finder


def _act(action: Callable[[], object], name: str) -> None:
    try:
        action()
    except Exception as error:  # an error of PyGPU must not make the import of another library fail
        import warnings

        warnings.warn(f"PyGPU could not register with {name}: {error!r}", RuntimeWarning, stacklevel=2)
