"""Provide conditions on NumPy's version, because the values and errors of NumPy differ between its versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pytest


def is_numpy(version: str) -> bool:
    """Return whether the installed NumPy has at least the given version, such as "2.2"."""
    return np.lib.NumpyVersion(np.__version__) >= f"{version}.0"


def since_numpy(version: str, what: str) -> pytest.MarkDecorator:
    """Return a marker that skips a test before the given version of NumPy; the reason names the new behaviour."""
    import pytest  # The programs soak.py and fusion_soak.py use this module without pytest.

    return pytest.mark.skipif(not is_numpy(version), reason=f"new in NumPy {version}: {what}")


def numpy_function(name: str) -> Any:
    """Return a function of NumPy whose results are those of later versions of NumPy.

    Before version 2.1, NumPy returned floats for `floor`, `ceil` and `trunc` of integers. The returned function instead
    copies the integers. Before version 2.3, `sinc` of a zero of float16 was NaN instead of 1.
    """
    function = getattr(np, name)
    if name == "sinc" and not is_numpy("2.3"):
        return lambda array: np.where((array == 0) & (array.dtype == "float16"), np.float16(1), function(array))
    if name not in ("floor", "ceil", "trunc") or is_numpy("2.1"):
        return function
    return lambda array: array.copy() if array.dtype.kind in "biu" else function(array)


def expect_failure_of_rounding(name: str) -> None:
    """Expect a test of `floor`, `ceil` or `trunc` to fail before NumPy 2.1, which returns floats for integers."""
    if name in ("floor", "ceil", "trunc") and not is_numpy("2.1"):
        import pytest

        pytest.xfail("NumPy's floats do not fit PyGPU's result of integers")
