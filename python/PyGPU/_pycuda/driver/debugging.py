"""PyCUDA's switch for debugging device code."""

from __future__ import annotations

__all__ = ["set_debugging"]

_is_on = False


def set_debugging(flag: bool = True) -> None:
    """Enable or disable debugging. If enabled, sources are compiled with the options ``-g -G``.

    Parameters
    ----------
    flag : bool, optional
        Whether to enable or disable debugging.

    Examples
    --------
    >>> import PyGPU.driver as drv
    >>> drv.set_debugging(False)
    """
    global _is_on
    _is_on = flag


def debugging_options() -> list[str]:
    """Return the compiler options for debugging; an empty list if debugging is disabled."""
    return ["-G"] if _is_on else []


def is_debugging() -> bool:
    """Return whether debugging is enabled."""
    return _is_on
