"""Test that a function gives the same bits in a fused kernel as in a separate kernel."""

from __future__ import annotations

import contextlib
import functools
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from fusion_support.operation_counts import OperationCounts, limits, mode
from fusion_support.state_machine import agree
from PyGPU import _core
from support import print_each

pytestmark = pytest.mark.filterwarnings("ignore")
RANDOM = np.random.default_rng(11)
SPECIAL = np.array([0, -0.0, 1, -1, 0.5, np.inf, -np.inf, np.nan, 1e-40, 3e38, -2.5, 1e-30], "float32")
HOSTS = {
    "float32": (np.concatenate([SPECIAL, RANDOM.normal(size=52).astype("float32")]), RANDOM.normal(size=64) * 3),
    "int32": (RANDOM.integers(-(2**31), 2**31, 64), RANDOM.integers(1, 30, 64)),
}


def ufuncs() -> list[str]:
    """Return one name for each ufunc with one result, without aliases."""
    found = {}
    for name in PyGPU.__all__:
        value = getattr(PyGPU, name)
        if isinstance(value, PyGPU.Ufunc) and value.nout == 1 and value.nin in (1, 2):
            found.setdefault(value.__name__, name)
    return sorted(found.values())


def apply_between_functions(function: Any, x: Any, y: Any) -> Any:
    """Apply the function to a pending operand, and use the result in another operation, so that one kernel can compute
    all three operations."""
    operands = (x + x, y)[: function.nin]
    made = function(*operands)
    return [made, PyGPU.where(made == made, made, 0) + made]


def call_in_both_ways(function: Any, first: Any, second: Any) -> None:
    """Call a function with the fusion mode "off", then with pending operands."""
    with contextlib.suppress(TypeError):  # The ufunc does not support the dtype.
        with mode("off"):
            apply_between_functions(function, first, second)
        results = apply_between_functions(function, first, second)
        _core.flush()
        del results


@pytest.mark.enough_on("cuda")
@pytest.mark.sampled
@pytest.mark.parametrize("part", [0, 1])
@pytest.mark.parametrize("dtype", HOSTS)
def test_function_in_fused_and_in_separate_kernel_gives_same_bits(dtype: str, part: int) -> None:
    first, second = (PyGPU.to_gpu(host.astype(dtype)) for host in HOSTS[dtype])
    names = ufuncs()[part::2]
    with limits(compile_threshold=1):
        simulated_driver.compile_together(
            [functools.partial(call_in_both_ways, getattr(PyGPU, name), first, second) for name in names], rounds=5
        )
    fused = 0
    for name in print_each(names):
        function = getattr(PyGPU, name)
        try:
            with mode("off"):
                expected = [array.get() for array in apply_between_functions(function, first, second)]
        except TypeError:
            continue  # The ufunc does not support the dtype.
        with limits(compile_threshold=1):
            counted = OperationCounts()
            got = apply_between_functions(function, first, second)
            _core.flush()
            fused += counted["fused"]
        for one, other in zip(got, expected, strict=True):
            assert agree(one.get(), other), name
    assert fused > 10


REDUCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "argmax", "argmin"]


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize(("shape", "axis"), [((7,), None), ((1000,), 0), ((37, 65), 0), ((37, 65), -1), ((5, 6, 7), 1)])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reduction_gives_same_bits_for_pending_and_for_computed_operand(
    name: str, shape: tuple[int, ...], axis: int | None, dtype: str
) -> None:
    x = PyGPU.to_gpu((RANDOM.normal(size=shape) * 9).astype(dtype))
    with mode("off"):
        expected = getattr((x - 3) * x, name)(axis=axis).get()
    with limits(compile_threshold=1):
        got = getattr((x - 3) * x, name)(axis=axis)
        assert agree(got.get(), expected)
