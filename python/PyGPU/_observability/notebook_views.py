"""Describe arrays, devices and graphs as HTML, which notebooks show.

Streams and events have only a one-line view, because queries of their properties could invalidate a capture.
"""

from __future__ import annotations

import math
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

import numpy

from PyGPU import _core
from PyGPU._observability import printing

if TYPE_CHECKING:
    from PyGPU import Device, GPUArray, Graph

_CELL = "text-align:left;padding:1px 10px 1px 0;background:none"
_MAX_NODES = 20
_ELEMENTS = 200
# The font is set here, because some notebooks do not set a font for the HTML element `pre`.
_LINES = "margin:4px 0 0 0;font-family:monospace;line-height:1.3;white-space:pre;overflow-x:auto"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _table(title: str, rows: dict[str, str]) -> str:
    # The HTML sets no colours, so that the notebook's light or dark theme applies.
    cells = "".join(
        f'<tr style="background:none"><th style="{_CELL};opacity:0.7;font-weight:normal">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    return f"<b>{escape(title)}</b><table><tbody>{cells}</tbody></table>"


def _preformatted(lines: str) -> str:
    return f'<pre style="{_LINES}">{escape(lines)}</pre>'


def _size(nbytes: int) -> str:
    unit = min(len(_UNITS) - 1, int(math.log2(nbytes)) // 10) if nbytes > 0 else 0
    return f"{nbytes} B" if unit == 0 else f"{nbytes / 1024**unit:.4g} {_UNITS[unit]} ({nbytes:,} B)"


def _layout(array: GPUArray) -> str:
    if array.size == 0:
        return "empty"
    order = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else None
    return f"{order}-contiguous" if order else f"strides {array.strides}"


def _values(array: GPUArray) -> str | None:
    """Format an array's values, or those at its edges; return None if copying them is expensive or impossible."""
    is_capturing = _core.current_stream(array.device).is_capturing
    # The edges of an array are copied one by one, and the number of edges doubles with each axis.
    # Large arrays of more than two axes are therefore not copied.
    if is_capturing or (array.ndim > 2 and array.size > _ELEMENTS):
        return None
    try:
        # The threshold is lower than in a terminal, because a notebook cell has less space.
        with numpy.printoptions(threshold=min(_ELEMENTS, numpy.get_printoptions()["threshold"])):
            return printing.array_str(array)
    except (_core.CudaError, _core.NotSupportedError):
        return None  # The copy fails if the memory is unreadable, or if another thread captures the array's stream.


def array_html(array: GPUArray) -> str:
    """Return an array's shape, dtype, device, size and layout as HTML, and its values if they are cheap to copy.

    Parameters
    ----------
    array : GPUArray
        Array to describe.

    Returns
    -------
    str
        The HTML.
    """
    device = str(array.device)
    rows = {
        "shape": str(array.shape),
        "dtype": str(array.dtype),
        "device": device,
        "bytes": _size(array.size * array.itemsize),
        "layout": _layout(array),
    }
    values = _values(array)
    return _table(type(array).__name__, rows) + ("" if values is None else _preformatted(values))


def device_html(device: Device) -> str:
    """Return a device's name, architecture and memory as HTML.

    Parameters
    ----------
    device : Device
        Device to describe; no context is created on it.

    Returns
    -------
    str
        The HTML.
    """
    properties = _core.device_properties(device)
    rows = {
        "name": properties["name"],
        "architecture": properties["architecture"],
        "memory": _size(properties["total_memory"]),
        "multiprocessors": str(properties["multiprocessor_count"]),
    }
    return _table(f"Device {device}", rows)


def graph_html(graph: Graph) -> str:
    """Return a graph's device, the number of its operations, and the names of the first operations as HTML.

    Parameters
    ----------
    graph : Graph
        Graph to describe; a graph without a captured operation is shown as empty.

    Returns
    -------
    str
        The HTML.
    """
    try:
        nodes = graph.nodes
    except ValueError:  # The graph has no captured operations yet, or its capture has not ended.
        return _table("Graph", {"operations": "none yet"})
    kinds = Counter(node.kind for node in nodes)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    node_texts = [repr(node).removeprefix("<PyGPU.GraphNode ").removesuffix(">") for node in nodes[:_MAX_NODES]]
    if len(nodes) > _MAX_NODES:
        node_texts.append(f"and {len(nodes) - _MAX_NODES} more")
    return _table("Graph", {"device": str(graph.device), "operations": counts}) + _preformatted("\n".join(node_texts))
