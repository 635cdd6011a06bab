"""CuPy's deprecated context manager `allow_synchronize`, which PyGPU accepts without an effect."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator

__all__ = ["DeviceSynchronized", "allow_synchronize"]


class DeviceSynchronized(RuntimeError):
    """CuPy's error for a synchronization inside ``allow_synchronize(False)``; PyGPU never raises it."""


@contextlib.contextmanager
def allow_synchronize(allow: bool) -> Iterator[None]:
    """Return a context manager that has no effect, because PyGPU does not detect synchronizations; deprecated in CuPy.

    Parameters
    ----------
    allow : bool
        If False, the function warns that PyGPU detects no synchronizations.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> with cupyx.allow_synchronize(True):
    ...     pass
    """
    if not allow:
        warnings.warn("allow_synchronize(False): PyGPU does not detect synchronizations", stacklevel=3)
    yield
