"""PyCUDA's launches: which arguments are taken, in which order they run, what is refused."""

from __future__ import annotations

import numpy
import pytest

import PyGPU
from PyGPU import driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import SourceModule

SOURCE = """
struct Pair { int a; double b; };

__global__ void multiply(float *dest, const float *a, float factor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dest[i] = a[i] * factor;
}

__global__ void shape(int *out)
{
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
}

__global__ void vectors(float *out, float3 v, double d, short s)
{
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = (float) d; out[4] = s;
}

__global__ void pairs(double *out, struct Pair p) { out[0] = p.a; out[1] = p.b; }

__global__ void reverse(float *x)
{
    extern __shared__ float part[];
    part[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];
}

__global__ void increment(float *x) { x[threadIdx.x] += 1; }

__global__ void integers(int *x) { x[threadIdx.x] += 1; }

__global__ void address(unsigned long long *out, void *p) { *out = (unsigned long long) p; }
"""


@pytest.fixture(scope="module")
def module() -> SourceModule:
    try:
        return SourceModule(SOURCE)
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")


@pytest.fixture
def values() -> numpy.ndarray:
    return numpy.arange(16, dtype=numpy.float32)


def test_host_arrays_are_copied_around_a_launch(module, values):
    dest = numpy.zeros_like(values)
    func = module.get_function("multiply")
    func(drv.Out(dest), drv.In(values), numpy.float32(3), numpy.int32(16), block=(8, 1, 1), grid=(2, 1))
    numpy.testing.assert_array_equal(dest, 3 * values)
    module.get_function("increment")(drv.InOut(dest), block=(16, 1, 1))
    numpy.testing.assert_array_equal(dest, 3 * values + 1)
    assert isinstance(drv.In(values), drv.ArgumentHandler)


def test_allocations_pools_arrays_and_addresses_are_arguments(module, values):
    increment = module.get_function("increment")
    memory = drv.to_device(values)
    array = gpuarray.to_gpu(values)

    class Holder(drv.PointerHolderBase):
        def get_pointer(self) -> int:
            return int(memory)

    class Other:
        @property
        def __cuda_array_interface__(self) -> dict[str, object]:
            return {"shape": (16,), "typestr": "<f4", "data": (int(memory), False), "version": 2}

    class Owner:
        gpudata = memory

    others = [Other()] if PyGPU.backend_name() == "cuda" else []  # the interface is CUDA's
    arguments = [memory, numpy.uintp(int(memory)), Holder(), Owner(), *others]
    for argument in arguments:
        increment(argument, block=(16, 1, 1))
    numpy.testing.assert_array_equal(drv.from_device_like(memory, values), values + len(arguments))
    increment(array, block=(16, 1, 1))
    increment(array.gpudata, block=(16, 1, 1))
    numpy.testing.assert_array_equal(array.get(), values + 2)


def test_a_slice_is_passed_by_the_address_of_its_first_element(module, values):
    array = gpuarray.to_gpu(values)
    module.get_function("increment")(array[4:], block=(2, 1, 1))
    module.get_function("increment")(array[::2], block=(2, 1, 1))  # the kernel is not told the strides
    expected = values.copy()
    expected[4:6] += 1
    expected[:2] += 1
    numpy.testing.assert_array_equal(array.get(), expected)


def test_vectors_and_records_are_passed_by_their_bytes(module):
    float3 = numpy.dtype([("x", "f4"), ("y", "f4"), ("z", "f4")])
    vector = numpy.array((1, 2, 3), float3)
    out = numpy.zeros(5, numpy.float32)
    func = module.get_function("vectors")
    func(drv.Out(out), vector, numpy.float64(4), numpy.int16(5), block=(1, 1, 1))
    assert out.tolist() == [1, 2, 3, 4, 5]
    func(drv.Out(out), vector[()], numpy.float64(4), numpy.int16(5), block=(1, 1, 1))
    assert out.tolist() == [1, 2, 3, 4, 5]
    pair = numpy.zeros(1, numpy.dtype([("a", "i4"), ("b", "f8")], align=True))
    pair[0] = (7, 0.5)
    both = numpy.zeros(2)
    module.get_function("pairs")(drv.Out(both), pair[0], block=(1, 1, 1))
    assert both.tolist() == [7, 0.5]


