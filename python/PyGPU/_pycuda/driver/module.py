"""PyCUDA's `Module`, `Linker` and functions that load images with kernels and variables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

from PyGPU import _core
from PyGPU._core import Function
from PyGPU._pycuda.driver.enums import jit_option
from PyGPU._pycuda.driver.textures import SurfaceReference, TextureReference

__all__ = ["Function", "Linker", "Module", "module_from_buffer", "module_from_file"]

Handler = Callable[[bool, str, str], Any]
Options = Iterable[tuple[int, Any]]


def not_found(error: ValueError) -> _core.InvalidValueError:
    """Return the exception for a name that a module does not contain, with the driver's error code."""
    result = _core.InvalidValueError(f"CUDA_ERROR_NOT_FOUND: named symbol not found: {error}")
    result.code, result.name = 500, "CUDA_ERROR_NOT_FOUND"
    return result


class Module:
    """Loaded module, as created by `module_from_file`, `module_from_buffer` and `SourceModule`.

    Parameters
    ----------
    module : PyGPU.Module
        The `PyGPU.Module` that this object wraps.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import compile
    >>> module = drv.module_from_buffer(compile('__global__ void one(int *x) { *x = 1; }'))
    >>> func = module.get_function('one')
    """

    def __init__(self, module: _core.Module) -> None:
        self._module = module
        self._references = _core.References(module)

    @property
    def module(self) -> _core.Module:
        """The `PyGPU.Module` that this object wraps."""
        return self._module

    def get_function(self, name: str) -> Function:
        """Return a kernel of the module.

        Parameters
        ----------
        name : str
            Name of the kernel in the source or in the image.

        Returns
        -------
        Function

        Raises
        ------
        LogicError
            If the module does not contain the name.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> from PyGPU.compiler import compile
        >>> image = compile('__constant__ float factor; __global__ void scale(float *x) { *x *= factor; }')
        >>> module = drv.module_from_buffer(image)
        >>> func = module.get_function('scale')
        """
        try:
            return Function(self._module.get_function(name), self._references)
        except ValueError as error:
            raise not_found(error) from error

    def get_global(self, name: str) -> tuple[int, int]:
        """Return the address and size of a variable of the module.

        Parameters
        ----------
        name : str
            Name of a ``__device__`` or ``__constant__`` variable.

        Returns
        -------
        address, size : int
            Address of the variable, valid while the module exists, and size of the variable in bytes.

        Raises
        ------
        LogicError
            If the module does not contain the name.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> from PyGPU.compiler import compile
        >>> image = compile('__constant__ float factor; __global__ void scale(float *x) { *x *= factor; }')
        >>> module = drv.module_from_buffer(image)
        >>> address, size = module.get_global('factor')
        """
        try:
            return self._module.get_global(name)
        except ValueError as error:
            raise not_found(error) from error

    def get_texref(self, name: str) -> TextureReference:
        """Return a texture reference of the module.

        Parameters
        ----------
        name : str
            Name of a texture at file scope.

        Returns
        -------
        TextureReference

        Raises
        ------
        LogicError
            If the module does not contain the name.

        Examples
        --------
        >>> from PyGPU.compiler import SourceModule
        >>> module = SourceModule('texture<float> line; __global__ void one(float *x) { *x = tex1Dfetch(line, 0); }')
        >>> line = module.get_texref('line')
        """
        try:
            return TextureReference._from_module(self._references, name)
        except ValueError as error:
            raise not_found(error) from error

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return the surface reference of a file-scope surface, with the same parameters as `get_texref`."""
        try:
            return SurfaceReference._from_module(self._references, name)
        except ValueError as error:
            raise not_found(error) from error

    def __repr__(self) -> str:
        return f"<PyGPU.driver.Module {self._module!r}>"


def module_from_buffer(
    buffer: bytes | bytearray, options: Options = (), message_handler: Handler | None = None
) -> Module:
    """Load a module from an image in memory.

    Parameters
    ----------
    buffer : bytes
        A cubin, PTX, a fatbin, or another image that the device's driver accepts.
    options : sequence of tuple, optional
        Pairs of `jit_option` and value for PTX. They have no effect, because PyGPU uses the driver's defaults.
    message_handler : callable, optional
        Called as ``message_handler(succeeded, information, errors)`` with the driver's texts.

    Returns
    -------
    Module

    Raises
    ------
    LogicError
        If the driver does not accept the image.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import compile
    >>> image = compile('__global__ void one(int *x) { *x = 1; }')
    >>> module = drv.module_from_buffer(image)
    """
    for option, _ in options:
        jit_option(option)  # The conversion to `jit_option` raises an error for an unknown option.
    try:
        module = _core.Module(bytes(buffer))
    except (ValueError, _core.CudaError) as error:
        if message_handler is not None:
            message_handler(False, "", str(error))
        if isinstance(error, _core.CudaError):
            raise
        raise not_found(error) from error
    if message_handler is not None:
        message_handler(True, module.log, "")
    return Module(module)


def module_from_file(filename: str) -> Module:
    """Load a module from an image in a file.

    Parameters
    ----------
    filename : str
        Path of a cubin, PTX, a fatbin, or another image that the device's driver accepts.

    Returns
    -------
    Module

    Raises
    ------
    OSError
        If the file cannot be read.
    LogicError
        If the driver does not accept the image.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import compile
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), 'one.cubin')
    >>> with open(path, 'wb') as file:
    ...     _ = file.write(compile('__global__ void one(int *x) { *x = 1; }'))
    >>> module = drv.module_from_file(path)
    """
    return module_from_buffer(Path(filename).read_bytes())


class Linker:
    """Linker of the driver, which joins separately compiled parts of device code.

    Parameters
    ----------
    message_handler : callable, optional
        Called as ``message_handler(succeeded, information, errors)`` after linking.
    options : sequence of tuple, optional
        Pairs of `jit_option` and value: ``MAX_REGISTERS``, ``GENERATE_DEBUG_INFO`` and ``GENERATE_LINE_INFO`` are
        supported.
    log_verbose : bool, optional
        Whether the linker prints more information, if the driver supports this option.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> linker = drv.Linker()
    >>> linker.add_file('kernels.ptx', drv.jit_input_type.PTX)  # doctest: +SKIP
    >>> module = linker.link_module()  # doctest: +SKIP
    """

    def __init__(
        self, message_handler: Handler | None = None, options: Options | None = None, log_verbose: bool = False
    ) -> None:
        self._handler = message_handler
        self._options = {jit_option(option): value for option, value in options or ()}
        self._parts: list[tuple[int, bytes, str]] = []

    def add_data(self, data: bytes | str, input_type: int, name: str = "unnamed") -> Self:
        """Add a compiled part from memory.

        Parameters
        ----------
        data : bytes or str
            Compiled code of the part.
        input_type : int
            Kind of the part: a member of `jit_input_type`.
        name : str, optional
            Name of the part in messages.

        Returns
        -------
        Linker
            The linker itself.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> linker = drv.Linker().add_data(b'', drv.jit_input_type.PTX, 'nothing')
        """
        self._parts.append((int(input_type), data.encode() if isinstance(data, str) else bytes(data), name))
        return self

    def add_file(self, filename: str, input_type: int) -> Self:
        """Add a compiled part from a file.

        Parameters
        ----------
        filename : str
            Path of the file.
        input_type : int
            Kind of the part: a member of `jit_input_type`.

        Returns
        -------
        Linker
            The linker itself.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> drv.Linker().add_file('libcudadevrt.a', drv.jit_input_type.LIBRARY)  # doctest: +SKIP
        """
        return self.add_data(Path(filename).read_bytes(), input_type, str(filename))

    def link_module(self) -> Module:
        """Link all parts, and load the linked module.

        Returns
        -------
        Module

        Raises
        ------
        LogicError
            If linking fails; the message includes the linker's message.
        NotSupportedError
            If the driver does not support linking.

        Examples
        --------
        >>> import PyGPU.driver as drv
        >>> module = drv.Linker().link_module()  # doctest: +SKIP
        """
        options = self._options
        try:
            image, log = _core.link(
                self._parts,
                max_registers=options.get(jit_option.MAX_REGISTERS),
                debug=bool(options.get(jit_option.GENERATE_DEBUG_INFO, False)),
                line_info=bool(options.get(jit_option.GENERATE_LINE_INFO, False)),
            )
        except _core.CudaError as error:
            if self._handler is not None:
                self._handler(False, "", str(error))
            raise
        if self._handler is not None:
            self._handler(True, log, "")
        return Module(_core.Module(image))
