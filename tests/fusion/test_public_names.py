"""Test public functions and array attributes with pending operands: results are the same as in the fusion mode "off".

Each call or attribute must also flush the pending operations, unless `fusion_support/calls.py` lists the name as one
that needs no flush. The tests fail for a new public name until this file contains a call of the name or lists the name.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import PyGPU
from fusion_support import calls
from fusion_support.operation_counts import waiting
from fusion_support.public_name_calls import (
    HOST,
    UNINITIALISED,
    attributes,
    compile_together,
    first_that_works,
    guesses_of,
    hosts,
    public_functions,
    same,
    ways_of,
)
from support import print_each

pytestmark = [pytest.mark.enough_on("cuda"), pytest.mark.filterwarnings("ignore")]


def count_pending_after_call(name: str, call: Callable[[Any], Any], expected: Any) -> int:
    """Call a function with a pending operand, check the result, and return how many operations are still pending.

    Two operations are pending before the call: one that computes the operand, and an unrelated operation.
    """
    base, other = PyGPU.to_gpu(HOST - 1), PyGPU.to_gpu(HOST)
    x, beside = base + 1, other * 2
    assert waiting() == 2
    result = call(x)
    left = waiting()
    assert name in UNINITIALISED or same(hosts(result), expected), (hosts(result), expected)
    np.testing.assert_array_equal(beside.get(), HOST * 2)
    np.testing.assert_array_equal(base.get(), HOST - 1)
    return left


def test_public_function_flushes_pending_operand_or_is_listed_as_exempt() -> None:
    base = PyGPU.to_gpu(HOST - 1)
    called = [name for name in public_functions() if name not in calls.NOT_CALLED]
    compile_together(map(guesses_of, called))
    for name in print_each(called):
        function = getattr(PyGPU, name)
        with contextlib.redirect_stdout(io.StringIO()):
            call, expected = first_that_works(guesses_of(name), base)
            left = count_pending_after_call(name, call, expected)
        if name in calls.QUIET:
            assert left == 2, name
        elif not isinstance(function, (PyGPU.Ufunc, PyGPU.Reduction)) and name not in calls.COMPOSED:
            assert left == 0, name


def test_array_attribute_flushes_pending_array_or_is_listed_as_exempt() -> None:
    base = PyGPU.to_gpu(HOST - 1)
    compile_together(map(ways_of, attributes()))
    for name in print_each(attributes()):
        call, expected = first_that_works(ways_of(name), base)
        left = count_pending_after_call(name, call, expected)
        if name in calls.QUIET_ATTRIBUTES:
            assert left == 2, name
        elif name not in calls.WAITING_ATTRIBUTES:
            assert left == 0, name


def test_lists_of_names_that_need_no_flush_contain_only_public_names() -> None:
    functions = set(public_functions())
    assert (calls.QUIET | calls.COMPOSED | set(calls.FUNCTIONS) | set(calls.NOT_CALLED)) - functions == set()
    attributes = calls.QUIET_ATTRIBUTES | calls.WAITING_ATTRIBUTES | set(calls.REFUSED_ATTRIBUTES) | set(calls.METHODS)
    assert attributes - set(dir(PyGPU.GPUArray)) == set()