def test_managed_memory_is_passed_by_its_address(module, values):
    try:
        managed = drv.managed_empty(16, numpy.float32)
    except PyGPU.NotSupportedError as error:
        pytest.skip(str(error))
    managed[:] = values
    module.get_function("increment")(managed, block=(16, 1, 1))
    drv.Context.synchronize()
    numpy.testing.assert_array_equal(managed, values + 1)


def test_none_is_a_null_pointer(module):
    out = numpy.ones(1, numpy.uint64)
    module.get_function("address")(drv.Out(out), None, block=(1, 1, 1))
    assert out[0] == 0


def test_a_shape_has_up_to_three_axes(module):
    out = numpy.zeros(6, numpy.int32)
    shape = module.get_function("shape")
    for grid, expected in (((2,), [2, 1, 1]), ((2, 3), [2, 3, 1]), ((2, 3, 4), [2, 3, 4]), ([5, 1], [5, 1, 1])):
        shape(drv.Out(out), block=(4, 2, 1), grid=grid)
        assert out.tolist() == [*expected, 4, 2, 1]
    shape(drv.Out(out), block=(1, 1, 1))
    assert out.tolist() == [1] * 6
    shape(drv.Out(out), block=(numpy.int64(2), 1, 1), grid=(numpy.int32(3), 1))
    assert out.tolist() == [3, 1, 1, 2, 1, 1]


def test_dynamic_shared_memory_is_given_by_its_bytes(module, values):
    x = values.copy()
    module.get_function("reverse")(drv.InOut(x), block=(16, 1, 1), shared=64)
    numpy.testing.assert_array_equal(x, values[::-1])
    memory = drv.to_device(values)
    module.get_function("reverse").prepare("P").prepared_call((1, 1), (16, 1, 1), memory, shared_size=64)
    numpy.testing.assert_array_equal(drv.from_device_like(memory, values), values[::-1])


def test_a_stream_is_waited_for_by_what_comes_without_one(module, values):
    stream = drv.Stream()
    memory = drv.to_device(values)
    for _ in range(5):
        module.get_function("increment")(memory, block=(16, 1, 1), stream=stream)
    numpy.testing.assert_array_equal(drv.from_device_like(memory, values), values + 5)
    module.get_function("increment")(drv.InOut(values), block=(16, 1, 1), stream=stream)
    assert values[0] == 1


def test_memory_may_be_freed_while_a_kernel_uses_it(module, values):
    stream = drv.Stream()
    for _ in range(20):
        memory = drv.to_device(values)
        module.get_function("increment")(memory, block=(16, 1, 1), stream=stream)
        memory.free()
    stream.synchronize()


def test_a_launch_is_timed(module, values):
    func, memory = module.get_function("increment"), drv.to_device(values)
    assert func(memory, block=(16, 1, 1)) is None
    seconds = func(memory, block=(16, 1, 1), time_kernel=True)
    assert isinstance(seconds, float)
    assert 0 <= seconds < 10
    with pytest.raises(AssertionError, match="stream"):
        func(memory, block=(16, 1, 1), time_kernel=True, stream=drv.Stream())
    launch = func.prepare("P").prepared_timed_call((1, 1), (16, 1, 1), memory)
    assert 0 <= launch() < 10
    numpy.testing.assert_array_equal(drv.from_device_like(memory, values), values + 3)


@pytest.mark.parametrize(
    "types",
    ["PPfi", ["P", "P", "f", "i"], [numpy.intp, object(), numpy.float32, numpy.dtype("i4")], ["PPf", numpy.int32]],
)
def test_a_prepared_kernel_takes_pythons_numbers(module, values, types):
    func = module.get_function("multiply")
    assert func.prepare(types) is func
    source, dest = drv.to_device(values), gpuarray.zeros(16, numpy.float32)
    func.prepared_call((2, 1), (8, 1, 1), dest.gpudata, source, 3, 16)
    numpy.testing.assert_array_equal(dest.get(), 3 * values)
    stream = drv.Stream()
    func.prepared_async_call((2, 1), (8, 1, 1), stream, int(dest.gpudata), int(source), 4.0, 16)
    stream.synchronize()
    numpy.testing.assert_array_equal(dest.get(), 4 * values)
    func.prepared_async_call((2, 1), (8, 1, 1), None, dest, source, 5.0, 16)
    numpy.testing.assert_array_equal(dest.get(), 5 * values)


