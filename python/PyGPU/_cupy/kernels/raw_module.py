"""CuPy's class `RawModule`: the kernels and global variables of one source or compiled image."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn

from PyGPU import _core
from PyGPU._cupy.kernels.raw_kernel import RawKernel, no_texref, write_log
from PyGPU._cupy.kernels.raw_source import RawSource, check_backend
from PyGPU._pycuda.driver.module import not_found

__all__ = ["RawModule"]


class RawModule:
    """Module from a CUDA C++ source, compiled once for each device, or from an image, loaded once for each device.

    Parameters
    ----------
    code : str, optional
        The source. Give either `code` or `path`.
    path : str, optional
        Path of a cubin, of PTX, or of another image that the driver accepts.
    options : tuple of str, optional
        Compiler options in nvcc's syntax, also if PyGPU uses another compiler.
    backend, translate_cucomplex, enable_cooperative_groups, jitify
        As for `RawKernel`.
    name_expressions : iterable of str, optional
        Names of kernels, among them instances of templates: ``['scale<float>', 'scale<double>']``.

    Raises
    ------
    TypeError
        Unless exactly one of `code` and `path` is given.
    ValueError
        If `name_expressions` are given without `code`, or with the backend ``'nvcc'``.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU import cupy
    >>> module = cupy.RawModule(
    ...     code='template <typename T> __global__ void twice(T *x) { x[threadIdx.x] *= 2; }',
    ...     name_expressions=['twice<float>', 'twice<int>'],
    ... )
    >>> x = PyGPU.arange(3, dtype='int32')
    >>> module.get_function('twice<int>')((1,), (3,), (x,))
    >>> x.tolist()
    [0, 2, 4]
    """

    def __init__(
        self,
        *,
        code: str | None = None,
        path: str | None = None,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Iterable[str] | None = None,
        jitify: bool | None = None,
    ) -> None:
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        check_backend(backend, options, jitify)
        if name_expressions is not None:
            name_expressions = tuple(name_expressions)
            if code is None:
                raise ValueError("name_expressions need CUDA C++ code: an image contains its kernels already compiled")
            if backend != "nvrtc":
                raise ValueError("only nvrtc finds the kernels of name_expressions: omit backend='nvcc'")
        if code is None:
            options, backend, translate_cucomplex = (), "nvcc", False
        self._source = RawSource(code, path, options, backend, bool(translate_cucomplex), name_expressions or ())
        self.code, self.file_path = code, path
        self.options, self.backend, self.translate_cucomplex = options, backend, translate_cucomplex
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.name_expressions = name_expressions

    @property
    def module(self) -> _core.Module:
        """The compiled code for the current device, as a `PyGPU.Module`."""
        return self._source.module(_core.Device().index)

    def compile(self, log_stream: Any = None) -> None:
        """Compile the module for the current device; a module that is already compiled is compiled again.

        Parameters
        ----------
        log_stream : file, optional
            File that receives the compiler's output.

        Raises
        ------
        CompileError
            If the source does not compile.
        """
        write_log(self._source.recompile(_core.Device().index), log_stream)

    def get_function(self, name: str) -> RawKernel:
        """Return a kernel of the module.

        Parameters
        ----------
        name : str
            Name of the kernel in the source, or one of the name expressions.

        Returns
        -------
        RawKernel

        Raises
        ------
        CudaError
            If the module does not contain the kernel.
        """
        return RawKernel._of_module(self._source, name, self.enable_cooperative_groups)

    def get_global(self, name: str) -> Any:
        """Return a pointer to a variable of the module.

        Parameters
        ----------
        name : str
            Name of a ``__device__`` or ``__constant__`` variable.

        Returns
        -------
        cupy.cuda.MemoryPointer

        Raises
        ------
        CudaError
            If the module does not contain the variable.
        """
        from PyGPU._cupy.cuda.allocations import UnownedMemory
        from PyGPU._cupy.cuda.memory_pointer import MemoryPointer

        device, module = _core.Device().index, self.module
        try:
            address, size = module.get_global(name)
        except ValueError as error:
            raise not_found(error) from error
        return MemoryPointer(UnownedMemory(address, size, module, device), 0)

    def get_texref(self, name: str) -> NoReturn:
        """Raise an error: CUDA 12 has removed texture references.

        Parameters
        ----------
        name : str
            Name of the texture reference.

        Raises
        ------
        NotSupportedError
            Always; the message names `PyGPU.Texture`.
        """
        raise no_texref(name)

    def __repr__(self) -> str:
        return f"<RawModule {self.file_path or 'of a source'}>"
