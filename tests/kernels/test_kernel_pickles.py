"""Test pickled kernels: in tasks of Dask and Ray, and in processes of multiprocessing."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel, VectorArg
from PyGPU.reduction import ReductionKernel

pytestmark = pytest.mark.enough_on("cpu", "cuda")


class Named(ElementwiseKernel):
    """Define a kernel class whose constructor has other arguments than the base class."""

    def __init__(self, factor: int) -> None:
        super().__init__("const float *x, float *y", f"y[i] = {factor} * x[i]", "times")
        self.factor = factor


def halve() -> ElementwiseKernel:
    return ElementwiseKernel("const float *x, float *y", "y[i] = x[i] / 2", "halve")


def applied(kernel: Any) -> list[float]:
    x = PyGPU.arange(4, dtype="float32")
    y = PyGPU.empty_like(x)
    kernel(x, y)
    return y.tolist()


def test_unpickled_kernel_gives_results_of_original_kernel() -> None:
    assert applied(pickle.loads(pickle.dumps(halve()))) == [0, 0.5, 1, 1.5]
    dot = ReductionKernel(np.float32, "0", "a + b", "x[i] * y[i]", "const float *x, const float *y")
    x = PyGPU.arange(4, dtype="float32")
    assert float(pickle.loads(pickle.dumps(dot))(x, x)) == 14
    total = ReductionKernel(np.dtype("f4"), neutral=0, reduce_expr="a + b", options=["-DMINE=1"], preamble="// none")
    assert float(copy.copy(total)(x)) == 6


def test_pickled_kernel_has_same_constructor_arguments() -> None:
    kernel = ElementwiseKernel(
        [VectorArg(np.float32, "x"), VectorArg(np.float32, "y")],
        "y[i] = twice(x[i]) + more",
        name="whole",
        options=["-DTWO=2"],
        preamble="__device__ float twice(float v) { return TWO * v; }",
        loop_prep="float more = 1",
    )
    again = pickle.loads(pickle.dumps(kernel))
    assert (again.name, again.arguments) == (kernel.name, kernel.arguments)
    assert applied(again) == [1, 3, 5, 7]


def test_kernels_of_equal_pickles_are_compiled_once_per_process() -> None:
    first, second = (pickle.loads(pickle.dumps(halve())) for _ in range(2))
    assert first is second
    other = ElementwiseKernel("const float *x, float *y", "y[i] = x[i] / 4", "halve")
    assert pickle.loads(pickle.dumps(other)) is not first


def test_pickled_kernel_has_same_derived_class_and_attributes() -> None:
    kernel = Named(3)
    kernel.note = "mine"
    again = pickle.loads(pickle.dumps(kernel))
    assert (type(again), again.factor, again.note) == (Named, 3, "mine")
    assert again is not pickle.loads(pickle.dumps(kernel))
    assert applied(again) == [0, 3, 6, 9]
    plain = halve()
    plain.note = "its own"
    assert not hasattr(pickle.loads(pickle.dumps(halve())), "note")
    assert pickle.loads(pickle.dumps(plain)).note == "its own"


def test_pickling_of_uninitialized_kernel_raises() -> None:
    with pytest.raises(RuntimeError, match="__init__"):
        pickle.dumps(ElementwiseKernel.__new__(ElementwiseKernel))
