"""CuPy's deprecated `allow_synchronize`, which has no effect in PyGPU."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

__all__ = ["DeviceSynchronized", "allow_synchronize"]


class DeviceSynchronized(RuntimeError):
    """Error for a synchronization that was not allowed; PyGPU never raises it."""


@contextlib.contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Return a context manager without effect: PyGPU does not detect synchronizations; CuPy deprecated it.

    Parameters
    ----------
    allow : bool
        False warns that nothing is detected.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> with cupyx.allow_synchronize(True):
    ...     pass
    """
    if not allow:
        warnings.warn("allow_synchronize(False): PyGPU does not detect synchronizations", stacklevel=3)
    yield
