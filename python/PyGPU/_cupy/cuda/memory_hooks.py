"""CuPy's memory hooks: `DebugPrintHook` prints each allocation, `LineProfileHook` sums allocations by program line."""

from __future__ import annotations

import json
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from PyGPU._cupy.cuda.memory_hook import MemoryHook
from PyGPU._process.fork_lock import fork_safe_lock

__all__ = ["DebugPrintHook", "LineProfileHook"]


class DebugPrintHook(MemoryHook):
    """Hook that prints each allocation and free as a line of JSON.

    Parameters
    ----------
    file : file, optional
        File to which lines are written; defaults to standard output.
    flush : bool, optional
        Whether the file is flushed after each line.

    Examples
    --------
    >>> import io, json, PyGPU
    >>> from PyGPU.cupy.cuda import memory_hooks
    >>> output = io.StringIO()
    >>> with memory_hooks.DebugPrintHook(output):
    ...     a = PyGPU.zeros(5, "f4")
    >>> line = json.loads(output.getvalue())
    >>> line["hook"], line["size"], line["mem_size"]
    ('malloc', 20, 512)
    """

    name = "DebugPrintHook"

    def __init__(self, file: TextIO | None = None, flush: bool = True) -> None:
        self.file = sys.stdout if file is None else file
        self.flush = flush

    def _print(self, hook: str, **values: Any) -> None:
        if "pmem_id" in values:
            values["pmem_id"] = hex(values["pmem_id"])
        print(json.dumps({"hook": hook, **values}, separators=(",", ":")), file=self.file, flush=self.flush)

    def alloc_postprocess(self, **kwargs: Any) -> None:
        """Print the memory that a pool has requested from the driver."""
        self._print("alloc", **kwargs)

    def malloc_postprocess(self, **kwargs: Any) -> None:
        """Print the memory that a pool has provided."""
        self._print("malloc", **kwargs)

    def free_postprocess(self, **kwargs: Any) -> None:
        """Print the memory that has returned to its pool."""
        self._print("free", **kwargs)


_lock = fork_safe_lock()
"""Lock of the sums of all hooks, because several threads may use one hook."""


@dataclass
class _Line:
    """Source line in the call stack of allocations, with the bytes allocated while the line was in the call stack."""

    text: str
    used_bytes: int = 0
    acquired_bytes: int = 0
    callees: dict[tuple[str, int | None, str], _Line] = field(default_factory=dict)


class LineProfileHook(MemoryHook):
    """Hook that sums the memory that each line of the program allocates.

    Parameters
    ----------
    max_depth : int, optional
        Maximum depth of the call tree in the report, including its root; 0, the default, means no maximum.

    Examples
    --------
    >>> import io, PyGPU
    >>> from PyGPU.cupy.cuda import memory_hooks
    >>> hook = memory_hooks.LineProfileHook(max_depth=1)
    >>> with hook:
    ...     a = PyGPU.zeros(256, "f4")
    >>> hook.print_report()
    _root (1.00KB, 0.00B)
    """

    name = "LineProfileHook"

    def __init__(self, max_depth: int = 0) -> None:
        self._root = _Line("_root")
        self._max_depth = max_depth

    def malloc_preprocess(self, **kwargs: Any) -> None:
        """Count the bytes that a pool provides."""
        self._add(kwargs["mem_size"], 0)

    def alloc_preprocess(self, **kwargs: Any) -> None:
        """Count the bytes that a pool requests from the driver."""
        self._add(0, kwargs["mem_size"])

    def _add(self, used_bytes: int, acquired_bytes: int) -> None:
        own_folder = str(Path(__file__).parent)
        frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(own_folder)]
        with _lock:
            line = self._root
            line.used_bytes += used_bytes
            line.acquired_bytes += acquired_bytes
            for frame in frames[: self._max_depth - 1] if self._max_depth > 0 else frames:
                key = frame.filename, frame.lineno, frame.name
                line = line.callees.setdefault(key, _Line(f"{frame.filename}:{frame.lineno}:{frame.name}"))
                line.used_bytes += used_bytes
                line.acquired_bytes += acquired_bytes

    def print_report(self, file: TextIO | None = None) -> None:
        """Print each line of the program with the bytes that the line allocated and the bytes that the driver provided.

        Parameters
        ----------
        file : file, optional
            File to which lines are written; defaults to standard output.
        """
        out = sys.stdout if file is None else file
        pending = [(0, self._root)]
        while pending:
            depth, line = pending.pop()
            sizes = f"{_readable(line.used_bytes)}, {_readable(line.acquired_bytes)}"
            print(f"{'  ' * depth}{line.text} ({sizes})", file=out)
            with _lock:
                pending += [(depth + 1, callee) for callee in reversed(line.callees.values())]
        out.flush()


def _readable(nbytes: float) -> str:
    for unit in "B", "KB", "MB", "GB":
        if nbytes < 1024:
            return f"{nbytes:.2f}{unit}"
        nbytes /= 1024
    return f"{nbytes:.2f}TB"
