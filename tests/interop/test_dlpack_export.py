"""Test `__dlpack__` and `__dlpack_device__`: fields of exported tensors, arguments, and lifetime of exported memory."""

import ctypes
import gc
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest

import dlpack_forge
import PyGPU
from installed.numpy_version import since_numpy

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")
cuda_only = pytest.mark.skipif(BACKEND != "cuda", reason="the numbers are CUDA's")
hip_only = pytest.mark.skipif(BACKEND != "hip", reason="the numbers are ROCm's")

CODES = {
    "bool": (dlpack_forge.BOOL, 8),
    "int8": (dlpack_forge.INT, 8),
    "int16": (dlpack_forge.INT, 16),
    "int32": (dlpack_forge.INT, 32),
    "int64": (dlpack_forge.INT, 64),
    "uint8": (dlpack_forge.UINT, 8),
    "uint16": (dlpack_forge.UINT, 16),
    "uint32": (dlpack_forge.UINT, 32),
    "uint64": (dlpack_forge.UINT, 64),
    "float16": (dlpack_forge.FLOAT, 16),
    "float32": (dlpack_forge.FLOAT, 32),
    "float64": (dlpack_forge.FLOAT, 64),
    "complex64": (dlpack_forge.COMPLEX, 64),
    "complex128": (dlpack_forge.COMPLEX, 128),
}
ML_CODES = {
    "bfloat16": (dlpack_forge.BFLOAT, 16),
    "float8_e3m4": (7, 8),
    "float8_e4m3": (8, 8),
    "float8_e4m3b11fnuz": (9, 8),
    "float8_e4m3fn": (10, 8),
    "float8_e4m3fnuz": (11, 8),
    "float8_e5m2": (12, 8),
    "float8_e5m2fnuz": (13, 8),
    "float8_e8m0fnu": (14, 8),
}


@pytest.mark.parametrize("max_version", [None, (1, 0)], ids=["legacy", "versioned"])
@pytest.mark.parametrize(("dtype", "code"), [*CODES.items(), *ML_CODES.items()])
def test_every_dtype_has_dlpack_code(dtype: str, code: tuple[int, int], max_version: tuple[int, int] | None) -> None:
    if dtype in ML_CODES:
        pytest.importorskip("ml_dtypes")
    capsule = PyGPU.empty((2, 3), dtype).__dlpack__(max_version=max_version)
    data_type = dlpack_forge.managed_of(capsule).dl_tensor.dtype
    assert (data_type.code, data_type.bits, data_type.lanes) == (*code, 1)


def test_export_of_structured_dtype_raises_error_with_remedy() -> None:
    a = PyGPU.empty(3, np.dtype([("x", "f4"), ("y", "i8")]))
    with pytest.raises(BufferError, match="uint8"):
        a.__dlpack__()
    assert a.shape == (3,)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (4, 1, 6), (2,) * 12])
def test_exported_tensor_has_shape_strides_and_pointer_of_array(shape: tuple[int, ...]) -> None:
    a = PyGPU.zeros(shape, np.float32)
    capsule = a.__dlpack__(max_version=(1, 3))
    managed = dlpack_forge.managed_of(capsule)
    tensor = managed.dl_tensor
    expected = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        expected[axis] = expected[axis + 1] * max(shape[axis + 1], 1)
    assert dlpack_forge.dimensions(tensor) == (shape, tuple(expected))
    assert (managed.major, managed.minor, managed.flags) == (1, 3, 0)
    assert (tensor.data or 0, tensor.byte_offset) == (a.ptr if a.size else 0, 0)
    assert (tensor.device.device_type, tensor.device.device_id) == a.__dlpack_device__()


