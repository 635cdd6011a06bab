"""Test export and import by `__cuda_array_interface__`, including invalid interface dictionaries.

`tests/array/test_host_access.py` tests `__array_interface__`, the interface of host memory.
"""

import gc
import subprocess
import sys
import textwrap
from typing import Any

import numpy as np
import pytest

import PyGPU

BACKEND = PyGPU.backend_name()
gpu_only = pytest.mark.skipif(BACKEND == "cpu", reason="needs a device with a driver")
cuda_only = pytest.mark.skipif(BACKEND != "cuda", reason="the stream of the interface is CUDA's")
cpu_only = pytest.mark.skipif(BACKEND != "cpu", reason="what is said where there is no GPU")

DTYPES = ["bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
SHAPES: list[tuple[int, ...]] = [(), (0,), (3, 0, 2), (5,), (4, 1, 6)]


class Exporter:
    """Export a valid or invalid interface dictionary, and keep alive the memory that the dictionary describes."""

    def __init__(self, said: object, keep: object = None) -> None:
        self.__cuda_array_interface__ = said
        self.keep = keep


def test_host_array_has_no_cuda_array_interface() -> None:
    a = PyGPU.zeros(3, device="cpu")
    assert not hasattr(a, "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="host memory"):
        a.__cuda_array_interface__  # noqa: B018


@gpu_only
class TestDeviceInterface:
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("shape", SHAPES)
    def test_interface_dictionary_describes_array(self, dtype: str, shape: tuple[int, ...]) -> None:
        a = PyGPU.ones(shape, dtype)
        said = a.__cuda_array_interface__
        assert said.pop("stream") == (1 if BACKEND == "cuda" else None)
        typestr = np.dtype(dtype).str
        pointer = (a.ptr if a.size else 0, False)
        assert said == {"shape": shape, "typestr": typestr, "data": pointer, "version": 3, "strides": None}

    def test_strides_in_interface_dictionary_are_signed_and_in_bytes(self) -> None:
        a = PyGPU.zeros((4, 6), np.float32)[::-1, ::2]
        assert a.__cuda_array_interface__["strides"] == (-24, 8)
        assert a.__cuda_array_interface__["data"] == (a.ptr, False)

    def test_interface_dictionary_describes_structure_with_padding(self) -> None:
        dtype = np.dtype([("a", "?"), ("b", "<i8"), ("c", "<c8"), ("d", "i1")], align=True)
        a = PyGPU.zeros(3, dtype)
        shared = PyGPU.asarray(Exporter(a.__cuda_array_interface__, a))
        assert (shared.dtype, shared.ptr) == (dtype, a.ptr)

    def test_interface_dictionary_describes_void_items_without_fields(self) -> None:
        a = PyGPU.zeros(3, "V8")
        said = a.__cuda_array_interface__ | {"descr": [("", "|V8")]}
        assert PyGPU.asarray(Exporter(said, a)).dtype == np.dtype("V8")

    @pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2"])
    def test_array_of_dtype_without_typestr_has_no_interface(self, dtype: str) -> None:
        pytest.importorskip("ml_dtypes")
        assert not hasattr(PyGPU.zeros(3, dtype), "__cuda_array_interface__")

    def test_numpy_conversion_of_device_array_raises_type_error(self) -> None:
        a = PyGPU.zeros(3)
        assert not hasattr(a, "__array_interface__")
        with pytest.raises(TypeError, match=r"\.get\(\)"):
            np.asarray(a)
        with pytest.raises(TypeError, match="from_dlpack"):
            a.__array__()

    @cuda_only
    def test_interface_dictionary_contains_stream_of_last_write(self) -> None:
        stream = PyGPU.Stream()
        a = PyGPU.zeros(3)
        with stream:
            a.fill(2.0)
        assert a.__cuda_array_interface__["stream"] == stream.handle
        handle = stream.handle
        del stream
        gc.collect()
        # The exporting array keeps the stream of its last write alive, so the handle of the dropped stream is still
        # valid.
        assert a.__cuda_array_interface__["stream"] == handle

    def test_import_of_pygpu_array_by_array_interface_shares_memory(self) -> None:
        a = PyGPU.to_gpu(np.arange(24.0).reshape(4, 6))[::-1, ::2]
        said = a.__cuda_array_interface__
        b = PyGPU.asarray(Exporter(said, a))
        assert (b.ptr, b.strides, b.dtype, b.device) == (a.ptr, a.strides, a.dtype, a.device)
        assert b.tolist() == a.tolist()

    def test_exporting_object_is_kept_alive_until_last_view_is_dropped(self) -> None:
        a = PyGPU.zeros(5)
        exporter = Exporter(a.__cuda_array_interface__, a)
        before = sys.getrefcount(exporter)
        view = PyGPU.asarray(exporter)[1:]
        assert sys.getrefcount(exporter) > before
        del view
        PyGPU.zeros(1)
        assert sys.getrefcount(exporter) == before

    def test_array_imported_from_readonly_interface_is_readonly(self) -> None:
        a = PyGPU.zeros(3)
        said = a.__cuda_array_interface__
        said["data"] = (a.ptr, True)
        b = PyGPU.asarray(Exporter(said, a))
        with pytest.raises(ValueError, match="read-only"):
            b[0] = 1

    def test_producer_may_destroy_stream_before_imported_array_is_dropped(self) -> None:
        """Test an import whose producer destroys its stream before the imported array is dropped.

        An array of CuPy does not keep the stream alive, although its interface contains the stream's handle.
        """
        for _ in range(5):
            stream = PyGPU.Stream(non_blocking=True)
            with stream:
                a = PyGPU.full(1000, 3.0)
            said = a.__cuda_array_interface__ | {"stream": stream.handle}
            b = PyGPU.asarray(Exporter(said, PyGPU.GPUArray))
            assert (b.get() == 3).all()
            del a, stream
            gc.collect()
            del b

    def test_interface_dictionary_of_empty_array_needs_no_pointer(self) -> None:
        for pointer in (0, None):
            said = {"shape": (3, 0), "typestr": "<f4", "data": (pointer, False), "version": 3}
            assert PyGPU.asarray(Exporter(said)).shape == (3, 0)

    def test_import_of_cuda_interface_with_host_address_is_rejected(self) -> None:
        x = np.zeros(1000)
        said = {"shape": (1000,), "typestr": "<f8", "data": (x.ctypes.data, False), "version": 3}
        with pytest.raises((ValueError, RuntimeError)):
            PyGPU.asarray(Exporter(said, x))

    @cuda_only
    def test_interface_import_works_with_and_without_wait_for_stream(self) -> None:
        code = """
            import PyGPU
            class Exporter: pass
            a, x = PyGPU.zeros(3), Exporter()
            x.__cuda_array_interface__ = a.__cuda_array_interface__ | {"stream": 1}
            print(PyGPU.asarray(x).tolist())
        """
        for value in ("0", "1"):
            environment = {**__import__("os").environ, "PYGPU_CUDA_ARRAY_INTERFACE_SYNC": value}
            arguments = [sys.executable, "-c", textwrap.dedent(code)]
            run = subprocess.run(arguments, capture_output=True, text=True, check=False, env=environment)
            assert (run.returncode, run.stdout) == (0, "[0.0, 0.0, 0.0]\n"), run.stderr


TRUE = {"shape": (2, 3), "typestr": "<f4", "data": (4096, False), "version": 3, "strides": None, "stream": None}
MISSING = object()
LIES: dict[str, tuple[dict[str, Any], type[Exception]]] = {
    "no shape": ({"shape": MISSING}, ValueError),
    "shape None": ({"shape": None}, ValueError),
    "shape a number": ({"shape": 6}, TypeError),
    "shape of text": ({"shape": ("2", "3")}, TypeError),
    "shape of floats": ({"shape": (2.0, 3.0)}, TypeError),
    "negative length": ({"shape": (2, -3)}, ValueError),
    "length beyond 64 bits": ({"shape": (2**64,)}, ValueError),
    "size beyond 64 bits": ({"shape": (2**40, 2**40)}, ValueError),
    "size beyond memory": ({"shape": (2**57,)}, ValueError),
    "too many axes": ({"shape": (1,) * 65}, ValueError),
    "no typestr": ({"typestr": MISSING}, ValueError),
    "typestr no text": ({"typestr": 4}, TypeError),
    "typestr a dtype": ({"typestr": np.dtype("f4")}, TypeError),
    "unknown typestr": ({"typestr": "<q9"}, TypeError),
    "empty typestr": ({"typestr": ""}, TypeError),
    "big-endian": ({"typestr": ">f4"}, TypeError),
    "objects": ({"typestr": "|O8"}, TypeError),
    "text items": ({"typestr": "<U4"}, TypeError),
    "void of no bytes": ({"typestr": "|V0"}, (TypeError, ValueError)),
    "no data": ({"data": MISSING}, ValueError),
    "data None": ({"data": None}, ValueError),
    "data an int": ({"data": 4096}, TypeError),
    "data of one": ({"data": (4096,)}, TypeError),
    "data of three": ({"data": (4096, False, 0)}, TypeError),
    "pointer of text": ({"data": ("4096", False)}, TypeError),
    "pointer a float": ({"data": (4096.0, False)}, TypeError),
    "negative pointer": ({"data": (-4096, False)}, ValueError),
    "pointer beyond 64 bits": ({"data": (2**64, False)}, ValueError),
    "misaligned pointer": ({"data": (4097, False)}, ValueError),
    "no version": ({"version": MISSING}, ValueError),
    "version of text": ({"version": "3"}, TypeError),
    "version a bool": ({"version": True}, TypeError),
    "negative version": ({"version": -1}, ValueError),
    "version to come": ({"version": 4}, ValueError),
    "strides of another rank": ({"strides": (4,)}, ValueError),
    "strides a number": ({"strides": 4}, TypeError),
    "strides of text": ({"strides": ("12", "4")}, TypeError),
    "strides beyond 64 bits": ({"strides": (2**64, 4)}, ValueError),
    "strides that overflow": ({"strides": (2**62, 2**62)}, ValueError),
    "a mask": ({"mask": np.zeros(6, bool)}, ValueError),
    "stream zero": ({"stream": 0}, ValueError),
    "negative stream": ({"stream": -1}, ValueError),
    "stream of text": ({"stream": "1"}, TypeError),
    "stream a bool": ({"stream": True}, TypeError),
    "stream beyond 64 bits": ({"stream": 2**64}, ValueError),
    "descr of another size": ({"typestr": "|V12", "descr": [("x", "<f4")]}, ValueError),
    "descr of nonsense": ({"typestr": "|V12", "descr": "nonsense"}, TypeError),
    "descr with objects": ({"typestr": "|V8", "descr": [("x", "O")]}, TypeError),
}


@pytest.mark.parametrize(("lie", "error"), LIES.values(), ids=LIES.keys())
def test_invalid_interface_dictionary_raises_without_access_to_memory(
    lie: dict[str, Any], error: type[Exception]
) -> None:
    said = {key: value for key, value in (TRUE | lie).items() if value is not MISSING}
    before = dict(said)
    with pytest.raises(error):
        PyGPU.asarray(Exporter(said))
    assert said == before


@pytest.mark.parametrize("said", [None, 3, "text", [], (), object(), np.zeros(3)])
def test_non_dictionary_interface_raises_type_error(said: object) -> None:
    with pytest.raises(TypeError):
        PyGPU.asarray(Exporter(said))


def test_interface_dictionary_with_elements_and_null_pointer_is_rejected() -> None:
    with pytest.raises((ValueError, RuntimeError)):
        PyGPU.asarray(Exporter(TRUE | {"data": (0, False)}))


def test_error_of_cuda_array_interface_property_is_raised() -> None:
    class Broken:
        @property
        def __cuda_array_interface__(self) -> dict[str, object]:
            raise RuntimeError("no interface today")

    with pytest.raises(RuntimeError, match="no interface today"):
        PyGPU.asarray(Broken())


@cpu_only
def test_import_of_interface_without_gpu_raises_backend_unavailable_error() -> None:
    with pytest.raises(PyGPU.BackendUnavailableError):
        PyGPU.asarray(Exporter(TRUE))
