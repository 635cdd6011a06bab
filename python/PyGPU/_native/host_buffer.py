"""Host memory as PyCUDA's copies take it: any contiguous buffer, in C or Fortran order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from PyGPU.typing import HostBuffer

__all__ = ["bytes_of"]


def bytes_of(buffer: HostBuffer, *, written: bool = False) -> NDArray[numpy.uint8]:
    """Return the bytes of a buffer, in the order in which they lie in memory, as a view.

    Raises
    ------
    TypeError
        If it is no buffer of the host, or holds Python objects.
    ValueError
        If it is not contiguous, or is read-only and to be `written`.
    """
    if isinstance(buffer, numpy.ndarray):
        array: NDArray[Any] = buffer.view(numpy.ndarray)
    else:
        try:
            array = numpy.asarray(memoryview(buffer))
        except TypeError as error:
            raise TypeError(f"expected host memory (a buffer), not {type(buffer).__name__}") from error
    if not array.flags.forc:
        raise ValueError(f"the buffer of shape {array.shape} and strides {array.strides} is not contiguous")
    if array.dtype.hasobject:
        raise TypeError(f"memory of Python objects ({array.dtype}) means nothing to a device")
    if written and not array.flags.writeable:
        raise ValueError("the buffer to be written is read-only")
    return array.reshape(-1, order="A").view(numpy.uint8)
