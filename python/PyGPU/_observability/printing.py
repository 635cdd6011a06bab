"""Format arrays for `str` and `repr` as NumPy does.

Only the edges that are printed are copied from a large array to the host.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy

if TYPE_CHECKING:
    from PyGPU import GPUArray


def _edges(length: int, edge_items: int) -> list[slice]:
    """Return the slices of an axis to copy: the edges that NumPy prints, and one element for the omitted middle."""
    if length <= 2 * edge_items + 1:
        return [slice(0, length)]
    return [slice(0, edge_items + 1), slice(length - edge_items, length)]


def _copy_edges(array: GPUArray, edge_items: int) -> numpy.ndarray[Any, Any]:
    parts = [_edges(length, edge_items) for length in array.shape]
    corner = numpy.empty([sum(part.stop - part.start for part in axis) for axis in parts], array.dtype)

    def fill(target: tuple[slice, ...], source: tuple[slice, ...], axis: int) -> None:
        if axis == len(parts):
            corner[target] = array[source].get()
            return
        start = 0
        for part in parts[axis]:
            stop = start + part.stop - part.start
            fill((*target, slice(start, stop)), (*source, part), axis + 1)
            start = stop

    fill((), (), 0)
    return corner


def _format(array: GPUArray, prefix: str, separator: str, suffix: str) -> str:
    options: dict[str, Any] = dict(numpy.get_printoptions())
    summarized = array.size > options["threshold"]
    # `get` is called for a view, because `get` of the array itself would overwrite the array's host copy.
    values = _copy_edges(array, options["edgeitems"]) if summarized else array[...].get()
    if array.ndim == 0 and separator == " ":
        return str(values[()])
    if array.size == 0:
        return "[]"
    threshold = 0 if summarized else sys.maxsize
    return numpy.array2string(values, separator=separator, prefix=prefix, suffix=suffix, threshold=threshold)


def array_str(array: GPUArray) -> str:
    """Format the values of an array like `str` of an ndarray."""
    return _format(array, "", " ", "")


def array_repr(array: GPUArray) -> str:
    """Format the values of an array like `repr` of an ndarray, with dtype and device."""
    name = type(array).__name__
    shape = f"shape={array.shape}, " if array.size == 0 and array.shape != (0,) else ""
    dtype_text = array.dtype if array.dtype.names is not None else array.dtype.name
    suffix = f", {shape}dtype={dtype_text}, device={str(array.device)!r})"
    text = _format(array, f"{name}(", ", ", ")")
    # As in NumPy, the text after the values begins a new line if it does not fit into the current line.
    last_line = len(text) - (text.rfind("\n") + 1) + (0 if "\n" in text else len(name) + 1)
    if last_line + len(suffix) > numpy.get_printoptions()["linewidth"]:
        return f"{name}({text},\n{' ' * (len(name) + 1)}{suffix[2:]}"
    return f"{name}({text}{suffix}"