@pytest.mark.parametrize(
    "key",
    [
        np.s_[::-1],
        np.s_[::2, ::-3],
        np.s_[1:3, None, 2],
        np.s_[..., :1],
        np.s_[None],
        np.s_[:, ::-1],
        np.s_[2:2],
        np.s_[3, 5],
    ],
)
def test_exported_view_has_signed_strides_and_address_of_element_zero(key: object) -> None:
    host = np.arange(24, dtype=np.int16).reshape(4, 6)
    base = PyGPU.to_gpu(host)
    view, expected = base[key], host[key]
    capsule = view.__dlpack__()
    tensor = dlpack_forge.managed_of(capsule).dl_tensor
    shape, strides = dlpack_forge.dimensions(tensor)
    assert shape == expected.shape
    for length, stride, host_stride in zip(shape, strides, expected.strides, strict=True):
        assert length <= 1 or expected.size == 0 or stride * 2 == host_stride
    assert (tensor.data or 0) == (view.ptr if view.size else 0)


@pytest.mark.parametrize("key", [np.s_[:, :1], np.s_[None], np.s_[:1, :1], np.s_[:1, 2:3]])
def test_exported_axis_of_length_one_has_c_order_stride(key: object) -> None:
    view = PyGPU.zeros((1, 77), np.float32)[key]
    assert view.flags.c_contiguous
    capsule = view.__dlpack__()
    shape, strides = dlpack_forge.dimensions(dlpack_forge.managed_of(capsule).dl_tensor)
    product = 1
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        assert stride == product
        product *= length


def test_numpy_from_dlpack_shares_memory_of_host_array() -> None:
    a = PyGPU.zeros((3, 4), np.float32, device="cpu")
    n = np.from_dlpack(a)
    assert n.ctypes.data == a.ptr
    if n.flags.writeable:  # NumPy 1 imports every tensor as read-only, so only NumPy 2 can write.
        n[1, 2] = 5
        assert a.get()[1, 2] == 5
    a[0, 1] = 7
    assert n[0, 1] == 7
    reversed_view = np.from_dlpack(a[::-1, ::2])
    assert (reversed_view.ctypes.data, reversed_view.strides) == (a[::-1, ::2].ptr, a[::-1, ::2].strides)


def test_exported_memory_stays_valid_after_array_is_dropped() -> None:
    a = PyGPU.full((1000,), 3.0, device="cpu")
    n = np.from_dlpack(a)
    del a
    gc.collect()
    assert (n == 3).all()


def test_max_version_selects_legacy_or_versioned_capsule() -> None:
    a = PyGPU.zeros(3)
    for version, name in [
        (None, dlpack_forge.LEGACY),
        ((0, 8), dlpack_forge.LEGACY),
        ((1, 0), dlpack_forge.VERSIONED),
        ((1, 3), dlpack_forge.VERSIONED),
        ((9, 0), dlpack_forge.VERSIONED),
    ]:
        assert dlpack_forge.capsule_name(a.__dlpack__(max_version=version)) == name


@pytest.mark.parametrize("version", ["1.0", 1, (1,), (1, 0, 0), ("1", "0"), (1.0, 0), [1, 0], (2**80, 0)])
def test_malformed_max_version_raises_type_error(version: object) -> None:
    with pytest.raises(TypeError, match="max_version"):
        PyGPU.zeros(3).__dlpack__(max_version=version)


def test_dlpack_method_rejects_positional_and_invalid_arguments() -> None:
    a = PyGPU.zeros(3)
    with pytest.raises(TypeError):
        a.__dlpack__(None)
    with pytest.raises(TypeError):
        a.__dlpack__(device=(1, 0))
    with pytest.raises(TypeError):
        a.__dlpack__(copy="yes")


class TestReadOnly:
    def readonly(self) -> PyGPU.GPUArray:
        x = np.arange(3.0)
        x.flags.writeable = False
        return PyGPU.asarray(x, device="cpu")

    @pytest.mark.reads_in_place
    def test_readonly_flag_is_imported_and_exported(self) -> None:
        a = self.readonly()
        assert not a.flags["WRITEABLE"]
        capsule = a.__dlpack__(max_version=(1, 0))
        assert dlpack_forge.managed_of(capsule).flags == dlpack_forge.READ_ONLY
        with pytest.raises(ValueError, match="read-only"):
            a[0] = 1
        assert a[1:].__array_interface__["data"][1] is True

    @since_numpy("2.1", "versions of DLPack")
    def test_numpy_import_of_readonly_array_is_readonly(self) -> None:
        assert not np.from_dlpack(self.readonly()).flags.writeable

    def test_readonly_export_error_suggests_max_version(self) -> None:
        with pytest.raises(BufferError, match="max_version"):
            self.readonly().__dlpack__()

    def test_exported_copy_of_readonly_array_is_writable(self) -> None:
        copied = self.readonly().__dlpack__(copy=True, max_version=(1, 0))
        assert dlpack_forge.managed_of(copied).flags == dlpack_forge.IS_COPIED
        assert dlpack_forge.capsule_name(self.readonly().__dlpack__(copy=True)) == dlpack_forge.LEGACY


