"""Kernel arguments that copy host arrays before and after a launch: PyCUDA's `ArgumentHandler`, `In`, `Out`, `InOut`.

The native module handles objects whose class is exactly `In`, `Out` or `InOut`. For an object of another class, a
launch calls `get_device_alloc` and `pre_call` before the kernel, and `post_call` after it.
"""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._names.public import public

__all__ = ["ArgumentHandler", "In", "InOut", "Out"]


class ArgumentHandler:
    """Base class of kernel arguments that run code before and after a launch.

    `In`, `Out` and `InOut` derive from it. A subclass overrides methods as needed.

    Parameters
    ----------
    array : numpy.ndarray
        Host array, for which device memory of the same size is allocated.

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

    #: Device memory of the argument; None until `get_device_alloc` is called for the first time.
    dev_alloc: Any = None

    def __init__(self, array: Any) -> None:
        self._array = array

    @property
    def array(self) -> Any:
        """Host array that was passed to the constructor."""
        return self._array

    @array.setter
    def array(self, array: Any) -> None:
        self._array = array

    def get_device_alloc(self) -> Any:
        """Return the device memory that the kernel receives; the first call allocates this memory.

        Returns
        -------
        DeviceAllocation
        """
        if self.dev_alloc is None:
            self.dev_alloc = _core.allocate_device(self.array.nbytes)
        return self.dev_alloc

    def pre_call(self, stream: _core.Stream | None) -> None:
        """Do nothing; a subclass overrides this method, which is called before the launch.

        Parameters
        ----------
        stream : Stream or None
            Stream on which the kernel is launched; None for the default stream.
        """

    def post_call(self, stream: _core.Stream | None) -> None:
        """Do nothing; a subclass overrides this method, which is called after the launch.

        Parameters
        ----------
        stream : Stream or None
            Stream on which the kernel is launched; None for the default stream.
        """


@public("Kernels")
class In(_core.HostArgument, ArgumentHandler):
    """Kernel argument: a host array that is copied to the device before the launch, and is not copied back.

    Parameters
    ----------
    array : array_like
        Host array of any strides.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> PyGPU.In(np.array([1, 2]))
    PyGPU.In(array([1, 2]))
    """

    __module__ = "PyGPU"

    def pre_call(self, stream: _core.Stream | None) -> None:
        """Copy the values of the host array to the device.

        Parameters
        ----------
        stream : Stream or None
            Stream on which the kernel is launched; None for the default stream.
        """
        from PyGPU._memory.device_memory import memcpy_htod

        memcpy_htod(self.get_device_alloc(), self.array)


@public("Kernels")
class Out(_core.HostArgument, ArgumentHandler):
    """Kernel argument: uninitialised device memory that is copied to a host array after the launch.

    Parameters
    ----------
    array : numpy.ndarray
        Writable host array of any strides.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> PyGPU.Out(np.zeros(2))
    PyGPU.Out(array([0., 0.]))
    """

    __module__ = "PyGPU"

    def post_call(self, stream: _core.Stream | None) -> None:
        """Copy the values from the device to the host array.

        Parameters
        ----------
        stream : Stream or None
            Stream on which the kernel is launched; None for the default stream.
        """
        from PyGPU._memory.device_memory import memcpy_dtoh

        memcpy_dtoh(self.array, self.get_device_alloc())


@public("Kernels")
class InOut(In, Out):
    """Kernel argument: a host array that is copied to the device before the launch and back after it.

    Parameters
    ----------
    array : numpy.ndarray
        Writable host array of any strides.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> PyGPU.InOut(np.ones(2))
    PyGPU.InOut(array([1., 1.]))
    """

    __module__ = "PyGPU"
