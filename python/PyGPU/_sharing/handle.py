"""Handle of an array for another process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PyGPU._names.public import public

if TYPE_CHECKING:
    import numpy

__all__ = ["BlockName", "SharedHandle"]


@dataclass(frozen=True)
class BlockName:
    """Handle of a memory block for the opening process."""

    token: str
    """No other block of any process has it."""
    process: int
    machine: str
    """The machine in one run of its system."""
    device: str
    """``cuda``, ``hip``, or ``cpu`` with a number, because processors have no name."""
    uuid: str
    nbytes: int
    memory: bytes | int
    """The driver's handle, or the file of the process."""


@public("Making arrays")
@dataclass(frozen=True, repr=False)
class SharedHandle:
    """Handle of an array of another process, or of this one.

    :meth:`GPUArray.share` creates it and `open_shared` opens it. It can be pickled, and keeps nothing alive.

    Parameters
    ----------
    block : BlockName or None
        The memory; None for an empty array.
    offset : int
        Offset of the first element in the block, in bytes.
    shape, strides : tuple of int
        Shape and strides of the array.
    dtype : numpy.dtype
        Type of the elements.
    readonly : bool
        Whether it is read-only.
    event : bytes or None
        The driver's handle of an event after the uses of the array; None if they are complete.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.empty((2, 3), shared=True)
    >>> a[1].share().shape
    (3,)
    """

    block: BlockName | None
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: numpy.dtype[Any]
    readonly: bool
    event: bytes | None

    def __repr__(self) -> str:
        where = "of no elements" if self.block is None else f"of process {self.block.process} on {self.block.uuid}"
        return f"<SharedHandle {where}: shape {self.shape}, dtype {self.dtype}>"