class TestCopyAndDevice:
    def test_exported_copy_owns_memory_in_c_order(self) -> None:
        a = PyGPU.asarray(np.arange(6.0).reshape(2, 3), device="cpu")
        capsule = a.T[::-1].__dlpack__(copy=True, max_version=(1, 0))
        managed = dlpack_forge.managed_of(capsule)
        assert managed.flags == dlpack_forge.IS_COPIED
        assert dlpack_forge.dimensions(managed.dl_tensor) == ((3, 2), (2, 1))
        copied = PyGPU.from_dlpack(capsule)
        assert copied.tolist() == a.T[::-1].tolist()
        assert copied.ptr != a.ptr

    def test_export_to_own_device_of_array_makes_no_copy(self) -> None:
        a = PyGPU.zeros(3)
        capsule = a.__dlpack__(dl_device=a.__dlpack_device__(), copy=False, max_version=(1, 0))
        managed = dlpack_forge.managed_of(capsule)
        assert (managed.dl_tensor.data, managed.flags) == (a.ptr, 0)

    def test_array_on_any_device_is_exported_to_host(self) -> None:
        a = PyGPU.to_gpu(np.arange(6.0).reshape(2, 3))[::-1]
        capsule = a.__dlpack__(dl_device=(1, 0), max_version=(1, 0))
        tensor = dlpack_forge.managed_of(capsule).dl_tensor
        assert (tensor.device.device_type, tensor.device.device_id) == (dlpack_forge.CPU, 0)
        assert PyGPU.from_dlpack(capsule).tolist() == a.tolist()

    @pytest.mark.parametrize("device", [(4, 0), (2, 999), (1, 1), (14, 0), (-1, 0)])
    def test_dlpack_export_of_host_array_rejects_other_devices(self, device: tuple[int, int]) -> None:
        with pytest.raises(BufferError, match="DLPack device"):
            PyGPU.zeros(3, device="cpu").__dlpack__(dl_device=device)

    @pytest.mark.parametrize("device", ["cpu", 1, (1,), (1, "0"), (None, None)])
    def test_malformed_dl_device_raises_type_error(self, device: object) -> None:
        with pytest.raises(TypeError, match="dl_device"):
            PyGPU.zeros(3).__dlpack__(dl_device=device)

    @gpu_only
    def test_device_array_is_exported_to_host_by_copy_only(self) -> None:
        a = PyGPU.arange(3)
        with pytest.raises(BufferError, match="copy=False"):
            a.__dlpack__(dl_device=(1, 0), copy=False)
        with pytest.raises(ValueError, match="stream"):
            a.__dlpack__(dl_device=(1, 0), stream=1)
        capsule = a.__dlpack__(dl_device=(1, 0), stream=-1, max_version=(1, 0))
        assert dlpack_forge.managed_of(capsule).flags == dlpack_forge.IS_COPIED

    @gpu_only
    @since_numpy("2.1", "device= of from_dlpack")
    def test_numpy_from_dlpack_with_device_cpu_downloads_device_array(self) -> None:
        a = PyGPU.arange(12).reshape(3, 4)[::-1, ::2]
        assert np.from_dlpack(a, device="cpu").tolist() == a.tolist()


