"""Elements put in, taken out and written over; bits of bytes."""

from PyGPU._functions.modification.bits import packbits, unpackbits
from PyGPU._functions.modification.insert_delete import delete, fill_diagonal, insert, trim_zeros

__all__ = ["delete", "fill_diagonal", "insert", "packbits", "trim_zeros", "unpackbits"]
