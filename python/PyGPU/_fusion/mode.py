"""The class `fusion`, which selects whether operations of a thread are deferred and fused."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from contextlib import ContextDecorator
from types import TracebackType
from typing import Any, Literal, TypeVar

from PyGPU import _core
from PyGPU._names.public import public

__all__ = ["fusion"]

_MODES = ("auto", "off")

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Entered(threading.local):
    """Per-thread state: the fusion modes that the ends of the open ``with`` blocks restore."""

    def __init__(self) -> None:
        self.before: list[str] = []


@public("When it is computed")
class fusion(ContextDecorator):
    """Choose whether operations of this thread are deferred and fused, in a ``with`` block or a decorated function.

    Operations on arrays of a GPU are deferred, so that one kernel computes several operations and temporary results
    need no memory. Deferral changes no result: any access that could observe a pending operation flushes all pending
    operations first. Use ``"off"`` to measure single operations, and to have each error raised by the line that causes
    it.

    Parameters
    ----------
    mode : {'auto', 'off'}
        ``'auto'``, the default: operations on memory that only PyGPU can reach are deferred. ``'off'``: each operation
        is launched before its call returns.

    Raises
    ------
    ValueError
        If `mode` is neither ``'auto'`` nor ``'off'``; the thread's mode is then unchanged.
    TypeError
        If a generator or a coroutine is decorated: its body does not run inside the call. Use ``with`` in the body.

    See Also
    --------
    flush : Launch the pending operations.
    fusion_report : Count fused operations, and list the reasons why operations were not fused.

    Notes
    -----
    The environment variable ``PYGPU_FUSION`` sets the mode of threads that do not select one. A change of the mode
    flushes the pending operations. Results have the same bits in every mode, except the sign and payload of a NaN.

    Examples
    --------
    >>> import PyGPU
    >>> x = PyGPU.arange(4.0)
    >>> with PyGPU.fusion("off"):
    ...     y = 2 * x + 1
    >>> y.tolist()
    [1.0, 3.0, 5.0, 7.0]

    >>> @PyGPU.fusion("auto")
    ... def step(x):
    ...     return 0.5 * x + 1
    >>> step(x).tolist()
    [1.0, 1.5, 2.0, 2.5]
    """

    def __init__(self, mode: Literal["auto", "off"]) -> None:
        if mode not in _MODES:
            raise ValueError(f"fusion is 'auto' or 'off', and not {mode!r}")
        self._mode = mode
        self._entered = _Entered()

    def __enter__(self) -> None:
        """Set the fusion mode of this thread."""
        self._entered.before.append(_core._set_fusion(self._mode))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Restore the fusion mode that the thread had before the block."""
        before = self._entered.before.pop()
        try:
            _core._set_fusion(before)
        except BaseException:
            # A failed flush discards the pending operations. The thread's mode is restored nevertheless.
            _core._set_fusion(before)
            raise

    def __call__(self, func: _Function) -> _Function:
        """Return a function that calls `func` in this fusion mode."""
        if inspect.isgeneratorfunction(func) or inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
            name = getattr(func, "__qualname__", repr(func))
            raise TypeError(
                f"fusion({self._mode!r}) around {name}, a generator or coroutine, would end before its body runs: "
                f"write `with PyGPU.fusion({self._mode!r}):` in it"
            )
        return super().__call__(func)

    def __repr__(self) -> str:
        """Return a text which states that the object must be used in a ``with`` block or as a decorator."""
        return f"<PyGPU.fusion({self._mode!r}), for `with` or as a decorator>"
