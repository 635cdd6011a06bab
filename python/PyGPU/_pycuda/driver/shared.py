"""What PyCUDA's driver and PyGPU itself have in common: exceptions, and memory that is made for a launch."""

from __future__ import annotations

from abc import ABCMeta
from typing import Any

from PyGPU import _core
from PyGPU._core import (
    CompileError,
    DriverRuntimeError as RuntimeError,
    Error,
    HostArgument,
    In,
    InOut,
    LaunchError,
    LogicError,
    Out,
    OutOfMemoryError as MemoryError,
)

__all__ = [
    "ArgumentHandler",
    "CompileError",
    "Error",
    "In",
    "InOut",
    "LaunchError",
    "LogicError",
    "MemoryError",
    "Out",
    "RuntimeError",
]


class ArgumentHandler(metaclass=ABCMeta):  # noqa: B024 - native classes are registered with it
    """Base of classes whose objects are arguments of kernels that have something done before a launch and after it.

    `In`, `Out` and `InOut` give such ones too. A subclass overrides what it wants to be different.

    Parameters
    ----------
    array : numpy.ndarray
        What the memory is made for.

    Examples
    --------
    >>> import numpy
    >>> import PyGPU.driver as drv
    >>> from PyGPU.compiler import SourceModule
    >>> class Received(drv.ArgumentHandler):
    ...     def post_call(self, stream):
    ...         drv.memcpy_dtoh(self.array, self.get_device_alloc())
    >>> one = SourceModule('__global__ void one(int *x) { *x = 1; }').get_function('one')
    >>> x = numpy.zeros(1, numpy.int32)
    >>> one(Received(x), block=(1, 1, 1))
    >>> x
    array([1], dtype=int32)
    """

    def __init__(self, array: Any) -> None:
        self._array = array
        self.dev_alloc: Any = None

    @property
    def array(self) -> Any:
        """The host array."""
        return self._array

    @array.setter
    def array(self, array: Any) -> None:
        self._array = array

    def get_device_alloc(self) -> Any:
        """Give the memory that the kernel gets, made when it is first asked for.

        Returns
        -------
        DeviceAllocation
        """
        if self.dev_alloc is None:
            self.dev_alloc = _core.allocate_device(self.array.nbytes)
        return self.dev_alloc

    def pre_call(self, stream: _core.Stream | None) -> None:  # noqa: B027 - a subclass may override it
        """Do nothing; called before the launch.

        Parameters
        ----------
        stream : Stream or None
            Where the kernel runs; None for the default stream.
        """

    def post_call(self, stream: _core.Stream | None) -> None:  # noqa: B027 - a subclass may override it
        """Do nothing; called behind the launch.

        Parameters
        ----------
        stream : Stream or None
            Where the kernel runs; None for the default stream.
        """


ArgumentHandler.register(HostArgument)