class TestStreams:
    @pytest.mark.parametrize("stream", [1, 2, 3, -2, 2**62])
    def test_export_of_host_array_rejects_stream_argument(self, stream: int) -> None:
        with pytest.raises(ValueError, match="stream"):
            PyGPU.zeros(3, device="cpu").__dlpack__(stream=stream)

    def test_export_accepts_handle_of_default_stream(self) -> None:
        a = PyGPU.arange(3)
        assert a.__dlpack__(stream=PyGPU.default_stream().handle)

    @pytest.mark.parametrize("stream", [None, -1, 0])
    def test_export_of_host_array_accepts_stream_none_zero_and_minus_one(self, stream: int | None) -> None:
        assert PyGPU.zeros(3, device="cpu").__dlpack__(stream=stream)

    @pytest.mark.parametrize("stream", ["1", 1.0, True, object(), (0, 1)])
    def test_export_rejects_stream_that_is_no_integer(self, stream: object) -> None:
        with pytest.raises(TypeError, match="stream"):
            PyGPU.zeros(3).__dlpack__(stream=stream)

    @pytest.mark.parametrize("stream", [2**63, 2**80, -(2**80)])
    def test_export_rejects_stream_number_beyond_64_bits(self, stream: int) -> None:
        with pytest.raises(ValueError, match="stream"):
            PyGPU.zeros(3).__dlpack__(stream=stream)

    @cuda_only
    @pytest.mark.parametrize("stream", [None, -1, 0, 1, 2])
    def test_export_accepts_stream_numbers_defined_for_cuda(self, stream: int | None) -> None:
        assert PyGPU.zeros(3).__dlpack__(stream=stream)

    @cuda_only
    @pytest.mark.parametrize("stream", [-2, -3])
    def test_export_rejects_stream_numbers_undefined_for_cuda(self, stream: int) -> None:
        with pytest.raises(ValueError, match=f"stream={stream}"):
            PyGPU.zeros(3).__dlpack__(stream=stream)

    @hip_only
    @pytest.mark.parametrize("stream", [None, -1, 0])
    def test_export_accepts_stream_numbers_defined_for_rocm(self, stream: int | None) -> None:
        assert PyGPU.zeros(3).__dlpack__(stream=stream)

    @hip_only
    @pytest.mark.parametrize("stream", [1, 2, -2])
    def test_export_rejects_stream_numbers_undefined_for_rocm(self, stream: int) -> None:
        with pytest.raises(ValueError, match=f"stream={stream}"):
            PyGPU.zeros(3).__dlpack__(stream=stream)

    @gpu_only
    def test_export_to_stream_handle_of_pygpu_waits_for_earlier_writes(self) -> None:
        writer, reader = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
        with writer:
            a = PyGPU.zeros(1 << 20)
            for value in range(50):
                a.fill(float(value))
        capsule = a.__dlpack__(stream=reader.handle, max_version=(1, 0))
        with reader:
            b = PyGPU.from_dlpack(capsule, stream=reader)
            assert (b.get() == 49).all()


def test_dlpack_device_returns_plain_integers() -> None:
    kind, number = PyGPU.zeros(3).__dlpack_device__()
    assert (type(kind), type(number)) == (int, int)
    assert kind == {"cpu": dlpack_forge.CPU, "cuda": dlpack_forge.CUDA, "hip": dlpack_forge.ROCM}[BACKEND]


