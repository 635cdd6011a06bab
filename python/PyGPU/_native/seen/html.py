"""How arrays, devices and graphs look in a notebook.

Streams and events have their one line only: more would have to be asked of the driver, which can spoil a capture.
"""

from __future__ import annotations

import math
from collections import Counter
from html import escape
from typing import TYPE_CHECKING

import numpy

from PyGPU import _core
from PyGPU._native import printing

if TYPE_CHECKING:
    from PyGPU import Device, GPUArray, Graph

_CELL = "text-align:left;padding:1px 10px 1px 0;background:none"
_MOST = 20
_ELEMENTS = 200
# Not every notebook gives `pre` its own font in a cell's output.
_LINES = "margin:4px 0 0 0;font-family:monospace;line-height:1.3;white-space:pre;overflow-x:auto"
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def _table(title: str, rows: dict[str, str]) -> str:
    # Colours are the notebook's own, light or dark.
    cells = "".join(
        f'<tr style="background:none"><th style="{_CELL};opacity:0.7;font-weight:normal">{escape(name)}</th>'
        f'<td style="{_CELL}">{escape(text)}</td></tr>'
        for name, text in rows.items()
    )
    return f"<b>{escape(title)}</b><table><tbody>{cells}</tbody></table>"


def _text(lines: str) -> str:
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
    """Return the values or their edges where a few small copies give them; None in a capture, which takes none in."""
    is_capturing = _core.current_stream(array.device).is_capturing
    # Each edge of each axis is a copy of its own.
    if is_capturing or (array.ndim > 2 and array.size > _ELEMENTS):
        return None
    try:
        # A cell shows less than a terminal, where one scrolls back.
        with numpy.printoptions(threshold=min(_ELEMENTS, numpy.get_printoptions()["threshold"])):
            return printing.array_str(array)
    except (_core.CudaError, _core.NotSupportedError):
        return None  # lost memory, a capture of another thread: the table still stands


def array_html(array: GPUArray) -> str:
    """Give shape, dtype, device, bytes and layout, and the values where they are cheap to fetch.

    Parameters
    ----------
    array : GPUArray
        Any.

    Returns
    -------
    str
        HTML.
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
    return _table(type(array).__name__, rows) + ("" if values is None else _text(values))


def device_html(device: Device) -> str:
    """Give a device's name, architecture and memory.

    Parameters
    ----------
    device : Device
        Any; no context is made on it.

    Returns
    -------
    str
        HTML.
    """
    known = _core.device_properties(device)
    rows = {
        "name": known["name"],
        "architecture": known["architecture"],
        "memory": _size(known["total_memory"]),
        "multiprocessors": str(known["multiprocessor_count"]),
    }
    return _table(f"Device {device}", rows)


def graph_html(graph: Graph) -> str:
    """Give a graph's device and its operations, the first ones by name.

    Parameters
    ----------
    graph : Graph
        Any; one that was not captured yet is empty.

    Returns
    -------
    str
        HTML.
    """
    try:
        nodes = graph.nodes
    except ValueError:  # before and during its capture
        return _table("Graph", {"operations": "none yet"})
    kinds = Counter(node.kind for node in nodes)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    shown = [repr(node).removeprefix("<PyGPU.GraphNode ").removesuffix(">") for node in nodes[:_MOST]]
    if len(nodes) > _MOST:
        shown.append(f"and {len(nodes) - _MOST} more")
    return _table("Graph", {"device": str(graph.device), "operations": counts}) + _text("\n".join(shown))
