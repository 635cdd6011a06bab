"""Test what users of PyCUDA try first with PyGPU, and the errors for features that PyGPU lacks."""

from __future__ import annotations

import asyncio
import pickle
import subprocess
import sys
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCE = """
__global__ void wide(long long *out, size_t n, long long a, short b, unsigned c) {
    out[0] = n; out[1] = a; out[2] = b; out[3] = c;
}
"""


class Text:
    """Define a source object that converts to text, like a template."""

    def __str__(self) -> str:
        return SOURCE


@pytest.fixture(scope="module")
def wide() -> drv.Function:
    return SourceModule(Text()).get_function("wide")


def test_enumeration_members_print_their_names():
    assert str(drv.device_attribute.WARP_SIZE) == f"{drv.device_attribute.WARP_SIZE}" == "WARP_SIZE"
    assert repr(drv.device_attribute.WARP_SIZE) == "PyGPU.driver.device_attribute.WARP_SIZE"
    assert f"{drv.device_attribute.WARP_SIZE:d}" == "10"
    assert drv.device_attribute.names["WARP_SIZE"] is drv.device_attribute.values[10] is drv.device_attribute.WARP_SIZE
    assert pickle.loads(pickle.dumps(drv.limit.STACK_SIZE)) is drv.limit.STACK_SIZE


@pytest.mark.parametrize("name", [name for name in dir(drv) if isinstance(getattr(drv, name), type(IntEnum))])
def test_enumeration_maps_names_to_values_and_values_to_names(name):
    enumeration = getattr(drv, name)
    assert enumeration.names == dict(enumeration.__members__)
    for number, member in enumeration.values.items():
        assert number == member
        assert enumeration.names[str(member)] is member


def test_launch_widens_integer_narrower_than_parameter(wide):
    out = PyGPU.zeros(4, np.int64)
    wide(out, np.uint32(2**32 - 1), np.int8(-3), np.int8(-4), np.uint8(255), block=(1, 1, 1))
    assert out.get().tolist() == [2**32 - 1, -3, -4, 255]
    wide(out, np.int16(5), np.uint32(2**31), np.uint8(200), np.uint16(7), block=(1, 1, 1))
    assert out.get().tolist() == [5, 2**31, 200, 7]


@pytest.mark.parametrize("n", [np.int32(-1), np.float32(1), np.bool_(1)])
def test_launch_rejects_scalar_that_parameter_cannot_hold(wide, n):
    with pytest.raises(TypeError, match="size_t n"):
        wide(PyGPU.zeros(4, np.int64), n, np.int64(0), np.int16(0), np.uint32(0), block=(1, 1, 1))


@pytest.mark.parametrize("source", [b"__global__ void f() {}", None])
def test_source_module_rejects_bytes_as_source(source):
    with pytest.raises(TypeError, match="source is a text"):
        SourceModule(source)


def test_methods_of_argument_handler_are_called_before_and_after_launch(wide):
    said = []

    class Handler(drv.ArgumentHandler):
        def __init__(self, array, name):
            super().__init__(array)
            self.name = name

        def pre_call(self, stream):
            said.append(("pre", self.name, stream))
            drv.memset_d8(self.get_device_alloc(), 0, self.array.nbytes)

        def post_call(self, stream):
            said.append(("post", self.name, stream))
            drv.memcpy_dtoh(self.array, self.get_device_alloc())

    out, stream = np.ones(4, np.int64), drv.Stream()
    wide(Handler(out, "x"), np.uint64(1), np.int64(2), np.int16(3), np.uint32(4), block=(1, 1, 1))
    assert out.tolist() == [1, 2, 3, 4]
    wide(Handler(out, "y"), np.uint64(9), np.int64(2), np.int16(3), np.uint32(4), block=(1, 1, 1), stream=stream)
    assert said == [("pre", "x", None), ("post", "x", None), ("pre", "y", stream), ("post", "y", stream)]
    assert isinstance(drv.In(out), drv.ArgumentHandler)
    assert not isinstance(out, drv.ArgumentHandler)


def test_item_of_module_is_kernel_of_that_name():
    module = PyGPU.Module(SOURCE)
    assert module["wide"].name == "wide"
    with pytest.raises(KeyError, match="narrow"):
        module["narrow"]


def test_round_of_arrays_matches_python_and_numpy():
    a = PyGPU.to_gpu(np.array([2.567, -1.5]))
    assert round(a[0]) == 3
    assert isinstance(round(a[0]), int)
    assert round(a[0], 1) == 2.6
    assert round(a, 1).get().tolist() == [2.6, -1.5]
    assert round(a).get().tolist() == [3, -2]
    assert round(PyGPU.to_gpu(np.array(1234)), -2) == 1200


def test_events_and_streams_are_awaitable():
    async def work() -> list[float]:
        stream = PyGPU.Stream()
        with stream:
            a = PyGPU.zeros(1000)
            for _ in range(20):
                a += 1
            event = PyGPU.Event().record()
        await asyncio.gather(_until(event), _until(stream), _until(drv.Event().record()))
        assert event.query()
        return a[:2].tolist()

    assert asyncio.run(work()) == [20, 20]


async def _until(what) -> None:
    await what


def test_error_for_kernel_arguments_in_cupy_order_names_pycuda_order():
    with pytest.raises(TypeError, match=r"look like CuPy's.*ElementwiseKernel\(arguments, operation, name\)"):
        ElementwiseKernel("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_diff")
    with pytest.raises(TypeError, match=r"look like CuPy's.*ReductionKernel\(dtype_out"):
        ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "l2norm")


def test_get_async_rejects_ndarray_as_stream():
    with pytest.raises(TypeError, match=r"write a.get_async\(ary=ary\)"):
        PyGPU.zeros(3).get_async(np.zeros(3))


def test_error_messages_show_shapes_as_tuples():
    a = PyGPU.zeros(3)
    for call in (lambda: a.set(np.zeros((2, 2))), lambda: a.get(np.zeros((2, 2)))):
        with pytest.raises(ValueError, match=r"shape \(2, 2\), the array \(3,\)"):
            call()
    with pytest.raises(ValueError, match=r"out has shape \(2,\) and the result \(\)"):
        PyGPU.sum(a, out=PyGPU.zeros(2))


@pytest.mark.enough_on("cpu")
def test_version_option_of_command_prints_version():
    said = subprocess.run([sys.executable, "-m", "PyGPU", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout == f"PyGPU {PyGPU.__version__}\n"


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(("example", "library"), [("mandelbrot.py", "PIL"), ("mpi_scatter.py", "mpi4py")])
def test_example_prints_name_of_missing_library(example, library, tmp_path):
    path = str(EXAMPLES / example)
    code = f"import sys, runpy; sys.modules[{library!r}] = None; sys.argv = ['x', 'y.png']; runpy.run_path({path!r}, "
    code += "run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 1
    assert "is not installed: pip install" in done.stderr
    assert "Traceback" not in done.stderr
