"""Choose whether operations of a thread are deferred."""

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
    """Stack of the modes that a thread had when it entered a block."""

    def __init__(self) -> None:
        self.before: list[str] = []


@public("When it is computed")
class fusion(ContextDecorator):
    """Choose whether operations of this thread are deferred and fused, inside ``with`` or in a function.

    Operations on arrays of a GPU are deferred, so that one kernel computes several of them and temporary results need
    no memory. Deferral changes no result: any access that could observe it flushes the pending operations first. Use
    ``"off"`` to measure single operations, and to have each error raised by the line that causes it.

    Parameters
    ----------
    mode : {'auto', 'off'}
        ``'auto'``, the default: operations on memory that only PyGPU can reach are deferred. ``'off'``: each operation
        is launched before its call returns.

    Raises
    ------
    ValueError
        For another mode; nothing is changed then.
    TypeError
        Around a generator or a coroutine, whose body does not run inside the call: write ``with`` inside of it.

    See Also
    --------
    flush : Launch the pending operations.
    fusion_report : Count fused operations, and explain those that were not.

    Notes
    -----
    The environment variable ``PYGPU_FUSION`` names the mode of threads that have chosen none. A change of the mode
    flushes the pending operations. Results have the same bits in every mode.

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
        """Set the mode."""
        self._entered.before.append(_core._set_fusion(self._mode))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Restore the previous mode."""
        before = self._entered.before.pop()
        try:
            _core._set_fusion(before)
        except BaseException:
            # The pending operations have failed and are gone: the mode must be restored.
            _core._set_fusion(before)
            raise

    def __call__(self, func: _Function) -> _Function:
        """Return a function that runs in the mode."""
        if inspect.isgeneratorfunction(func) or inspect.iscoroutinefunction(func) or inspect.isasyncgenfunction(func):
            name = getattr(func, "__qualname__", repr(func))
            raise TypeError(
                f"fusion({self._mode!r}) around {name}, a generator or coroutine, would end before its body runs: "
                f"write `with PyGPU.fusion({self._mode!r}):` in it"
            )
        return super().__call__(func)

    def __repr__(self) -> str:
        """Describe the usage: the call alone has no effect."""
        return f"<PyGPU.fusion({self._mode!r}), for `with` or as a decorator>"
