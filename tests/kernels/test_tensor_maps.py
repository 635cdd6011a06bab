"""Test tensor maps: errors for invalid maps, and maps as kernel arguments.

The tests in tests/gpu copy arrays by tensor maps.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver

SOURCE = """
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
extern "C" __global__ void words(const __grid_constant__ CUtensorMap map, unsigned long long *out) {
    out[threadIdx.x] = threadIdx.x < 16 ? map.opaque[threadIdx.x] : (unsigned long long)&map % 64;
}
"""
MARK = int.from_bytes(b"\0TENSOR\0", "little")
cuda_only = pytest.mark.skipif(PyGPU.backend_name() != "cuda", reason="tensor maps are NVIDIA's")


@pytest.fixture(scope="module")
def words() -> PyGPU.Kernel:
    if simulated_driver.driver() is None:
        pytest.skip("reads the descriptor of the simulated driver")
    return PyGPU.Kernel(SOURCE)


@pytest.fixture(scope="module", autouse=True)
def capable() -> None:
    """Skip the test on a device without tensor maps."""
    if PyGPU.backend_name() == "cuda" and PyGPU.device_properties(0)["compute_capability"] < (9, 0):
        pytest.skip("the device has no tensor maps")


@pytest.mark.skipif(PyGPU.backend_name() == "cuda", reason="CUDA has them")
def test_tensor_map_error_contains_vendor_with_tensor_maps() -> None:
    words = f"the {PyGPU.backend_name()} backend has no tensor maps: they are of NVIDIA's devices"
    with pytest.raises(PyGPU.NotSupportedError, match=words):
        PyGPU.TensorMap(PyGPU.zeros((8, 8), "float32"), (4, 4))


@cuda_only
def test_tensor_map_rejected_by_driver_raises_error_with_arguments() -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("a fault of the simulated driver")
    driver.fault("cuTensorMapEncodeTiled", 801)
    with pytest.raises(PyGPU.CudaError, match=r"cuTensorMapEncodeTiled failed on cuda:0.*lengths: \[8, 8"):
        PyGPU.TensorMap(PyGPU.zeros((8, 8), "float32"), (4, 4))


@cuda_only
@pytest.mark.parametrize("read", [False, True])
def test_kernel_receives_tensor_map_as_aligned_128_bytes(words: PyGPU.Kernel, read: bool) -> None:
    a = PyGPU.zeros((6, 10, 32), "float32")[1:, ::2]
    tensor_map = PyGPU.TensorMap(
        a, (2, 3, 16), swizzle="64B", l2_promotion="128b", oob_fill="nan", element_strides=(1, 2, 1), readonly=read
    )
    out = PyGPU.zeros(17, "uint64")
    words[1, 17](tensor_map, out)
    found = out.get().tolist()
    assert found[:3] == [MARK, a.ptr, 7 | 3 << 32]
    assert found[3:8] == [32, 5, 5, 0, 0]
    assert found[8:12] == [256, 1280, 0, 0]
    assert found[12] == 16 | 3 << 12 | 2 << 24
    assert found[13] == 1 | 2 << 8 | 1 << 16
    assert found[14] == 2 << 8 | 2 << 16 | 1 << 24
    assert found[15:] == [MARK, 0]
    assert tensor_map.tobytes() == out.get()[:16].tobytes()
    assert (tensor_map.array is a, tensor_map.box, tensor_map.device) == (True, (2, 3, 16), a.device)
    assert repr(tensor_map) == (
        "<PyGPU.TensorMap of boxes (2, 3, 16) of an array of shape (5, 5, 32) and float32 on cuda:0>"
    )


@cuda_only
def test_tensor_map_ignores_strides_along_axes_of_length_one(words: PyGPU.Kernel) -> None:
    a = PyGPU.zeros((4, 4, 20), "uint8")[:1, 1:2, :16].copy()
    for view in (a, PyGPU.zeros((4, 3, 16), "uint8")[1:2, ::5], PyGPU.zeros((1, 1, 16), "uint8")):
        out = PyGPU.zeros(17, "uint64")
        words[1, 17](PyGPU.TensorMap(view, (1, 1, 16)), out)
        assert out.get()[3:6].tolist() == [16, 1, 1]
        assert (out.get()[8:10] % 16 == 0).all()


@cuda_only
@pytest.mark.parametrize(
    ("dtype", "number"),
    [("uint8", 0), ("int8", 0), ("bool", 0), ("uint16", 1), ("int16", 1), ("uint32", 2), ("int32", 3), ("uint64", 4),
     ("int64", 5), ("float16", 6), ("float32", 7), ("float64", 8)],
)  # fmt: skip
def test_tensor_map_contains_driver_code_of_element_type(words: PyGPU.Kernel, dtype: str, number: int) -> None:
    out = PyGPU.zeros(17, "uint64")
    words[1, 17](PyGPU.TensorMap(PyGPU.zeros(64, dtype), 16), out)
    assert out.get()[2] == number | 1 << 32


def case(array: Any, box: Any, words: str, error: type[Exception] = ValueError, **keywords: Any) -> Any:
    return pytest.param(array, box, keywords, error, words, id=words[:40])


def zeros(*shape: int, dtype: str = "float32") -> PyGPU.GPUArray:
    return PyGPU.zeros(shape, dtype)


@cuda_only
@pytest.mark.parametrize(
    ("array", "box", "keywords", "error", "words"),
    [
        case(lambda: zeros(), (), "has 1 to 5 axes, and the array 0"),
        case(lambda: zeros(1, 1, 1, 1, 1, 4), (1, 1, 1, 1, 1, 4), "has 1 to 5 axes, and the array 6"),
        case(lambda: zeros(8, 8), (4, 4), "has 3 to 5 axes with interleave, and the array 2", interleave="16B"),
        case(lambda: zeros(0, 8), (4, 4), "without elements"),
        case(lambda: zeros(8, 8), 4, r"box has 1 numbers and the array 2 axes \(shape \(8, 8\), strides \(32, 4\)\)"),
        case(lambda: zeros(8, 8), (4, 4), "element_strides has 1 numbers", element_strides=[1]),
        case(lambda: zeros(8, 9)[:, 1:], (4, 4), "first element is at 0x[0-9a-f]+, and .* a multiple of 16"),
        case(lambda: zeros(8, 9), (4, 4), "axis 0 has a stride of 36 bytes.*multiple of 16.*pad the rows"),
        case(lambda: zeros(8, 8)[7::-1], (4, 4), "axis 0 has a stride of -32 bytes"),
        case(lambda: zeros(8, 8).T, (4, 4), r"elements of the last axis do not follow each other.*a\.T"),
        case(lambda: zeros(8, 8)[:, ::2], (4, 4), "elements of the last axis do not follow each other"),
        case(lambda: zeros(8, 512), (4, 260), "box has 260 along axis 1; it takes 1 to 256"),
        case(lambda: zeros(8, 8), (0, 4), "box has 0 along axis 0"),
        case(lambda: zeros(8, 8), (4, 4), "element_strides has 9 along axis 0", element_strides=[9, 1]),
        case(lambda: zeros(8, 8), (4, 3), r"row of the box has 12 bytes \(3 elements of 4\); a multiple of 16"),
        case(lambda: zeros(8, 64), (4, 32), "128 bytes, and swizzle='64B' takes at most 64", swizzle="64B"),
        case(lambda: zeros(8, 8, 8), (1, 1, 8), "interleave='32B' goes with swizzle='32B'", interleave="32B"),
        case(lambda: zeros(8, 8, dtype="int32"), (4, 4), "oob_fill='nan' is for floats, and", oob_fill="nan"),
        case(lambda: zeros(8, 8), (4, 4), "swizzle is 'none', '32B', .*, not '7B'", swizzle="7B"),
        case(lambda: zeros(8, 8), (4, 4), "oob_fill is 'zero', 'nan', not 'one'", oob_fill="one"),
        case(lambda: zeros(8, 8, dtype="complex64"), (4, 4), r"not complex64; .*a\.view\('uint64'\)", TypeError),
        case(lambda: np.zeros((8, 8)), (4, 4), "a tensor map is of a GPUArray, not of numpy.ndarray", TypeError),
        case(lambda: zeros(8, 8), 1.5, "box is an int, or one for each axis, not float", TypeError),
    ],
)  # fmt: skip
def test_tensor_map_rejects_parameters_unsupported_by_hardware(
    array: Any, box: Any, keywords: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        PyGPU.TensorMap(array(), box, **keywords)


@pytest.fixture
def unrest() -> Iterator[None]:
    """Make a simulated driver delay work at random, so that a missing wait gives wrong values."""
    with simulated_driver.delayed(3000):
        yield


@cuda_only
def test_launch_with_tensor_map_is_ordered_after_work_on_its_array(words: PyGPU.Kernel, unrest: None) -> None:
    driver = simulated_driver.driver()
    assert driver is not None
    one, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    a, outs = PyGPU.zeros((8, 8), "float32"), {stream: PyGPU.zeros(17, "uint64") for stream in (one, other)}
    waits = []
    read, written = PyGPU.TensorMap(a, (4, 4), readonly=True), PyGPU.TensorMap(a, (4, 4))
    for stream, tensor_map in zip((one, other, one, other, one, other), (read,) * 4 + (written, read), strict=True):
        before = driver.call_count("cuStreamWaitEvent")
        with stream:
            words[1, 17](tensor_map, outs[stream])
        waits.append(driver.call_count("cuStreamWaitEvent") - before)
    # Only the first launch on a stream waits for the stream that created the arrays; later launches must not wait.
    assert waits[2:4] == [0, 0]
    assert waits[4] > 0
    assert waits[5] > 0


@cuda_only
def test_tensor_map_keeps_its_array_alive(words: PyGPU.Kernel) -> None:
    a = PyGPU.zeros((8, 8), "float32")
    seen, tensor_map = weakref.ref(a), PyGPU.TensorMap(a, (4, 4))
    del a
    gc.collect()
    assert seen() is tensor_map.array
    del tensor_map
    gc.collect()
    assert seen() is None


@cuda_only
def test_launch_rejects_tensor_map_for_pointer_or_of_other_device(words: PyGPU.Kernel) -> None:
    tensor_map = PyGPU.TensorMap(PyGPU.zeros((8, 8), "float32"), (4, 4))
    with pytest.raises(TypeError, match=r"words\(\): argument 2 .*PyGPU.TensorMap has 128 bytes, and the parameter 8"):
        words[1, 17](tensor_map, tensor_map)
    if PyGPU.device_count() > 1:
        other = PyGPU.TensorMap(PyGPU.zeros((8, 8), "float32", device=1), (4, 4))
        with pytest.raises(ValueError, match=r"address of memory on cuda:1, and the kernel is on cuda:0"):
            words[1, 17](other, PyGPU.zeros(17, "uint64"))