def test_a_kernel_that_is_not_prepared_says_so(module):
    func = module.get_function("integers")
    with pytest.raises(TypeError, match=r"prepare\(\) first"):
        func.prepared_call((1, 1), (1, 1, 1))


def test_a_call_that_cannot_be_is_refused_before_it_is_launched(module, values):
    func = module.get_function("increment")
    memory = drv.to_device(values)
    for error, words, arguments, keywords in (
        (ValueError, "block is needed", (memory,), {}),
        (ValueError, "three ints", (memory,), {"block": (16, 1)}),
        (ValueError, "three ints", (memory,), {"block": 16}),
        (ValueError, "blocks", (memory,), {"block": (16, 1, 1), "blocks": 1}),
        (TypeError, "1 arguments", (), {"block": (16, 1, 1)}),
        (TypeError, "argument 1", ("text",), {"block": (16, 1, 1)}),
        (TypeError, "argument 1", (1.5,), {"block": (16, 1, 1)}),
        (TypeError, "In", (values,), {"block": (16, 1, 1)}),
        (ValueError, "block", (memory,), {"block": (1 << 20, 1, 1)}),
        (PyGPU.NotSupportedError, "texture", (memory,), {"block": (16, 1, 1), "texrefs": [object()]}),
    ):
        with pytest.raises(error, match=words):
            func(*arguments, **keywords)
    func(memory, block=(16, 1, 1), texrefs=[])
    numpy.testing.assert_array_equal(drv.from_device_like(memory, values), values + 1)


def test_numbers_of_another_width_are_refused_where_the_declaration_tells(module, values):
    with pytest.raises(TypeError, match="array is float64"):
        module.get_function("increment")(drv.InOut(values.astype(numpy.float64)), block=(16, 1, 1))
    with pytest.raises(TypeError, match="int32"):
        module.get_function("multiply")(
            drv.Out(values), drv.In(values), numpy.float32(1), numpy.int64(16), block=(1, 1, 1)
        )


def test_memory_is_read_as_what_the_kernel_says(module, values):
    module.get_function("integers")(drv.InOut(values), block=(1, 1, 1))
    assert values.view(numpy.int32)[0] == 1


def test_what_is_known_of_a_kernel_is_told(module):
    func = module.get_function("multiply")
    attribute = drv.function_attribute
    assert func.name == "multiply"
    assert func.max_threads_per_block == func.get_attribute(attribute.MAX_THREADS_PER_BLOCK) >= 1
    for name, number in (
        ("num_regs", attribute.NUM_REGS),
        ("shared_size_bytes", attribute.SHARED_SIZE_BYTES),
        ("local_size_bytes", attribute.LOCAL_SIZE_BYTES),
        ("const_size_bytes", attribute.CONST_SIZE_BYTES),
        ("ptx_version", attribute.PTX_VERSION),
        ("binary_version", attribute.BINARY_VERSION),
        ("max_dynamic_shared_size_bytes", attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES),
        ("preferred_shared_memory_carveout", attribute.PREFERRED_SHARED_MEMORY_CARVEOUT),
    ):
        assert getattr(func, name) == func.get_attribute(number)
    func.set_cache_config(drv.func_cache.PREFER_SHARED)
    func.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024)
    with pytest.raises(ValueError, match="cannot be set"):
        func.set_attribute(attribute.NUM_REGS, 1)
    with pytest.raises(PyGPU.NotSupportedError, match="texture"):
        func.param_set_texref(None)
    assert isinstance(func.kernel, PyGPU.Kernel)
    assert "multiply" in repr(func)
