"""CuPy's functions `geterr`, `seterr` and `errstate`, which query and set how linear algebra reports failures."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

__all__ = ["errstate", "geterr", "seterr"]

_NAMES = ("divide", "over", "under", "invalid", "linalg")


class _State(threading.local):
    linalg = "ignore"


_state = _State()


def geterr() -> dict[str, Any]:
    """Return how functions of linear algebra currently report failures.

    Returns
    -------
    dict
        The current setting under the key ``'linalg'``; all other values are None, as in CuPy.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> cupyx.geterr()["linalg"]
    'ignore'
    """
    return dict.fromkeys(_NAMES) | {"linalg": _state.linalg}


def seterr(
    *, divide: None = None, over: None = None, under: None = None, invalid: None = None, linalg: str | None = None
) -> dict[str, Any]:
    """Set how functions of linear algebra report failures in this thread.

    Parameters
    ----------
    divide, over, under, invalid : None
        Must be None, because kernels report no floating-point errors.
    linalg : {'ignore', 'raise'}, optional
        Recorded for `geterr`. PyGPU's functions raise `LinAlgError` in both cases, as NumPy's do.

    Returns
    -------
    dict
        The previous settings, as `geterr` returned them.

    Raises
    ------
    NotImplementedError
        If `linalg` has another value, or another parameter is not None.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> old = cupyx.seterr(linalg="raise")
    >>> cupyx.seterr(**old)["linalg"]
    'raise'
    """
    for name, value in zip(_NAMES, (divide, over, under, invalid), strict=False):
        if value is not None:
            raise NotImplementedError(f"seterr({name}={value!r}): kernels report no floating-point errors; pass None")
    if linalg not in (None, "ignore", "raise"):
        raise NotImplementedError(f"seterr(linalg={linalg!r}): 'ignore' and 'raise' are supported")
    old = geterr()
    if linalg is not None:
        _state.linalg = linalg
    return old


@contextlib.contextmanager
def errstate(**kwargs: Any) -> Iterator[None]:
    """Set how functions of linear algebra report failures inside a ``with`` block.

    Parameters
    ----------
    **kwargs : str
        Settings, as for `seterr`.

    Examples
    --------
    >>> from PyGPU import cupyx
    >>> with cupyx.errstate(linalg="raise"):
    ...     cupyx.geterr()["linalg"]
    'raise'
    """
    old = seterr(**kwargs)
    try:
        yield
    finally:
        seterr(**old)
