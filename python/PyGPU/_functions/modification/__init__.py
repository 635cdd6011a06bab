"""Elements put in, taken out and written over; bits of bytes."""

from PyGPU._functions.editing.bits import packbits, unpackbits
from PyGPU._functions.editing.changing import delete, fill_diagonal, insert, trim_zeros

__all__ = ["delete", "fill_diagonal", "insert", "packbits", "trim_zeros", "unpackbits"]
