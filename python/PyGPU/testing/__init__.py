"""Assertions for tests, as in `numpy.testing`; NumPy compares copies of device arrays on the host.

Each function accepts device arrays, host arrays, numbers, and lists, tuples and dicts of these. The host waits for the
values. Arguments, messages and errors are the same as in NumPy.
"""

from PyGPU._names import public_modules as _public_modules
from PyGPU._testing.assertions import (
    assert_allclose,
    assert_almost_equal,
    assert_approx_equal,
    assert_array_almost_equal,
    assert_array_almost_equal_nulp,
    assert_array_equal,
    assert_array_less,
    assert_array_max_ulp,
    assert_equal,
    assert_raises,
    assert_raises_regex,
    assert_string_equal,
    assert_warns,
)

__all__ = [
    "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_equal", "assert_array_less", "assert_array_max_ulp", "assert_equal",
    "assert_raises", "assert_raises_regex", "assert_string_equal", "assert_warns",
]  # fmt: skip


_public_modules.publish(globals())
