"""What one process tells another of an array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PyGPU._names.public import public

if TYPE_CHECKING:
    import numpy

__all__ = ["BlockName", "SharedHandle"]


@dataclass(frozen=True)
class BlockName:
    """A block of memory, for whoever opens it."""

    token: str
    """No other block of any process has it."""
    process: int
    machine: str
    """The machine in one run of its system."""
    device: str
    """``cuda``, ``hip``, or ``cpu`` with a number, since processors have no name of their own."""
    uuid: str
    nbytes: int
    memory: bytes | int
    """The driver's handle, or the file of the process."""


@public("Making arrays")
@dataclass(frozen=True, repr=False)
class SharedHandle:
    """An array of another process, or of this one, by name.

    :meth:`GPUArray.share` makes it and `open_shared` opens it. It can be pickled, and holds nothing alive.

    Parameters
    ----------
    block : BlockName or None
        The memory; None for an array of no elements.
    offset : int
        Bytes from the begin of the block to element zero.
    shape, strides : tuple of int
        The array's.
    dtype : numpy.dtype
        Of the elements.
    readonly : bool
        Whether it may not be written.
    event : bytes or None
        The driver's handle of an event behind what was done with the array; None where that is over.

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
