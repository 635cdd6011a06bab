"""Test that error messages contain the given argument, the expected type or value, and the remedy."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import PyGPU
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from support_kernels import needs_kernels

NDARRAY = "is an ndarray of shape (2, 3) and dtype float64 in host memory"
OUT = ("expected a GPUArray", "write out=PyGPU.empty(shape, dtype)", ".get()")
OPERAND = ("expected a GPUArray, a number, or a list of numbers", "write PyGPU.to_gpu(values)")
MASK = ("expected a bool or a GPUArray of bool", "write where=PyGPU.to_gpu(mask)")
TO_GPU = ("in host memory", "PyGPU.to_gpu(x)")
SHAPE = "expected an integer or a tuple of integers"
VALUES = "expected an array, a number, or a list of numbers"
INDEX = ("write indices.astype('int64')", "x > 0")

# Each entry has an expression, and the parts of the expression's error message in the order in which they occur. `x`
# has shape (2, 3), and `h` is an ndarray of this shape.
MESSAGES: dict[str, tuple[str, ...]] = {
    "PyGPU.add(x, 1, out=h)": ("add(): out= ", NDARRAY, *OUT),
    "PyGPU.add(x, 1, h)": ("add(): out= ", NDARRAY, *OUT),
    "PyGPU.add(x, 1, out=[1, 2])": ("add(): out= is a list of length 2", *OUT[:2]),
    "PyGPU.modf(x, out=(None, h))": ("modf(): out= ", NDARRAY, *OUT),
    "PyGPU.sum(x, out=h)": ("sum(): out= ", NDARRAY, *OUT),
    "x.mean(out=h)": ("mean(): out= ", NDARRAY, *OUT),
    "PyGPU.argmax(x, out=h)": ("argmax(): out= ", NDARRAY, *OUT),
    "PyGPU.cumsum(x, out=h)": ("cumsum(): out= ", NDARRAY, *OUT),
    "PyGPU.matmul(x, x.T, out=h)": ("matmul(): out= ", NDARRAY, *OUT),
    "PyGPU.clip(x, 0, 1, out=h)": ("clip(): out= ", NDARRAY, *OUT),
    "PyGPU.fft.fft(x, out=h)": ("fft(): out= ", NDARRAY, *OUT),
    "PyGPU.concatenate([x, x], out=h)": ("concatenate(): out= ", NDARRAY, *OUT),
    "PyGPU.round(x, out=h)": ("out= ", NDARRAY, *OUT),
    "PyGPU.take(x, [1], out=h)": ("out= ", NDARRAY, *OUT),
    "PyGPU.random.default_rng(0).random(out=h)": ("out= ", NDARRAY, *OUT),
    "PyGPU.sin(None)": ("sin(): the operand is None", *OPERAND),
    "PyGPU.sin('a')": ("sin(): the operand is 'a' (str)", *OPERAND),
    "PyGPU.sin({})": ("sin(): the operand is a dict of length 0", *OPERAND),
    "PyGPU.sin(object())": ("sin(): the operand is an object of type object", *OPERAND),
    "PyGPU.add(x, None)": ("add(): operand 2 is None", *OPERAND),
    "PyGPU.multiply.outer(x, None)": ("multiply(): operand 2 is None", *OPERAND),
    "PyGPU.matmul(x, None)": ("matmul(): operand 2 is None", *OPERAND),
    "PyGPU.where(None, x, x)": ("where(): operand 1 is None", *OPERAND),
    "PyGPU.clip(x, 'a', 2)": ("clip(): operand 2 is 'a' (str)", *OPERAND),
    "operator.iadd(x, None)": ("add(): operand 2 is None", *OPERAND),
    "operator.imatmul(x, 'a')": ("matmul(): operand 2 is 'a' (str)", *OPERAND),
    "PyGPU.add(x, h)": TO_GPU,
    "x + h": TO_GPU,
    "operator.iadd(x, h)": TO_GPU,
    "PyGPU.add(x, 1, where=[True])": ("add(): where= is a list of length 1", *MASK),
    "PyGPU.add(x, 1, where=h)": ("add(): where= ", NDARRAY, *MASK),
    "x.max(where=h)": ("max(): where= ", NDARRAY, *MASK),
    "PyGPU.sum(None)": ("expected a GPUArray, not None", "PyGPU.asarray(x)"),
    "PyGPU.dot(x, None)": ("dot: expected a GPUArray, not None", "PyGPU.asarray(x)"),
    "PyGPU.fft.fft('a')": ("fft: expected a GPUArray, not str", "PyGPU.asarray(x)"),
    "PyGPU.max([x])": ("expected a GPUArray, not a list of arrays", "PyGPU.asarray(x) joins"),
    "PyGPU.allclose(x, h)": ("allclose: the ndarray", *TO_GPU),
    "PyGPU.concatenate(x, x)": ("concatenate(): argument 2 is a GPUArray", "write PyGPU.concatenate((a, b))"),
    "PyGPU.stack(x, x)": ("stack(): argument 2 is a GPUArray", "write PyGPU.stack((a, b))"),
    "PyGPU.concatenate(None)": ("concatenate(): the argument is None", "a tuple or list", "concatenate((a, b))"),
    "PyGPU.stack(5)": ("stack(): the argument is 5 (int)", "a tuple or list", "stack((a, b))"),
    "PyGPU.einsum(x, x)": ("einsum(): argument 2 is a GPUArray", "expected subscripts", "write PyGPU.einsum('"),
    "PyGPU.Stream(5)": ("non_blocking is 5 (int)", "expected a bool", "write Stream.from_handle(handle)"),
    "PyGPU.Stream(None)": ("non_blocking is None", "expected a bool"),
    "PyGPU.Event(5)": ("Event(): timing is 5 (int)", "expected a bool", "write Event(timing=False)"),
    "x.get(stream=5.5)": ("the stream is 5.5 (float)", "expected None, a Stream", "write PyGPU.Stream()"),
    "PyGPU.zeros(3, device=5.5)": ("the device is 5.5 (float)", "expected None, an int, a name such as"),
    "PyGPU.arange(PyGPU.array(3))": ("arange(): argument 1 is a GPUArray", "expected a number", "write x.item()"),
    "PyGPU.arange(0, 9, PyGPU.array(3))": ("arange(): argument 3 is a GPUArray", "write x.item()"),
    "PyGPU.arange('a')": ("arange(): argument 1 is 'a' (str)", "expected a number"),
    "PyGPU.arange(None)": ("arange(): argument 1 is None", "expected a number"),
    "PyGPU.arange([3])": ("arange(): argument 1 is a list of length 1", "write PyGPU.array(values)"),
    "PyGPU.zeros(3.0)": ("the shape is 3.0 (float)", SHAPE, "write int(value)"),
    "PyGPU.zeros(None)": ("the shape is None", SHAPE),
    "PyGPU.zeros((2, 3.5))": ("a shape holds 3.5 (float)", "expected integers", "write int(value)"),
    "PyGPU.zeros(2, 3)": ("Cannot interpret '3' as a data type", "one tuple, as in zeros((2, 3))"),
    "x.reshape(2.0, 3)": ("a shape holds 2.0 (float)", "expected integers", "write int(value)"),
    "x.sum(axis='a')": ("axis holds 'a' (str)", "expected integers"),
    "x.sum(axis=1.0)": ("axis holds 1.0 (float)", "expected integers", "write int(value)"),
    "PyGPU.zeros(3, dtype='flaot32')": ("data type 'flaot32' not understood", "write 'float32'"),
    "x.astype('int 32')": ("data type 'int 32' not understood", "write 'int32'"),
    "x.view('Float64')": ("data type 'Float64' not understood", "write 'float64'"),
    "PyGPU.sin(x, dtype='xyz')": ("data type 'xyz' not understood", "expected a name such as 'float32'"),
    "PyGPU.array(None)": ("asarray: the argument is None", VALUES),
    "PyGPU.to_gpu(None)": ("the argument is None", VALUES),
    "PyGPU.asarray(object())": ("asarray: the argument is an object of type object", VALUES),
    "x[f]": ("must be of integer", "a GPUArray of shape (3,) and dtype float32", *INDEX),
    "x[h]": ("must be of integer", "an ndarray of shape (2, 3) and dtype float64", *INDEX),
    "operator.setitem(x, f, 1)": ("must be of integer", "a GPUArray of shape (3,) and dtype float32", *INDEX),
    "x[1.0]": ("only integers", "got 1.0 (float)"),
    "x['a']": ("only integers", "got 'a' (str)"),
    "PyGPU.array(3.0)[:]": ("array is 0-dimensional", "write x.item() or x[()]"),
    "PyGPU.array(3.0)[0]": ("array is 0-dimensional", "write x.item() or x[()]"),
    "x.get(out=[1])": ("get(): out= is a list", "of shape (2, 3) and dtype float64", "write out=numpy.empty((2, 3)"),
    "x.get(out=x)": ("get(): out= is a GPUArray", "expected a numpy.ndarray", "write out=numpy.empty((2, 3)"),
    "PyGPU.copyto(h, x)": ("copyto(): the target ", NDARRAY, "expected a GPUArray", "write source.get(out=target)"),
    "PyGPU.random.shuffle(h)": ("random.shuffle(): the target ", NDARRAY, "write numpy.random.shuffle(...)"),
    "PyGPU.histogram(h)": ("histogram():", "expected a GPUArray", "write PyGPU.to_gpu(x)"),
    "PyGPU.add(x, 1, foo=3)": ("unexpected keyword argument 'foo'", "it takes out, where"),
    "PyGPU.profile.benchmark(PyGPU.sin, x)": ("args= is a GPUArray", "expected a tuple", "write args=(x,)"),
}

KERNEL_MESSAGES: dict[str, tuple[str, ...]] = {
    "kernel(f, 3)": ("without a grid and a block", "expected kernel[grid, block](*arguments)", "write for example k["),
    "kernel[1, 1](x, 3)": ("argument 1 (float* a): the array is float64", "expected float32", "x.astype('float32')"),
    "kernel[1, 1](f, f)": ("argument 2 (int n): the argument is an array", "expected a number", "write x.item()"),
    "kernel[1, 1](f, 3.5)": ("argument 2 (int n): 3.5 is no integer", "write int(3.5)"),
    "each(x, 1)": ("argument 1 (float *z): the array is float64", "expected float32", "write x.astype('float32')"),
    "each(None, 1)": ("argument 1 (float *z): the argument is None", "expected a GPUArray", "write PyGPU.to_gpu(x)"),
    "each([1.0], 1)": ("argument 1 (float *z): the argument is a list", "write PyGPU.to_gpu(x)"),
    "each(f, 1.5)": ("argument 2 (int m): the argument is 1.5 (float)", "of type int32", "write int(value)"),
    "each(f, None)": ("argument 2 (int m): the argument is None", "expected a number of type int32"),
    "total(x)": ("argument 1 (float *v): the array is float64", "expected float32", "write x.astype('float32')"),
    "total(f, out=h)": ("total(): out= ", NDARRAY, *OUT),
}


def assert_message(expression: str, parts: tuple[str, ...], **names: Any) -> None:
    host = np.arange(6.0).reshape(2, 3)
    x = PyGPU.to_gpu(host)
    values = {"PyGPU": PyGPU, "operator": operator, "x": x, "h": host, "f": PyGPU.arange(3, dtype="float32"), **names}
    with pytest.raises((TypeError, ValueError, IndexError)) as caught:
        eval(expression, values)
    text, position = str(caught.value), 0
    for part in parts:
        position = text.find(part, position)
        assert position >= 0, f"{part!r} is not in {text!r}"
    assert "array([" not in text
    assert "Array([" not in text
    np.testing.assert_array_equal(x.get(), host)
    np.testing.assert_array_equal(host, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("expression", MESSAGES)
def test_error_message_contains_argument_expected_type_and_remedy(expression: str) -> None:
    assert_message(expression, MESSAGES[expression])


@needs_kernels
def test_kernel_error_contains_argument_expected_type_and_remedy() -> None:
    source = 'extern "C" __global__ void k(float *a, int n) { a[0] = n; }'
    kernels = {
        "kernel": PyGPU.Kernel(source, "k"),
        "each": ElementwiseKernel("float *z, int m", "z[i] = m", "each"),
        "total": ReductionKernel(np.float32, "0", "a+b", arguments="float *v", name="total"),
    }
    for expression, parts in KERNEL_MESSAGES.items():
        assert_message(expression, parts, **kernels)


def test_array_equal_accepts_host_arrays_like_numpy() -> None:
    host = np.array([[0.0, 1.0, np.nan], [3.0, 4.0, 5.0]])
    x = PyGPU.to_gpu(host)
    for other in (host, host + 0.0, host[0], host.astype(np.float32), host + 1, None, "a", np.array("a")):
        for equal_nan in (False, True):
            if equal_nan and not isinstance(other, np.ndarray | None):
                continue
            try:
                expected = np.array_equal(host, other, equal_nan=equal_nan)
            except TypeError as error:
                with pytest.raises(type(error)):
                    PyGPU.array_equal(x, other, equal_nan=equal_nan)
                continue
            assert PyGPU.array_equal(x, other, equal_nan=equal_nan) is expected
            assert PyGPU.array_equal(other, x, equal_nan=equal_nan) is expected
            assert np.array_equal(x, other, equal_nan=equal_nan) is expected
