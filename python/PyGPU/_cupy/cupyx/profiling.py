"""Functions of `cupyx.profiler` that name ranges in a profiler's timeline, and start and stop the profiler."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from PyGPU._cupy.cuda import nvtx
from PyGPU._cupy.cuda.runtime import devices_and_memory as runtime

__all__ = ["profile", "time_range"]


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """Make the profiler under which the process runs record a ``with`` block.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> with cupyx.profiler.profile():
    ...     pass
    """
    runtime.profilerStart()
    try:
        yield
    finally:
        runtime.deviceSynchronize()
        runtime.profilerStop()


class time_range:
    """Name a block or the calls of a function in the profiler's timeline.

    Parameters
    ----------
    message : str, optional
        Label of the range; defaults to the decorated function's name.
    color_id, argb_color : int, optional
        Accepted for compatibility with CuPy; it has no effect, because the profiler chooses the colour.
    sync : bool, optional
        Whether to wait for the device before the range begins and ends.

    Raises
    ------
    ValueError
        If both colours are given, or if a block has no message.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> with cupyx.profiler.time_range("first step", color_id=0):
    ...     pass
    """

    def __init__(
        self,
        message: str | None = None,
        color_id: int | None = None,
        argb_color: int | None = None,
        sync: bool = False,
    ) -> None:
        if color_id is not None and argb_color is not None:
            raise ValueError(f"time_range: color_id={color_id} and argb_color={argb_color} exclude each other")
        self.message, self.sync = message, sync
        self.color_id, self.argb_color = color_id, argb_color

    def __enter__(self) -> time_range:
        if self.message is None:
            raise ValueError('time_range: a block needs a label: write time_range("label")')
        if self.sync:
            runtime.deviceSynchronize()
        if self.argb_color is not None:
            nvtx.RangePushC(self.message, self.argb_color)
        else:
            nvtx.RangePush(self.message, -1 if self.color_id is None else self.color_id)
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.sync:
            runtime.deviceSynchronize()
        nvtx.RangePop()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if self.message is None:
            self.message = func.__name__

        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return call
