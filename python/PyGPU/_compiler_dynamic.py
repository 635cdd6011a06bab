"""PyCUDA's `DynamicModule` and `DynamicSourceModule`, which PyGPU has not: what they raise says what to use."""

from __future__ import annotations

from typing import Any

from PyGPU._core import NotSupportedError

__all__ = ["DynamicModule", "DynamicSourceModule"]

ADVICE = (
    "{}: PyGPU does not link device code. Put the parts into one source for SourceModule, with #include where they are "
    "files; for kernels that launch kernels, link by hand (nvcc -rdc=true -cubin -dlink -arch=sm_XX a.cu b.cu "
    "-lcudadevrt -o all.cubin) and load the result with PyGPU.driver.module_from_file"
)


class DynamicModule:
    """Refused: PyGPU does not link device code.

    Parameters
    ----------
    *args, **kwargs
        Those of PyCUDA's class.

    Raises
    ------
    NotSupportedError
        Always; it says what to use.

    Examples
    --------
    >>> from PyGPU.compiler import DynamicModule
    >>> DynamicModule()
    Traceback (most recent call last):
    PyGPU.NotSupportedError: DynamicModule: PyGPU does not link device code. ...
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotSupportedError(ADVICE.format(type(self).__name__))


class DynamicSourceModule(DynamicModule):
    """Refused: PyGPU does not link device code.

    Parameters
    ----------
    *args, **kwargs
        Those of PyCUDA's class.

    Raises
    ------
    NotSupportedError
        Always; it says what to use.

    Examples
    --------
    >>> from PyGPU.compiler import DynamicSourceModule
    >>> DynamicSourceModule("")
    Traceback (most recent call last):
    PyGPU.NotSupportedError: DynamicSourceModule: PyGPU does not link device code. ...
    """
