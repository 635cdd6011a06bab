"""Test kernel launches with PyCUDA's syntax."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

SOURCE = """
struct pair { float first; int second; };
__global__ void multiply(float *dest, const float *a, const float *b) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    dest[i] = a[i] * b[i];
}
__global__ void scale(float *x, float factor, int n) {
    const int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i < n) x[i] *= factor;
}
__global__ void numbers(double *out, signed char a, double b, short c, long long d) {
    out[0] = a; out[1] = b; out[2] = c; out[3] = d;
}
__global__ void vector(float *out, float3 v, float2 w) {
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = w.x; out[4] = w.y;
}
__global__ void dynamic(int *out) {
    extern __shared__ int part[];
    part[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}
__global__ void where(int *out) { out[blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z)] = blockIdx.z; }
"""


@pytest.fixture(scope="module")
def module() -> SourceModule:
    return SourceModule(SOURCE)


@pytest.fixture
def x() -> PyGPU.GPUArray:
    return PyGPU.to_gpu(np.arange(8, dtype=np.float32))


def doubled() -> np.ndarray:
    return np.arange(8, dtype=np.float32) * 2


def test_hello_world_program_of_pycuda_runs(module):
    a, b = np.random.default_rng(1).random((2, 400), dtype=np.float32)
    dest = np.zeros_like(a)
    module.get_function("multiply")(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    assert (dest == a * b).all()


def test_array_passed_as_inout_is_copied_to_device_and_back(module):
    a = np.arange(8, dtype=np.float32)
    module.get_function("scale")(drv.InOut(a), np.float32(2), np.int32(8), block=(8, 1, 1))
    assert (a == doubled()).all()


def test_launch_accepts_arrays_addresses_and_numbers(module, x):
    scale = module.get_function("scale")
    for pointer in (x, x.gpudata, np.uintp(x.ptr), x.ptr):
        x.set(np.arange(8, dtype=np.float32))
        scale(pointer, np.float32(2), np.int32(8), block=(8, 1, 1))
        assert (x.get() == doubled()).all()


def test_launch_passes_slice_by_address(module, x):
    module.get_function("scale")(x[2:], np.float32(2), np.int32(3), block=(8, 1, 1))
    assert x.get().tolist() == [0, 1, 4, 6, 8, 5, 6, 7]


def test_launch_passes_strided_view_by_address(module, x):
    module.get_function("scale")(x[::2], np.float32(2), np.int32(8), block=(8, 1, 1))
    assert (x.get() == doubled()).all()


def test_launch_does_not_check_dtype_of_array(module, x):
    module.get_function("scale")(x.view("int32"), np.float32(2), np.int32(8), block=(8, 1, 1))
    assert (x.get() == doubled()).all()


def test_launch_packs_scalars_of_all_sizes_like_c_compiler(module):
    out = np.zeros(4)
    args = np.int8(-3), np.float64(0.1), np.int16(-300), np.int64(1 << 40)
    module.get_function("numbers")(drv.Out(out), *args, block=(1, 1, 1))
    assert out.tolist() == [-3, 0.1, -300, 1 << 40]


def test_launch_passes_ndarray_by_value(module):
    out = np.zeros(5, np.float32)
    v, w = np.array([1, 2, 3], np.float32), np.array([4, 5], np.float32)
    module.get_function("vector")(drv.Out(out), v, w, block=(1, 1, 1))
    assert out.tolist() == [1, 2, 3, 4, 5]


def test_shared_keyword_sets_dynamic_shared_memory(module):
    out = np.zeros(16, np.int32)
    module.get_function("dynamic")(drv.Out(out), block=(16, 1, 1), shared=64)
    assert (out == np.arange(16)[::-1]).all()


def test_launch_accepts_grid_with_one_to_three_axes(module):
    where = module.get_function("where")
    for grid, last in (((4,), 0), ((2, 2), 0), ((1, 2, 2), 1)):
        out = np.full(4, -1, np.int32)
        where(drv.Out(out), block=(1, 1, 1), grid=grid)
        assert out[3] == last
        assert (out >= 0).all()


def test_launch_rejects_missing_block_and_unknown_keyword(module, x):
    scale = module.get_function("scale")
    with pytest.raises(ValueError, match="block="):
        scale(x, np.float32(2), np.int32(8))
    with pytest.raises(ValueError, match="blocks"):
        scale(x, np.float32(2), np.int32(8), block=(8, 1, 1), blocks=3)
    assert (x.get() == np.arange(8)).all()


def test_launch_of_impossible_shape_raises_logic_and_value_error(module, x):
    scale = module.get_function("scale")
    for keywords in ({"block": (1 << 20, 1, 1)}, {"block": (8, 1, 1), "grid": (0, 1)}):
        with pytest.raises(drv.LogicError) as raised:
            scale(x, np.float32(2), np.int32(8), **keywords)
        assert isinstance(raised.value, ValueError)
        assert isinstance(raised.value, PyGPU.CudaError)


def test_launch_rejects_argument_of_wrong_kind(module):
    with pytest.raises(TypeError, match="argument 1"):
        module.get_function("scale")("text", np.float32(2), np.int32(8), block=(8, 1, 1))


def test_get_of_array_waits_for_launch_on_other_stream(module, x):
    stream = drv.Stream()
    module.get_function("scale")(x, np.float32(2), np.int32(8), block=(8, 1, 1), stream=stream)
    assert (x.get() == doubled()).all()


def test_time_kernel_argument_makes_launch_return_seconds(module, x):
    scale = module.get_function("scale")
    assert scale(x, np.float32(2), np.int32(8), block=(8, 1, 1), time_kernel=True) >= 0
    assert scale(x, np.float32(2), np.int32(8), block=(8, 1, 1)) is None
    with pytest.raises(AssertionError, match="no stream"):
        scale(x, np.float32(2), np.int32(8), block=(8, 1, 1), time_kernel=True, stream=drv.Stream())


def test_launch_rejects_wrong_texture_reference(module, x):
    with pytest.raises(TypeError, match="texrefs are texture references, and str is none"):
        module.get_function("scale")(x, np.float32(2), np.int32(8), block=(8, 1, 1), texrefs=["image"])


@pytest.mark.parametrize(
    "types", ["Pfi", ["P", "f", "i"], ["P", np.float32, np.dtype("int32")], [PyGPU.GPUArray, "fi"], [np.intp, "f", "i"]]
)
def test_prepared_call_accepts_python_numbers(module, x, types):
    scale = module.get_function("scale")
    assert scale.prepare(types) is scale
    scale.prepared_call((1, 1), (8, 1, 1), x.gpudata, 2.0, 8)
    assert (x.get() == doubled()).all()


def test_prepare_treats_unknown_type_as_pointer(module, x):
    scale = module.get_function("scale").prepare([object(), "f", "i"])
    scale.prepared_call((1, 1), (8, 1, 1), x, 2, 8, shared_size=64)
    assert (x.get() == doubled()).all()


def test_prepared_calls_run_on_streams_and_are_timed(module, x):
    scale = module.get_function("scale").prepare("Pfi")
    scale.prepared_async_call((1, 1), (8, 1, 1), drv.Stream(), x.gpudata, 2.0, 8)
    assert (x.get() == doubled()).all()
    scale.prepared_async_call((1, 1), (8, 1, 1), None, x.gpudata, 0.5, 8)
    assert scale.prepared_timed_call((1, 1), (8, 1, 1), x.gpudata, 2.0, 8)() >= 0
    assert (x.get() == doubled()).all()


def test_error_of_unprepared_call_contains_name_prepare(module, x):
    with pytest.raises(drv.LogicError, match="prepare"):
        module.get_function("scale").prepared_call((1, 1), (8, 1, 1), x, 2.0, 8)


def test_prepared_call_rejects_wrong_argument_count(module, x):
    scale = module.get_function("scale").prepare("Pfi")
    with pytest.raises(TypeError, match="3 arguments"):
        scale.prepared_call((1, 1), (8, 1, 1), x, 2.0)


def test_function_attributes_are_readable(module):
    scale = module.get_function("scale")
    names = ("num_regs", "shared_size_bytes", "local_size_bytes", "const_size_bytes", "max_threads_per_block")
    for name in names:
        attribute = getattr(drv.function_attribute, name.upper())
        assert getattr(scale, name) == scale.get_attribute(attribute) >= 0
    assert scale.max_threads_per_block > 0
    assert scale.name == "scale"
    with pytest.raises(drv.LogicError, match="1000"):
        scale.get_attribute(1000)


def test_writable_function_attributes_can_be_set(module):
    dynamic = module.get_function("dynamic")
    dynamic.set_attribute(drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)
    dynamic.set_cache_config(drv.func_cache.PREFER_SHARED)
    with pytest.raises(drv.LogicError, match="cannot be set"):
        dynamic.set_attribute(drv.function_attribute.NUM_REGS, 10)


def test_free_of_allocation_waits_for_launch_that_uses_it(module):
    scale, stream = module.get_function("scale"), drv.Stream()
    values = np.arange(8, dtype=np.float32)
    for _ in range(20):
        memory = drv.to_device(values)
        scale(memory, np.float32(2), np.int32(8), block=(8, 1, 1), stream=stream)
        memory.free()
    stream.synchronize()
    memory = drv.to_device(values)
    for _ in range(3):
        scale(memory, np.float32(2), np.int32(8), block=(8, 1, 1), stream=stream)
    assert (drv.from_device_like(memory, values) == 8 * values).all()


def test_launch_rejects_argument_in_freed_memory(module):
    memory = drv.mem_alloc(32)
    memory.free()
    with pytest.raises(drv.LogicError, match="freed already"):
        module.get_function("scale")(memory, np.float32(2), np.int32(8), block=(8, 1, 1))


def test_launch_rejects_allocation_for_number_parameter(module, x):
    with pytest.raises(TypeError, match="no pointer"):
        module.get_function("scale")(x, drv.mem_alloc(4), np.int32(8), block=(8, 1, 1))


def test_pointer_parameter_can_be_prepared_as_integer(module):
    values = np.arange(8, dtype=np.float32)
    memory = drv.to_device(values)
    scale = module.get_function("scale").prepare([np.intp, np.float32, np.int32])
    scale.prepared_call((1, 1), (8, 1, 1), memory, 2, 8)
    assert (drv.from_device_like(memory, values) == 2 * values).all()


def test_launch_passes_managed_memory_by_address(module):
    managed = drv.managed_empty(8, np.float32)
    managed[:] = np.arange(8)
    scale = module.get_function("scale")
    scale(managed, np.float32(2), np.int32(8), block=(8, 1, 1))
    drv.Context.synchronize()
    assert (managed == doubled()).all()
    scale(managed[4:], np.float32(2), np.int32(4), block=(8, 1, 1))
    drv.Context.synchronize()
    assert managed.tolist() == [0, 2, 4, 6, 16, 20, 24, 28]
