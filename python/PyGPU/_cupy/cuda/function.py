"""CuPy's class `Module`, which contains compiled kernels and variables."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from PyGPU import _core

if TYPE_CHECKING:
    from PyGPU._cupy.kernels.function import Function

__all__ = ["Module", "compile_with_cache"]


class Module:
    """Compiled module with kernels and variables, which `load` or `load_file` loads.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> image = PyGPU.Module('extern "C" __global__ void one(int *x) { *x = 1; }').image
    >>> module = cuda.Module()
    >>> module.load(image)
    >>> x = PyGPU.zeros(1, "i4")
    >>> module.get_function("one")((1,), (1,), (x,))
    >>> x.tolist()
    [1]
    """

    def __init__(self) -> None:
        self._module: _core.Module | None = None

    def load(self, cubin: bytes) -> None:
        """Load compiled code from memory.

        Parameters
        ----------
        cubin : bytes
            A cubin, PTX, or another image that the driver accepts.
        """
        self._module = _core.Module.from_bytes(cubin)

    def load_file(self, filename: str | bytes) -> None:
        """Load compiled code from a file.

        Parameters
        ----------
        filename : str or bytes
            Path of the file.
        """
        self._module = _core.Module.from_file(os.fsdecode(filename))

    def _loaded(self) -> _core.Module:
        if self._module is None:
            raise ValueError("the module contains no code: call load() or load_file() first")
        return self._module

    def get_function(self, name: str | bytes) -> Function:
        """Return a kernel of the module.

        Parameters
        ----------
        name : str or bytes
            Name of the kernel.

        Returns
        -------
        Function
        """
        from PyGPU._cupy.kernels.function import Function

        return Function(self._loaded().get_function(os.fsdecode(name)))

    def get_global_var(self, name: str | bytes) -> int:
        """Return the address of a variable of the module.

        Parameters
        ----------
        name : str or bytes
            Name of the variable.

        Returns
        -------
        int
        """
        return self._loaded().get_global(os.fsdecode(name))[0]


def compile_with_cache(
    source: str, options: Iterable[str] = (), arch: str | None = None, *args: object, **kwargs: object
) -> Module:
    """Compile a source in CUDA C++, or load its image from PyGPU's cache.

    Parameters
    ----------
    source : str
        The source.
    options : iterable of str, optional
        Compiler options in nvcc's syntax, also if PyGPU uses another compiler.
    arch : str, optional
        Accepted for compatibility with CuPy; it has no effect, because the code is compiled for the current device.
    *args, **kwargs
        Further arguments of CuPy, such as `cache_dir`, which have no effect, because PyGPU has one cache.

    Returns
    -------
    Module

    Raises
    ------
    CompileError
        If the source does not compile.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> module = cuda.compile_with_cache('extern "C" __global__ void one(int *x) { *x = 1; }')
    >>> x = PyGPU.zeros(1, "i4")
    >>> module.get_function("one")((1,), (1,), (x,))
    >>> x.tolist()
    [1]
    """
    module = Module()
    module._module = _core.Module(source, options=list(options))
    return module
