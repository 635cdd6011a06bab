"""Test subclasses of PyCUDA's classes, and arrays whose memory is assigned after their creation."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import gpuarray
from PyGPU.compiler import DynamicSourceModule, SourceModule
from PyGPU.elementwise import ElementwiseKernel
from PyGPU.reduction import ReductionKernel
from PyGPU.scan import ExclusiveScanKernel, InclusiveScanKernel

TWICE = "__global__ void twice(float *x) { x[threadIdx.x] *= 2; }"


def array_without_memory(how):
    """Return an array of shape (3, 4) to which no memory is assigned yet."""
    if how == "allocator":
        return gpuarray.GPUArray((3, 4), np.float32, allocator=lambda nbytes: 0)
    return gpuarray.GPUArray((3, 4), np.float32, gpudata=0)


@pytest.mark.parametrize("how", ["allocator", "gpudata"])
def test_array_without_memory_is_usable_after_memory_is_assigned(how):
    x = array_without_memory(how)
    assert (x.shape, x.dtype, x.strides, x.nbytes, x.size) == ((3, 4), np.float32, (16, 4), 48, 12)
    assert int(x.gpudata) == 0
    memory = gpuarray.to_gpu(np.arange(12, dtype=np.float32))
    x.gpudata = int(memory.gpudata)
    assert int(x.gpudata) == int(memory.gpudata)
    x += 1
    np.testing.assert_array_equal(x.get(), np.arange(1, 13, dtype=np.float32).reshape(3, 4))
    np.testing.assert_array_equal(memory.get(), np.arange(1, 13, dtype=np.float32))


@pytest.mark.parametrize(
    "use",
    [
        lambda x: x.get(),
        lambda x: x + 1,
        lambda x: x[0],
        lambda x: x.reshape(12),
        lambda x: x.fill(1),
        lambda x: x.sum(),
        lambda x: x.__cuda_array_interface__,
        lambda x: x.__dlpack__(),
        lambda x: PyGPU.from_dlpack(x),
        lambda x: drv.memcpy_dtoh(np.empty(12, np.float32), x.gpudata),
        lambda x: SourceModule(TWICE).get_function("twice")(x, block=(12, 1, 1)),
        np.asarray,
    ],
)
def test_array_without_memory_rejects_access_to_its_values(use):
    x = array_without_memory("allocator")
    with pytest.raises((ValueError, TypeError), match=r"no memory|address 0"):
        use(x)
    assert repr(x.shape) == "(3, 4)"


@pytest.mark.parametrize("before", ["memory", "no memory"])
def test_results_use_allocator_assigned_to_operand(before):
    requests = []

    def allocator(nbytes):
        requests.append(nbytes)
        return drv.mem_alloc(nbytes)

    memory = gpuarray.to_gpu(np.arange(12, dtype=np.float32))
    x = array_without_memory("gpudata") if before == "no memory" else memory.reshape(3, 4)
    x.allocator = allocator
    assert x.allocator is allocator
    if before == "no memory":
        x.gpudata = memory.gpudata
    assert x.allocator is allocator
    y = x + x
    assert requests
    assert all(nbytes == 48 for nbytes in requests)
    assert y.allocator is allocator
    np.testing.assert_array_equal(y.get(), 2 * np.arange(12, dtype=np.float32).reshape(3, 4))
    count = len(requests)
    x.allocator = None
    assert x.allocator is None
    np.testing.assert_array_equal((x * 2).get(), y.get())
    assert len(requests) == count
    with pytest.raises(TypeError, match=r"allocate\(nbytes, stream\)"):
        x.allocator = 3


def test_assigned_allocator_does_not_affect_existing_memory():
    x = gpuarray.to_gpu(np.arange(4.0))
    address = x.ptr
    x.allocator = drv.mem_alloc
    assert x.ptr == address
    view = x[1:]
    seen = weakref.ref(x)
    del x
    np.testing.assert_array_equal(view.get(), [1, 2, 3])
    del view
    gc.collect()
    assert seen() is None


def test_in_out_and_inout_derive_from_argument_handler():
    x = np.zeros(3, np.float32)
    assert isinstance(drv.InOut(x), drv.In)
    assert isinstance(drv.InOut(x), drv.Out)
    for handler in (drv.In(x), drv.Out(x), drv.InOut(x)):
        assert isinstance(handler, drv.ArgumentHandler)
        assert handler.array is x
    assert repr(drv.InOut(x)) == f"PyGPU.InOut({x!r})"
    with pytest.raises(TypeError, match="Out takes an ndarray"):
        drv.Out([1.0])
    with pytest.raises(ValueError, match="read-only"):
        drv.InOut(np.broadcast_to(np.float32(1), 3))
    handler = drv.InOut(np.ones(2, np.float32))
    handler.array = x
    assert handler.array is x


class RecordingHandler(drv.InOut):
    """Define an argument handler whose constructor takes a name before the array, and which records the calls of its
    methods."""

    def __init__(self, name, array):
        super().__init__(array)
        self.calls = [name]

    def pre_call(self, stream):
        super().pre_call(stream)
        self.calls.append("before")

    def post_call(self, stream):
        super().post_call(stream)
        self.calls.append("behind")


@pytest.mark.parametrize("in_order_of", [None, "stream"])
def test_methods_of_inout_subclass_are_called_before_and_after_launch(in_order_of):
    stream = drv.Stream() if in_order_of else None
    twice = SourceModule(TWICE).get_function("twice")
    x = np.arange(4, dtype=np.float32)
    handler = RecordingHandler("mine", x)
    twice(handler, block=(4, 1, 1), stream=stream)
    np.testing.assert_array_equal(x, [0, 2, 4, 6])
    assert handler.calls == ["mine", "before", "behind"]
    twice(handler, block=(4, 1, 1), stream=stream)
    np.testing.assert_array_equal(x, [0, 4, 8, 12])
    assert int(handler.get_device_alloc()) == int(handler.dev_alloc)


def test_subclasses_of_in_and_out_copy_in_one_direction_only():
    class Given(drv.In):
        pass

    class Taken(drv.Out):
        pass

    twice = SourceModule(TWICE).get_function("twice")
    x = np.ones(4, np.float32)
    twice(Given(x), block=(4, 1, 1))
    assert x.tolist() == [1, 1, 1, 1]
    memory = drv.to_device(x)
    taken = Taken(np.zeros(4, np.float32))
    taken.dev_alloc = memory
    twice(taken, block=(4, 1, 1))
    assert taken.array.tolist() == [2, 2, 2, 2]


def test_argument_handler_without_base_init_raises_runtime_error():
    class Empty(drv.In):
        def __init__(self):
            pass

    with pytest.raises(RuntimeError, match="super"):
        SourceModule(TWICE).get_function("twice")(Empty(), block=(4, 1, 1))


@pytest.mark.parametrize("name", ["set", "set_async"])
def test_set_method_of_array_accepts_device_array(name):
    x, y = np.arange(6.0), gpuarray.zeros((2, 3), np.float64)
    getattr(y, name)(gpuarray.to_gpu(x)[::-1], stream=drv.Stream())
    drv.Context.synchronize()
    np.testing.assert_array_equal(y.get(), x[::-1].reshape(2, 3))
    with pytest.raises(ValueError, match="6 elements of float64 cannot take 6 elements of int32"):
        getattr(y, name)(gpuarray.zeros(6, np.int32))
    with pytest.raises(ValueError, match="cannot take 5"):
        getattr(y, name)(gpuarray.zeros(5, np.float64))


def test_dynamic_shared_memory_accepts_namespaced_type():
    module = SourceModule(
        """
        #include <pycuda-complex.hpp>
        __global__ void turned(const pycuda::complex<float> *x, pycuda::complex<float> *out) {
            extern __shared__ pycuda::complex<float> kept[];
            kept[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            out[threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x] * pycuda::complex<float>(0, 1);
        }
        """
    )
    x = (np.arange(5) + 1j).astype(np.complex64)
    out = gpuarray.zeros(5, np.complex64)
    module.get_function("turned")(gpuarray.to_gpu(x), out, block=(5, 1, 1), shared=40)
    np.testing.assert_array_equal(out.get(), x[::-1] * np.complex64(1j))


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="the others link with cudadevrt")
def test_dynamic_source_module_compiles_on_cpu():
    x = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    DynamicSourceModule(TWICE).get_function("twice")(x, block=(4, 1, 1))
    assert x.get().tolist() == [0, 2, 4, 6]


KERNELS = {
    "elementwise": (ElementwiseKernel, ("float *x", "x[i] += 1", "add_one")),
    "reduction": (ReductionKernel, (np.float32, "0", "a + b", "x[i]", "const float *x")),
    "inclusive": (InclusiveScanKernel, (np.float32, "a + b")),
    "exclusive": (ExclusiveScanKernel, (np.float32, "a + b", 0)),
}
THINGS = {
    **KERNELS,
    "stream": (drv.Stream, (1,)),
    "event": (drv.Event, ()),
    "PyGPU's stream": (PyGPU.Stream, (True,)),
    "PyGPU's event": (PyGPU.Event, (True,)),
}


def derived(base, arguments):
    """Return a subclass whose `__init__` has other parameters than the `__init__` of its base class."""

    class Derived(base):
        def __init__(self, owner, *, calls_super=True):
            self.owner = owner
            if calls_super:
                super().__init__(*arguments)

    return Derived


@pytest.mark.parametrize("thing", list(THINGS))
def test_kernel_subclass_may_have_init_with_other_parameters(thing):
    made = derived(*THINGS[thing])(["me"], calls_super=True)
    assert made.owner == ["me"]
    assert isinstance(made, THINGS[thing][0])
    assert "not made yet" not in repr(made)


@pytest.mark.parametrize("thing", list(THINGS))
def test_kernel_subclass_without_base_init_raises_at_first_use(thing):
    base, arguments = THINGS[thing]
    made = derived(base, arguments)("me", calls_super=False)
    assert "not made yet" in repr(made)
    with pytest.raises(RuntimeError, match=r"never made: its __init__ is to call super\(\).__init__"):
        made(gpuarray.zeros(3, np.float32)) if thing in KERNELS else made.synchronize()
    del made
    gc.collect()


@pytest.mark.parametrize("thing", list(THINGS))
def test_second_call_of_kernel_init_is_rejected(thing):
    base, arguments = THINGS[thing]
    made = base(*arguments)
    with pytest.raises(RuntimeError, match="is made already"):
        made.__init__(*arguments)
    with pytest.raises(TypeError, match="argument"):
        base(*arguments, no_such_argument=1)


def test_derived_kernel_classes_compute_like_base_class():
    x = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    made = {name: derived(*of)("me") for name, of in KERNELS.items()}
    made["elementwise"](x)
    assert x.get().tolist() == [1, 2, 3, 4]
    assert made["reduction"](x).get() == 10
    assert made["inclusive"](x, "new").get().tolist() == [1, 3, 6, 10]
    assert made["exclusive"](x, "new").get().tolist() == [0, 1, 3, 6]


def test_derived_stream_and_event_classes_behave_like_base_class():
    stream, event = derived(drv.Stream, (1,))("me"), derived(drv.Event, ())("me")
    with stream:
        x = gpuarray.zeros(3, np.float32) + 1
        assert PyGPU.current_stream() == stream
    event.record(stream)
    stream.wait_for_event(event)
    event.synchronize()
    stream.synchronize()
    assert stream.is_done()
    assert hash(stream) == hash(PyGPU.Stream.from_handle(stream.handle))
    assert x.get().tolist() == [1, 1, 1]
