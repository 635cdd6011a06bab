"""CuPy's module `cupy.cuda.profiler`, whose functions start and stop the recording of an attached profiler."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PyGPU._names import public_modules as _public_modules
from PyGPU._pycuda.driver.profiler import start_profiler as start, stop_profiler as stop

__all__ = ["profile", "start", "stop"]


@contextmanager
def profile() -> Iterator[None]:
    """Make an attached profiler record a ``with`` block.

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


_public_modules.publish(globals())
