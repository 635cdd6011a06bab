"""PyCUDA's `Module`: kernels and globals of an image."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn

from PyGPU import _core
from PyGPU._driver_enums import jit_option
from PyGPU._driver_errors import NOT_FOUND, logic_error

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Module", "module_from_buffer", "module_from_file"]


class Module:
    """Kernels and global variables of an image: what `module_from_buffer` and ``SourceModule(...).module`` give.

    Examples
    --------
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule("__global__ void one(int *x) { *x = 1; }").module  # doctest: +SKIP
    >>> module.get_function("one").name  # doctest: +SKIP
    'one'
    """

    def __init__(self, native: _core.Module) -> None:
        self._native = native

    @property
    def native(self) -> _core.Module:
        """The module in PyGPU's spelling."""
        return self._native

    def get_function(self, name: str) -> _core.Function:
        """Return a kernel.

        Parameters
        ----------
        name : str
            As the source says it, or as the image has it.

        Returns
        -------
        Function

        Raises
        ------
        LogicError
            For a name that is not there.

        Examples
        --------
        >>> func = module.get_function("one")  # doctest: +SKIP
        """
        try:
            return _core.Function(self._native.get_function(name))
        except ValueError as error:
            raise logic_error("cuModuleGetFunction", NOT_FOUND, "CUDA_ERROR_NOT_FOUND", str(error)) from None

    def get_global(self, name: str) -> tuple[int, int]:
        """Return where a global variable is.

        Parameters
        ----------
        name : str
            Of a ``__device__`` or ``__constant__`` variable.

        Returns
        -------
        address, nbytes : int
            Good as long as the module lives.

        Raises
        ------
        LogicError
            For a name that is not there.

        Examples
        --------
        >>> address, nbytes = module.get_global("factor")  # doctest: +SKIP
        """
        try:
            return self._native.get_global(name)
        except ValueError as error:
            raise logic_error("cuModuleGetGlobal", NOT_FOUND, "CUDA_ERROR_NOT_FOUND", str(error)) from None

    def get_texref(self, name: str) -> NoReturn:
        """Refuse: CUDA 12 has no texture references any more.

        Parameters
        ----------
        name : str
            Of the reference.

        Raises
        ------
        NotSupportedError
            Always; it says what to use.
        """
        raise no_reference("texture", name)

    def get_surfref(self, name: str) -> NoReturn:
        """Refuse: CUDA 12 has no surface references any more.

        Parameters
        ----------
        name : str
            Of the reference.

        Raises
        ------
        NotSupportedError
            Always; it says what to use.
        """
        raise no_reference("surface", name)

    def __repr__(self) -> str:
        return repr(self._native).replace("PyGPU.Module", "PyGPU.driver.Module", 1)


def no_reference(kind: str, name: str) -> _core.NotSupportedError:
    """Return the error for a texture or surface reference."""
    return _core.NotSupportedError(
        f"{kind} reference {name!r}: {kind} references are gone from CUDA 12 and from PyGPU; give the kernel a {kind} "
        f"object (cuda{kind.capitalize()}Object_t, an argument of eight bytes), or read plain memory through "
        "const T *__restrict__"
    )


def module_from_file(filename: str | os.PathLike[str]) -> Module:
    """Load an image from a file.

    Parameters
    ----------
    filename : str or path
        With a cubin, PTX, a fatbin, or what else the driver takes.

    Returns
    -------
    Module

    Raises
    ------
    Error
        When the driver refuses the image.
    OSError
        When the file cannot be read.

    Examples
    --------
    >>> from PyGPU import driver
    >>> module = driver.module_from_file("kernels.cubin")  # doctest: +SKIP
    """
    with open(filename, "rb") as file:
        return module_from_buffer(file.read())


def module_from_buffer(
    buffer: Any,
    options: Iterable[tuple[Any, Any]] = (),
    message_handler: Callable[[bool, str, str], Any] | None = None,
) -> Module:
    """Load an image.

    Parameters
    ----------
    buffer : bytes-like
        A cubin, PTX, a fatbin, or what else the driver takes.
    options : sequence of (jit_option, value), optional
        For the driver's compiler of PTX: ``MAX_REGISTERS``. The others are left to the driver.
    message_handler : callable, optional
        Called with whether it worked, what the driver said, and its errors.

    Returns
    -------
    Module

    Raises
    ------
    Error
        When the driver refuses the image.

    Examples
    --------
    >>> from PyGPU import driver
    >>> module = driver.module_from_buffer(image)  # doctest: +SKIP
    """
    known = {jit_option(option): value for option, value in options}
    most = known.get(jit_option.MAX_REGISTERS)
    try:
        native = _core.load_image(bytes(buffer), most)
    except _core.Error as error:
        if message_handler is not None:
            message_handler(False, "", str(error))
        raise
    if message_handler is not None:
        message_handler(True, native.log, "")
    return Module(native)
