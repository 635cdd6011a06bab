"""Test docstrings that are completed by sections from the docstring of another function."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

from PyGPU._names.docstrings import documented_like


def scale(a: Any, axis: int, by: float, *, out: Any = None) -> Any:
    """Multiply elements.

    Of any type.

    Parameters
    ----------
    a : GPUArray
        The elements.
    axis, by : number
        The axis, and the factor.
    out : GPUArray, optional
        The result.

    Returns
    -------
    GPUArray

    Raises
    ------
    ValueError
        For a wrong axis.

    Examples
    --------
    >>> scale(1, 2, 3)
    """


def completed(function: Callable[..., Any]) -> str:
    assert documented_like(scale)(function) is function
    assert function.__doc__ is not None
    return function.__doc__


def test_own_docstring_entries_replace_entries_of_copied_docstring() -> None:
    def shift(a: Any, axis: int, by: float, *, out: Any = None) -> Any:
        """Add to elements.

        Parameters
        ----------
        out : GPUArray, optional
            The sum.

        Returns
        -------
        GPUArray
            The sum.

        Examples
        --------
        >>> shift(1, 2, 3)
        """

    assert completed(shift) == (
        "Add to elements.\n\nParameters\n----------\na : GPUArray\n    The elements.\n"
        "axis, by : number\n    The axis, and the factor.\nout : GPUArray, optional\n    The sum.\n\n"
        "Returns\n-------\nGPUArray\n    The sum.\n\nRaises\n------\nValueError\n    For a wrong axis.\n\n"
        "Examples\n--------\n>>> shift(1, 2, 3)"
    )


def test_completed_parameters_follow_order_of_signature() -> None:
    def shift(by: float, a: Any, b: Any) -> Any:
        """Add.

        Parameters
        ----------
        b : float
            More.
        by : float
            How much.
        """

    assert completed(shift) == (
        "Add.\n\nParameters\n----------\nby : float\n    How much.\na : GPUArray\n    The elements.\n"
        "b : float\n    More.\n\nReturns\n-------\nGPUArray\n\nRaises\n------\nValueError\n    For a wrong axis."
    )


def test_package_can_be_imported_without_docstrings() -> None:
    program = "import PyGPU.fft\nprint(PyGPU.fft.fft2.__name__, PyGPU.fft.fft2.__doc__)"
    done = subprocess.run([sys.executable, "-OO", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "fft2 None\n"
