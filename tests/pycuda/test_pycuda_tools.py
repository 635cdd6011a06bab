"""Test PyCUDA's module `tools` and its queries of the platform."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU import characterize, tools


def test_default_context_uses_device_of_environment(monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "0")
    context = tools.make_default_context()
    assert context.get_device() == drv.Device(0)
    context.pop()
    for wrong in ("1000", "first"):
        monkeypatch.setenv("CUDA_DEVICE", wrong)
        with pytest.raises(RuntimeError, match="CUDA_DEVICE"):
            tools.make_default_context()


def test_make_default_context_calls_function_argument(monkeypatch):
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    made = []
    context = tools.make_default_context(lambda device: made.append(device) or device.make_context())
    assert made == [drv.Device(0)]
    context.pop()

    def refuse(device: drv.Device) -> drv.Context:
        raise drv.LogicError("not this one")

    with pytest.raises(RuntimeError, match="not this one"):
        tools.make_default_context(refuse)
    with pytest.warns(DeprecationWarning, match="get_default_device"):
        assert tools.get_default_device() == drv.Device(0)


def test_memoized_function_caches_results_until_cache_is_cleared():
    calls = []

    @tools.context_dependent_memoize
    def twice(number, more=0):
        calls.append(number)
        return 2 * number + more

    assert [twice(3), twice(3), twice(3, more=1)] == [6, 6, 7]
    assert len(calls) == 2
    tools.clear_context_caches()
    assert twice(3) == 6
    assert len(calls) == 3


@tools.mark_cuda_test
def test_decorator_mark_cuda_test_creates_context_for_test():
    assert drv.Context.get_current()._device == PyGPU.Device()
    drv.Context.get_current().push()
    drv.Context.pop()


@pytest.fixture
def context():
    yield from tools.init_cuda_context_fixture()


def test_pytest_fixture_opens_and_closes_context(context):
    drv.Context.synchronize()


def test_dtype_is_converted_to_c_name_and_back():
    names = {"bool": "bool", "int8": "signed char", "uint16": "unsigned short", "float64": "double"}
    for dtype, name in names.items():
        assert tools.dtype_to_ctype(dtype) == name
    assert tools.dtype_to_ctype(np.complex64) == "pycuda::complex<float>"
    assert tools.dtype_to_ctype(np.float64, with_fp_tex_hack=True) == "fp_tex_double"
    assert tools.get_or_register_dtype("unsigned long") == np.dtype("L")
    for wrong in (None, np.dtype([("alone", "f4")])):
        with pytest.raises(ValueError, match=r"register it|may not be None"):
            tools.dtype_to_ctype(wrong)


def test_struct_dtype_is_registered_once():
    struct = np.dtype([("of", "i4"), ("test_pycuda_tools", "f4")])
    with pytest.warns(DeprecationWarning, match="register_dtype"):
        tools.register_dtype(struct, "struct_of_test")
    assert tools.dtype_to_ctype(struct) == "struct_of_test"
    assert tools.get_or_register_dtype("struct_of_test", struct) == struct
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match="already"):
            tools.register_dtype(struct, "another")
        with pytest.raises(RuntimeError, match="already"):
            tools.get_or_register_dtype("float", struct)
        tools.register_dtype(struct, "another", alias_ok=True)
    with pytest.raises(ValueError, match="unknown_type"):
        tools.get_or_register_dtype("unknown_type")


def test_c_declarations_are_parsed_to_arguments_and_written_back():
    vector = tools.parse_c_arg("const volatile float *__restrict__ x")
    assert (type(vector), vector.name, vector.dtype) == (tools.VectorArg, "x", np.float32)
    assert vector.declarator().endswith("float *x")
    assert isinstance(tools.parse_c_arg("unsigned int x[3]"), tools.VectorArg)
    scalar = tools.parse_c_arg("unsigned long long n")
    assert (type(scalar), scalar.dtype) == (tools.ScalarArg, np.uint64)
    assert tools.ScalarArg(np.int32, "n").declarator() == "int n"
    assert [tools.get_arg_type(text) for text in ("float *x", "float x", "int x")] == ["P", "f", "i"]
    for wrong in ("x", "nothing x", "float 3"):
        with pytest.raises(ValueError, match=r"declaration|unknown type"):
            tools.parse_c_arg(wrong)


def test_bitlog2_of_number_is_rounded_down():
    assert [tools.bitlog2(n) for n in (0, 1, 2, 3, 17, 1 << 40)] == [0, 0, 1, 1, 4, 40]


def test_device_data_rejects_unknown_property_names():
    data = tools.DeviceData()
    assert data.warp_size > 0
    assert data.max_threads > 0
    with pytest.raises(AttributeError, match="do not tell"):
        _ = data.smem_granularity
    assert (data.align(65), data.align_words(4), data.align_dtype(17, 4), data.coalesce(17)) == (128, 16, 32, 32)
    assert data.make_valid_tex_channel_count(3) == 4
    with pytest.raises(ValueError, match="at most 4"):
        data.make_valid_tex_channel_count(5)


class ImaginaryDevice(tools.DeviceData):
    """Define the properties of an imaginary device, from which the test computes the occupancy of kernels."""

    max_threads, warp_size, thread_blocks_per_mp, warps_per_mp = 1024, 32, 32, 64
    registers, shared_memory = 65536, 100 << 10


def test_occupancy_is_minimum_of_limits():
    data = ImaginaryDevice()
    full = tools.OccupancyRecord(data, 256)
    assert (full.tb_per_mp, full.limited_by, full.warps_per_mp, full.occupancy) == (8, "warps", 64, 1.0)
    assert tools.OccupancyRecord(data, 32).limited_by == "threads"
    assert tools.OccupancyRecord(data, 256, registers=64).limited_by == "regs"
    assert tools.OccupancyRecord(data, 256, shared_mem=50 << 10).limited_by == "smem"
    for wrong in ({"threads": 2048}, {"threads": 1024, "registers": 255}, {"threads": 1, "shared_mem": 1 << 20}):
        with pytest.raises(ValueError, match="too m"):
            tools.OccupancyRecord(data, **wrong)


def test_platform_queries_return_properties():
    assert characterize.has_double_support()
    assert characterize.has_stack()
    assert characterize.platform_bits() == 64
    assert characterize.sizeof("float4") == 16
    assert characterize.sizeof("struct pair", "struct pair { char a; double b; };") == 16
