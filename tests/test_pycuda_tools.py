"""PyCUDA's tools: contexts for tests, caches, what a device has, C's names of dtypes; and `characterize`."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator

import numpy
import pytest

import PyGPU
from PyGPU import characterize, tools
from PyGPU import driver as drv


@pytest.fixture(autouse=True)
def _no_contexts() -> Iterator[None]:
    """Begin with an empty stack: an example that was run before may have left a context there."""
    found = []
    while (context := drv.Context.get_current()) is not None:
        found.append(context)
        context.pop()
    yield
    for context in reversed(found):
        context.push()


def test_a_marked_test_has_a_context_and_leaves_none():
    seen = []

    @tools.mark_cuda_test
    def marked(number: int, *, word: str) -> str:
        """What it does."""
        seen.append(drv.Context.get_current())
        return word * number

    assert marked(2, word="a") == "aa"
    assert marked.__doc__ == "What it does."
    assert seen[0] is not None
    assert drv.Context.get_current() is None


def test_a_marked_test_that_fails_leaves_no_context():
    @tools.mark_cuda_test
    def marked() -> None:
        raise KeyError("on purpose")

    with pytest.raises(KeyError):
        marked()
    assert drv.Context.get_current() is None


@pytest.fixture
def context():
    yield from tools.init_cuda_context_fixture()


def test_a_fixture_has_a_context(context):
    assert isinstance(drv.Context.get_current(), drv.Context)


def test_the_device_is_the_one_that_the_environment_names(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    tools.make_default_context().pop()
    (tmp_path / ".cuda_device").write_text("0\n")
    made = tools.make_default_context()
    assert made.get_device() == drv.Device(0)
    made.pop()
    monkeypatch.setenv("CUDA_DEVICE", "1000")
    with pytest.raises(drv.LogicError, match="1000"):
        tools.make_default_context()
    monkeypatch.setenv("CUDA_DEVICE", "first")
    with pytest.raises(RuntimeError, match="'first'"):
        tools.make_default_context()


def test_contexts_are_made_by_whom_one_likes():
    made = tools.make_default_context(lambda device: device.make_context(drv.ctx_flags.SCHED_YIELD))
    assert drv.Context.get_current() is made
    made.pop()
    with pytest.raises(RuntimeError, match="no device gives a context"):
        tools.make_default_context(refuse)


def refuse(device: drv.Device) -> drv.Context:
    raise drv.LogicError("no")


def test_the_default_device_is_deprecated():
    with pytest.warns(DeprecationWarning, match="make_default_context"):
        assert tools.get_default_device() == drv.Device(0)


def test_what_a_function_returned_is_kept_until_caches_are_cleared():
    calls = itertools.count()

    @tools.context_dependent_memoize
    def number(*args: object, **kwargs: object) -> int:
        return next(calls)

    assert [number(1), number(2), number(1), number(1, key=3), number(1, key=3)] == [0, 1, 0, 2, 2]
    assert number in tools.context_dependent_memoized_functions
    tools.clear_context_caches()
    assert number(1) == 3


def test_the_logarithm_of_bits_is_rounded_down():
    assert [tools.bitlog2(n) for n in (0, 1, 2, 3, 4, 17, 2**40, 2**64 - 1)] == [0, 0, 1, 1, 2, 4, 40, 63]


def test_what_a_device_has_comes_from_itself():
    data, device = tools.DeviceData(), drv.Device(0)
    assert data.max_threads == device.max_threads_per_block
    assert data.warp_size == device.warp_size
    assert data.shared_memory > 0
    assert tools.DeviceData(device).max_threads == data.max_threads
    assert (data.align(65), data.align(64), data.align(1, 8)) == (128, 64, 128)
    assert (data.align_words(4), data.align_dtype(17, 4), data.coalesce(17)) == (16, 32, 32)
    assert data.make_valid_tex_channel_count(3) == 4
    with pytest.raises(ValueError, match="1 to 4"):
        data.make_valid_tex_channel_count(5)
    with pytest.raises(ValueError, match="4, 8 or 16"):
        data.align_bytes(5)


def test_occupancy_is_limited_by_what_is_short():
    data = tools.DeviceData()
    data.max_threads, data.warp_size, data.warps_per_mp, data.thread_blocks_per_mp = 1024, 32, 64, 32
    data.registers, data.shared_memory, data.reserved_shared_memory = 65536, 233472, 1024
    full = tools.OccupancyRecord(data, 256)
    assert (full.tb_per_mp, full.limited_by, full.warps_per_mp, full.occupancy) == (8, "warps", 64, 1.0)
    few = tools.OccupancyRecord(data, 32)
    assert (few.tb_per_mp, few.limited_by, few.occupancy) == (32, "device", 0.5)
    shared = tools.OccupancyRecord(data, 128, shared_mem=48 << 10)
    assert (shared.tb_per_mp, shared.limited_by) == (4, "smem")
    registers = tools.OccupancyRecord(data, 256, registers=128)
    assert (registers.tb_per_mp, registers.limited_by) == (2, "regs")
    for arguments in ((2048,), (0,), (256, 1 << 20), (1024, 0, 128)):
        with pytest.raises(ValueError, match="too many"):
            tools.OccupancyRecord(data, *arguments)


def test_dtypes_have_names_in_c():
    assert tools.dtype_to_ctype(numpy.float32) == "float"
    assert tools.dtype_to_ctype(numpy.complex64) == "pycuda::complex<float>"
    assert isinstance(tools.parse_c_arg("float *x"), tools.VectorArg)
    assert isinstance(tools.parse_c_arg("int n"), tools.ScalarArg)
    pair = numpy.dtype([("a", "i4"), ("b", "f4")])
    assert tools.get_or_register_dtype("tools_pair", pair) == pair
    assert tools.dtype_to_ctype(pair) == "tools_pair"


def test_pools_are_among_the_tools():
    pool = tools.DeviceMemoryPool()
    memory = pool.allocate(100)
    assert pool.active_blocks == 1
    memory.free()
    pool.free_held()
    assert tools.PageLockedMemoryPool().allocate((4,), numpy.float32).shape == (4,)


def test_a_platform_is_characterized():
    assert characterize.has_double_support() is True
    assert characterize.has_stack() is True
    assert characterize.platform_bits() == 64


def test_types_of_device_code_are_measured():
    try:
        assert characterize.sizeof("double2") == 16
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")
    assert characterize.sizeof("pair", "struct pair { char a; double b; };") == 16
    assert characterize.sizeof("char") == 1


def test_a_chosen_device_that_is_not_there_is_told_at_the_import(monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "1000")
    run = subprocess.run([sys.executable, "-c", "import PyGPU.autoinit"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "1000" in run.stderr
