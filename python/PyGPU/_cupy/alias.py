"""The function `as_cupy`, by which programs that import `cupy` and `cupyx` use PyGPU instead."""

from __future__ import annotations

from types import ModuleType

from PyGPU._cupy.missing_names import missing_module
from PyGPU._names.public import public
from PyGPU._protocols.package_alias import foreign_modules, install_alias, installed_elsewhere, remove_alias

__all__ = ["as_cupy"]

_PACKAGES = {"cupyx": "PyGPU.cupyx", "cupy": "PyGPU.cupy"}


@public("Modules")
def as_cupy(force: bool = False, *, undo: bool = False) -> ModuleType | None:
    """Make later ``import cupy`` and ``import cupyx`` in this process import PyGPU's modules.

    Parameters
    ----------
    force : bool, optional
        Whether to hide an installed CuPy from later imports. A CuPy that is already imported is never replaced.
    undo : bool, optional
        Whether to undo an earlier call instead: ``import cupy`` then finds the installed CuPy, or fails without one.
        References to PyGPU's modules remain valid.

    Returns
    -------
    module
        `PyGPU.cupy`, or None for `undo`.

    Raises
    ------
    RuntimeError
        If CuPy is already imported, or if CuPy is installed and `force` is false.

    Notes
    -----
    ``python -m PyGPU run --as-cupy program.py`` calls this function before the program. In a program or a
    ``conftest.py``, the call precedes any import of `cupy`. A module such as ``cupy.cuda`` is loaded at its import, and
    is the same object as ``PyGPU.cupy.cuda``. Repeated calls have no effect.

    Examples
    --------
    >>> import PyGPU
    >>> cupy = PyGPU.as_cupy(force=True)
    >>> import cupy.linalg
    >>> cupy.ndarray is PyGPU.GPUArray
    True
    >>> PyGPU.as_cupy(undo=True)
    """
    if undo:
        for name in _PACKAGES:
            remove_alias(name)
        return None
    foreign = [module for name in _PACKAGES for module in foreign_modules(name)]
    if foreign:
        raise RuntimeError(
            f"as_cupy: {', '.join(foreign[:3])} was imported before, and is not PyGPU, so arrays of both would mix: "
            "call PyGPU.as_cupy() before anything imports cupy, or start the program by "
            "`python -m PyGPU run --as-cupy program.py`"
        )
    if not force and (file := installed_elsewhere("cupy")) is not None:
        raise RuntimeError(
            f"as_cupy: CuPy is installed ({file}), and would be hidden: write PyGPU.as_cupy(force=True), or "
            "`python -m PyGPU run --as-cupy --force program.py`, to use PyGPU in its place in this process"
        )
    for name, target in _PACKAGES.items():
        package = install_alias(name, target, missing_module)
    return package