class TestDeleter:
    def test_dropped_capsule_without_consumer_frees_memory(self) -> None:
        owner = np.zeros(1000)
        before = sys.getrefcount(owner)
        for version in (None, (1, 0)):
            a = PyGPU.asarray(owner, device="cpu")
            capsule = a.__dlpack__(max_version=version)
            del a
            assert sys.getrefcount(owner) > before
            del capsule
            assert sys.getrefcount(owner) == before

    def test_memory_of_consumed_capsule_is_freed_by_call_of_deleter(self) -> None:
        owner = np.zeros(1000)
        before = sys.getrefcount(owner)
        a = PyGPU.asarray(owner, device="cpu")
        capsule = a.__dlpack__(max_version=(1, 0))
        pointer = dlpack_forge.consume(capsule)
        del a, capsule
        assert sys.getrefcount(owner) > before
        dlpack_forge.delete(pointer)
        PyGPU.zeros(
            1, device="cpu"
        )  # A reference that was dropped without the GIL is released at the next call of PyGPU.
        assert sys.getrefcount(owner) == before

    def test_pending_exception_is_unchanged_when_capsule_is_dropped(self) -> None:
        with pytest.raises(ZeroDivisionError):
            _capsule = [PyGPU.zeros(3).__dlpack__(), 1 / 0]

    def test_deleter_may_run_after_python_thread_state_has_ended(self) -> None:
        """Test a call of a deleter in a destructor of thread-specific data, which runs after Python has deleted the
        thread's state."""
        libc = ctypes.CDLL(None)
        key = ctypes.c_uint()
        owner = np.ones(1000)
        before = sys.getrefcount(owner)
        shared = [PyGPU.asarray(owner, device="cpu") for _ in range(20)]
        tensors = [dlpack_forge.consume(a.__dlpack__(max_version=(1, 0))) for a in shared]
        tensors += [dlpack_forge.consume(PyGPU.full(1000, 1.0).__dlpack__(max_version=(1, 0))) for _ in range(20)]
        del shared
        deleter = dlpack_forge.DLManagedTensorVersioned.from_address(tensors[0]).deleter
        assert libc.pthread_key_create(ctypes.byref(key), ctypes.c_void_p(deleter)) == 0

        def own(tensor: int) -> None:
            assert libc.pthread_setspecific(key, ctypes.c_void_p(tensor)) == 0

        threads = [threading.Thread(target=own, args=(tensor,)) for tensor in tensors]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # `join` may return before the destructors of the thread-specific data have run.
        end = time.monotonic() + 10
        while sys.getrefcount(owner) != before and time.monotonic() < end:
            time.sleep(0.01)
            PyGPU.zeros(1)  # A reference that was dropped without the GIL is released at the next call of PyGPU.
        assert libc.pthread_key_delete(key) == 0
        assert sys.getrefcount(owner) == before

    def test_deleters_run_by_four_threads_do_not_deadlock(self) -> None:
        tensors = [dlpack_forge.consume(PyGPU.zeros((10, 10)).__dlpack__(max_version=(1, 0))) for _ in range(200)]

        def run(part: list[int]) -> None:
            for tensor in part:
                dlpack_forge.delete(tensor)

        threads = [threading.Thread(target=run, args=(tensors[start::4],)) for start in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    @pytest.mark.parametrize("versioned", [False, True])
    def test_deleter_after_interpreter_exit_causes_no_error(self, versioned: bool) -> None:
        """Test a deleter in a `__cxa_atexit` function, which runs after the end of the interpreter."""
        code = f"""
            import ctypes, sys
            sys.path.insert(0, {str(dlpack_forge.__file__).rsplit("/", 1)[0]!r})
            import dlpack_forge, numpy, PyGPU
            version = (1, 0) if {versioned} else None
            a = PyGPU.asarray(numpy.zeros(1000))
            pointer = dlpack_forge.consume(a.__dlpack__(max_version=version))
            kind = dlpack_forge.DLManagedTensorVersioned if {versioned} else dlpack_forge.DLManagedTensor
            deleter = ctypes.c_void_p(kind.from_address(pointer).deleter)
            assert ctypes.CDLL(None).__cxa_atexit(deleter, ctypes.c_void_p(pointer), None) == 0
            del a
            print("reached the end")
        """
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "reached the end\n", "")

    def test_process_with_live_exports_and_imports_exits_without_error(self) -> None:
        code = """
            import numpy, PyGPU
            a = PyGPU.zeros(1000)
            keep = [a.__dlpack__(), PyGPU.from_dlpack(numpy.arange(5)), numpy.from_dlpack(PyGPU.zeros(5, device="cpu"))]
            keep.append(keep)
        """
        run = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False)
        assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_memoryview_of_array_raises_type_error() -> None:
    with pytest.raises(TypeError):
        memoryview(PyGPU.zeros(3))


def test_subclass_array_is_exported_without_copy() -> None:
    class Mine(PyGPU.GPUArray):
        pass

    a = Mine(3, np.float32)
    assert dlpack_forge.managed_of(capsule := a.__dlpack__()).dl_tensor.data == a.ptr
    assert capsule


@gpu_only
def test_numpy_from_dlpack_rejects_device_array() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((BufferError, ValueError, RuntimeError, TypeError)):
            np.from_dlpack(PyGPU.zeros(3))
