"""The function `fusion_report`, which counts fused operations, and the reasons why other operations were not fused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

from PyGPU import _core
from PyGPU._names.public import public

__all__ = ["FusionReport", "fusion_report"]

_AT_ONCE = {
    "off": "the mode was 'off' (PyGPU.fusion or PYGPU_FUSION)",
    "exposed": "the address of an operand was given out (.ptr, __cuda_array_interface__, DLPack): compute with a copy",
    "foreign": "an operand is memory of another library, managed, or of a user's allocator: compute with a copy",
    "form": "where=, two results, a subclass, no element, elements at odd addresses, or out= and x += y where no "
    "operand waits: no loss for one operation; write several as z = f(x), and copy fields of structures first",
    "place": "a capture was under way, or the current stream or the allocator is another library's: the graph has "
    "each operation; elsewhere use a stream and memory of PyGPU",
}
"""Reasons why an operation was launched eagerly, with the remedies."""

_CLOSED = {
    "values": "values or an address were asked for, also by a function that does not wait (sort, reshape, @): ask "
    "after the last operation",
    "work": "other work was put on a stream (a copy, a fill, a kernel): write operations that belong together next to "
    "each other",
    "order": "somebody waited, recorded an event, or changed the stream",
    "operation": "an eager operation used a pending result: see above",
    "nodes": "as many operations waited as may: no loss, they are many",
    "bytes": "results that wait were as large as may be: no loss, the device needs a while for them",
    "held": "operands that the program had dropped were kept for what waited: drop results that are not needed, too",
    "memory": "the device had no memory left",
    "asked": "the program requested it: flush, another mode, a report's block",
    "age": "the oldest pending operation was 200 us old: no loss, the device would have been idle",
}
"""Causes of flushes, with the remedies."""


def _difference(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _difference(value, before[name]) if isinstance(value, dict) else value - before[name]
        for name, value in now.items()
    } | ({"waiting": now["waiting"]} if "waiting" in now else {})


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


class FusionReport(Mapping[str, Any]):
    """Counts of deferred operations, available as attributes, as items of a mapping, and as printed sentences."""

    def __init__(self) -> None:
        self._now: dict[str, Any] | None = _core._fusion_figures()
        self._before: dict[str, Any] | None = None

    def __enter__(self) -> FusionReport:
        """Flush the pending operations and start counting."""
        _core.flush()
        self._before, self._now = _core._fusion_figures(), None
        _core._watch_fusion(True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Flush the pending operations and stop counting."""
        try:
            _core.flush()
        finally:
            self._now = _core._fusion_figures()
            _core._watch_fusion(False)

    def _counts(self) -> dict[str, Any]:
        now = self._now if self._now is not None else _core._fusion_figures()
        return now if self._before is None else _difference(now, self._before)

    def __getitem__(self, name: str) -> Any:
        """Return the count of the given name, or a dict of counts by cause."""
        return self._counts()[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the counts."""
        return iter(self._counts())

    def __len__(self) -> int:
        """Return the number of counts."""
        return len(self._counts())

    @property
    def operations(self) -> int:
        """Number of operations that have been deferred."""
        return int(self["operations"])

    @property
    def dropped(self) -> int:
        """Number of operations dropped before their launch, because their results were unreferenced."""
        return int(self["dropped"])

    @property
    def computed(self) -> int:
        """Number of operations that kernels have computed."""
        return int(self["computed"])

    @property
    def waiting(self) -> int:
        """Number of pending operations, which have not been launched yet."""
        return int(self["waiting"])

    @property
    def kernels(self) -> int:
        """Number of kernel launches that computed deferred operations."""
        return int(self["kernels"])

    @property
    def fused(self) -> int:
        """Number of kernel launches that each computed several operations."""
        return int(self["fused"])

    @property
    def outputs(self) -> int:
        """Number of results that were written to memory."""
        return int(self["outputs"])

    @property
    def first_meetings(self) -> int:
        """Number of fusion groups that were used too rarely to be compiled, and were computed one by one."""
        return int(self["first_meetings"])

    @property
    def failures(self) -> int:
        """Number of operations whose launch failed."""
        return int(self["failures"])

    @property
    def closed(self) -> dict[str, int]:
        """Number of times that pending operations were launched, for each cause."""
        return dict(self["closed"])

    @property
    def at_once(self) -> dict[str, int]:
        """Number of operations that were launched eagerly, for each cause."""
        return dict(self["at_once"])

    def __repr__(self) -> str:
        """Format the counts as sentences."""
        return "\n".join(_sentences(self._counts(), self._before is not None))


def _sentences(counts: dict[str, Any], is_block: bool) -> Iterator[str]:
    of_what = "in the block" if is_block else "since the process began"
    operations, dropped, computed = counts["operations"], counts["dropped"], counts["computed"]
    if not operations:
        yield (
            f"No operation was deferred {of_what}. The CPU backend defers none; an ElementwiseKernel is one kernel on "
            "every backend."
        )
    else:
        yield (
            f"{_many(operations, 'operation')} deferred {of_what}: {computed} computed by "
            f"{_many(counts['kernels'], 'kernel')} ({counts['fused']} fused); "
            f"{_many(counts['outputs'], 'result')} got memory."
        )
    if counts["waiting"] > 0:
        yield f"{counts['waiting']} pending when this was counted: PyGPU.flush() launches them."
    if dropped:
        yield f"{dropped} never computed, since nobody wanted the results any more."
    if counts["first_meetings"]:
        yield (
            f"{_many(counts['first_meetings'], 'expression')} used for the first time, in no cache, and computed one "
            "operation after the other: compiled at the second use, or at once with PYGPU_FUSION_COMPILE=first."
        )
    if counts["failures"]:
        yield f'{counts["failures"]} could not be launched: PyGPU.fusion("off") shows the line.'
    yield from _causes("Launched eagerly:", counts["at_once"], _AT_ONCE)
    yield from _causes("Pending operations were flushed because", counts["closed"], _CLOSED)


def _causes(title: str, counts: dict[str, int], meanings: dict[str, str]) -> Iterator[str]:
    sorted_counts = sorted(((count, name) for name, count in counts.items() if count), reverse=True)
    if sorted_counts:
        yield title
    width = max((len(name) for _, name in sorted_counts), default=0)
    for count, name in sorted_counts:
        yield f"  {name:{width}} {count:6}  {meanings.get(name, '')}".rstrip()


@public("When it is computed")
def fusion_report() -> FusionReport:
    """Report the number of fused operations, and the reasons why others were not fused.

    Returns
    -------
    FusionReport
        Counts of all threads since the start of the process; after a ``with`` block, the counts of the block. Each
        count is an attribute and an item of the mapping:

        - ``operations``: deferred operations;
        - ``dropped``: operations that were never launched, because their results were unreferenced;
        - ``computed``: operations that kernels have computed;
        - ``waiting``: pending operations, which have not been launched yet;
        - ``kernels``: kernel launches that computed deferred operations;
        - ``fused``: kernel launches that computed several operations each;
        - ``outputs``: results that were written to memory;
        - ``first_meetings``: fusion groups below the compile threshold, whose operations were computed one by one;
        - ``failures``: operations whose launch failed;
        - ``closed``: a dict with the number of flushes for each cause;
        - ``at_once``: a dict with the number of eagerly launched operations for each cause.

        ``print`` formats the counts as sentences and adds remedies.

    See Also
    --------
    fusion : Choose whether operations are deferred.

    Notes
    -----
    A ``with`` block flushes the pending operations when it begins and when it ends, so that it counts only its own
    operations. Without ``with`` the report launches nothing.

    Examples
    --------
    >>> import PyGPU
    >>> x = PyGPU.arange(4.0)
    >>> with PyGPU.fusion_report() as report:
    ...     y = 2 * x + 1
    >>> report.kernels <= report.operations
    True
    >>> with PyGPU.fusion("off"), PyGPU.fusion_report() as report:
    ...     z = 2 * x
    >>> print(report)  # doctest: +ELLIPSIS
    No operation was deferred in the block. ...
    """
    return FusionReport()
