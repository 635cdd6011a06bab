"""PyCUDA's switch for debugging device code."""

from __future__ import annotations

__all__ = ["set_debugging"]

_is_on = False


def set_debugging(flag: bool = True) -> None:
    """Compile what is compiled from now on with ``-g -G``.

    Parameters
    ----------
    flag : bool, optional
        Whether.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.set_debugging(False)
    """
    global _is_on
    _is_on = flag


def debugging_options() -> list[str]:
    """Give the compiler's options for debugging, if it is on."""
    return ["-G"] if _is_on else []


def is_debugging() -> bool:
    """Tell whether it is on."""
    return _is_on
