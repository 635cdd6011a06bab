"""Start and stop of an attached profiler's recording."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PyGPU._pycuda.driver.profiler import start_profiler as start, stop_profiler as stop

__all__ = ["profile", "start", "stop"]


@contextmanager
def profile() -> Iterator[None]:
    """Let an attached profiler record inside a ``with`` block.

    .. deprecated:: 10.0
        Use `cupyx.profiler.profile`.

    Examples
    --------
    >>> import warnings
    >>> from PyGPU.cupy import cuda
    >>> with warnings.catch_warnings(action="ignore"), cuda.profile():
    ...     pass
    """
    warnings.warn(
        "cupy.cuda.profile has been deprecated since CuPy v10 and will be removed in the future. Use "
        "cupyx.profiler.profile instead.",
        stacklevel=3,
    )
    start()
    try:
        yield
    finally:
        stop()
