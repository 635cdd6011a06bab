"""The function `as_pycuda`, by which programs that import `pycuda` use PyGPU instead."""

from __future__ import annotations

from types import ModuleType

from PyGPU._names.public import public
from PyGPU._protocols.package_alias import foreign_modules, install_alias

__all__ = ["as_pycuda"]


@public("Modules")
def as_pycuda(*, replace: bool = False) -> ModuleType:
    """Make later ``import pycuda`` in this process import PyGPU's modules.

    Parameters
    ----------
    replace : bool, optional
        Whether to replace PyCUDA if it is already imported. Existing references to PyCUDA's modules remain.

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
    ``conftest.py``; or start the program by ``python -m PyGPU run --as-pycuda program.py``. A module such as
    ``pycuda.driver`` is loaded at its import, and is the same object as ``PyGPU.driver``. Repeated calls have no
    effect.

    Examples
    --------
    >>> import PyGPU
    >>> pycuda = PyGPU.as_pycuda()
    >>> import pycuda.driver as cuda
    >>> cuda is PyGPU.driver
    True
    """
    foreign = foreign_modules("pycuda")
    if foreign and not replace:
        raise RuntimeError(
            f"{', '.join(foreign[:3])} was imported before, and is not PyGPU: call PyGPU.as_pycuda() before anything "
            "imports pycuda, or as_pycuda(replace=True) to put PyGPU in its place"
        )
    return install_alias("pycuda", "PyGPU")
