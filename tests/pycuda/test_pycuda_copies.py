"""Test PyCUDA's copies and fills of linear memory against NumPy."""

from __future__ import annotations

import array
import itertools

import numpy
import pytest

import PyGPU
from PyGPU import driver as host
from PyGPU._pycuda.driver import copies, memset
from PyGPU._pycuda.driver.memory import from_device, from_device_like, mem_alloc, to_device
from PyGPU._pycuda.driver.pitched_copies import Memcpy2D, Memcpy3D, Memcpy3DPeer
from support import stable_repr

VALUES = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)
CPU = PyGPU.backend_name() == "cpu"
LARGE = 3 << 20  # Copies of at least this size use the ring of pinned slots.


def fetched(memory, like=VALUES):
    return from_device_like(memory, like)


@pytest.mark.parametrize(
    "source",
    [
        b"abcdefgh",
        bytearray(b"abcdefgh"),
        memoryview(b"abcdefgh"),
        array.array("d", [2.5]),
        numpy.arange(8, dtype="u1").reshape(2, 4),
        numpy.asfortranarray(numpy.arange(8, dtype="u1").reshape(2, 4)),
        numpy.float64(2.5),
        numpy.array([("ab", 3)], dtype=[("name", "S4"), ("n", "<i4")]),
        numpy.array(["2026-01-01"], "M8[D]"),
    ],
    ids=stable_repr,
)
def test_copy_function_accepts_any_contiguous_buffer(source):
    memory = mem_alloc(8)
    copies.memcpy_htod(memory, source)
    back = numpy.zeros(8, "u1")
    copies.memcpy_dtoh(back, memory)
    is_numpy = isinstance(source, numpy.ndarray | numpy.generic)
    assert back.tobytes() == (source.tobytes("A") if is_numpy else bytes(memoryview(source).cast("B")))


def test_copy_by_address_moves_part_of_memory():
    memory = to_device(VALUES)
    row = numpy.empty(6, numpy.float32)
    copies.memcpy_dtoh(row, int(memory) + 24)
    assert numpy.array_equal(row, VALUES[1])
    copies.memcpy_htod(numpy.int64(int(memory) + 24), 0 * row)
    assert numpy.array_equal(fetched(memory)[1], 0 * row)


def test_copy_function_accepts_array_as_address():
    values = PyGPU.to_gpu(VALUES)
    copies.memcpy_htod(values[1:], VALUES[0])
    assert numpy.array_equal(values.get()[1], VALUES[0])
    result = numpy.empty_like(VALUES)
    copies.memcpy_dtoh(result, values.gpudata)
    assert numpy.array_equal(result, values.get())


def test_copy_of_zero_bytes_raises_no_error():
    memory = mem_alloc(4)
    copies.memcpy_htod(memory, b"")
    copies.memcpy_dtoh(bytearray(), memory)
    copies.memcpy_dtod(memory, memory, 0)
    memset.memset_d8(memory, 1, 0)


def test_invalid_copy_raises_and_changes_nothing():
    memory = to_device(VALUES)
    read_only = numpy.zeros_like(VALUES)
    read_only.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        copies.memcpy_dtoh(read_only, memory)
    with pytest.raises(ValueError, match="read-only"):
        copies.memcpy_dtoh_async(b"abcd", memory)
    with pytest.raises(ValueError, match="not contiguous"):
        copies.memcpy_htod(memory, VALUES[:, ::2])
    with pytest.raises(ValueError, match="block of 96 bytes"):
        copies.memcpy_htod(memory, numpy.zeros(25, "f4"))
    with pytest.raises(ValueError, match="block of 96 bytes"):
        copies.memcpy_dtoh(numpy.zeros(24, "f4"), int(memory) + 1)
    with pytest.raises(ValueError, match="block of 96 bytes"):
        copies.memcpy_dtod(memory, int(memory) + 90, 7)
    with pytest.raises(TypeError, match="host memory"):
        copies.memcpy_htod(memory, 7)
    with pytest.raises(TypeError, match="Python objects"):
        copies.memcpy_htod(memory, numpy.array([None]))
    with pytest.raises(TypeError):
        copies.memcpy_htod("memory", VALUES)
    with pytest.raises(ValueError, match="address 0"):
        copies.memcpy_htod(0, VALUES)
    with pytest.raises(ValueError, match="negative"):
        copies.memcpy_dtod(memory, memory, -1)
    assert numpy.array_equal(fetched(memory), VALUES)


@pytest.mark.parametrize("size", [100, LARGE])
def test_async_upload_copies_source_before_it_returns(size):
    stream = PyGPU.Stream()
    memory, source = mem_alloc(size), numpy.full(size, 7, "u1")
    expected = source.copy()
    copies.memcpy_htod_async(memory, source, stream)
    source[:] = 9
    stream.synchronize()
    assert numpy.array_equal(fetched(memory, source), expected)


@pytest.mark.parametrize("non_blocking", [False, True])
def test_copies_of_tracked_memory_are_ordered_across_streams(non_blocking):
    one, two = PyGPU.Stream(non_blocking=non_blocking), PyGPU.Stream(non_blocking=non_blocking)
    memory, other = mem_alloc(LARGE), mem_alloc(LARGE)
    source = host.pagelocked_empty(LARGE, "u1")
    source[:] = numpy.arange(LARGE) % 251
    copies.memcpy_htod_async(memory, source, one)
    copies.memcpy_dtod_async(other, int(memory), LARGE, two)
    memset.memset_d8_async(memory, 1, LARGE, one)
    assert numpy.array_equal(fetched(other, source), source)
    assert fetched(memory, source).min() == 1


def test_free_of_allocation_waits_for_pending_copies():
    stream = PyGPU.Stream()
    memory, other = mem_alloc(LARGE), mem_alloc(LARGE)
    memset.memset_d8_async(memory, 3, LARGE, stream)
    copies.memcpy_dtod_async(other, memory, LARGE, stream)
    memory.free()
    stream.synchronize()
    assert fetched(other, numpy.empty(LARGE, "u1")).min() == 3


def test_copies_by_array_address_run_in_stream_order():
    stream = PyGPU.Stream()
    values = PyGPU.to_gpu(VALUES)
    result = host.pagelocked_zeros(VALUES.shape, VALUES.dtype)
    copies.memcpy_htod_async(values.ptr, 2 * VALUES, stream)
    copies.memcpy_dtoh_async(result, values.ptr, stream)
    stream.synchronize()
    assert numpy.array_equal(result, 2 * VALUES)


def test_copies_accept_streams_and_handles_of_other_libraries():
    owner = PyGPU.Stream()

    class Foreign:
        def __cuda_stream__(self):
            return (0, owner.handle)

    memory = mem_alloc(VALUES.nbytes)
    copies.memcpy_htod_async(memory, VALUES, Foreign())
    memset.memset_d32_async(memory, 0, 6, owner.handle)
    owner.synchronize()
    assert numpy.array_equal(fetched(memory)[1:], VALUES[1:])


def test_ranges_of_copy_within_device_may_overlap():
    memory = to_device(VALUES)
    copies.memcpy_dtod(int(memory) + 24, memory, 72)
    assert numpy.array_equal(fetched(memory)[1:], VALUES[:3])


@pytest.mark.skipif(PyGPU.device_count() < 2, reason="needs two devices")
def test_peer_copy_infers_devices_from_addresses():
    here = to_device(VALUES)
    before = PyGPU.current_device()
    PyGPU.set_device(1)
    try:
        there = mem_alloc(VALUES.nbytes)
    finally:
        PyGPU.set_device(before)
    copies.memcpy_peer(there, here, VALUES.nbytes)
    assert numpy.array_equal(fetched(there), VALUES)
    copies.memcpy_htod(here, 0 * VALUES)
    stream = PyGPU.Stream(device=1)
    copies.memcpy_peer_async(here, int(there), VALUES.nbytes, stream=stream)
    stream.synchronize()
    assert numpy.array_equal(fetched(here), VALUES)


@pytest.mark.parametrize(("bits", "value"), [(8, 0xAB), (16, 0x1234), (32, 0xDEADBEEF)])
def test_memset_sets_elements_to_value(bits, value):
    dtype = numpy.dtype(f"u{bits // 8}")
    memory = to_device(numpy.zeros(10, dtype))
    getattr(memset, f"memset_d{bits}")(int(memory) + 2 * dtype.itemsize, value, 3)
    stream = PyGPU.Stream()
    getattr(memset, f"memset_d{bits}_async")(int(memory) + 7 * dtype.itemsize, value, 2, stream)
    expected = numpy.zeros(10, dtype)
    expected[2:5] = expected[7:9] = value
    assert numpy.array_equal(from_device_like(memory, expected), expected)


@pytest.mark.parametrize(("bits", "value"), [(8, 0xAB), (16, 0x1234), (32, 0xDEADBEEF)])
def test_memset_2d_fills_rows(bits, value):
    dtype = numpy.dtype(f"u{bits // 8}")
    memory = to_device(numpy.zeros((6, 64), dtype))
    pitch = 64 * dtype.itemsize
    getattr(memset, f"memset_d2d{bits}")(int(memory) + pitch, pitch, value, 5, 3)
    stream = PyGPU.Stream()
    getattr(memset, f"memset_d2d{bits}_async")(memory, pitch, value, 7, 1, stream)
    expected = numpy.zeros((6, 64), dtype)
    expected[1:4, :5] = expected[0, :7] = value
    assert numpy.array_equal(from_device_like(memory, expected), expected)


def test_memset_rejects_wrong_values_and_sizes():
    memory = to_device(VALUES)
    for set_, value in ((memset.memset_d8, 256), (memset.memset_d16, -1), (memset.memset_d32, 1 << 32)):
        with pytest.raises(ValueError, match="unsigned"):
            set_(memory, value, 1)
    with pytest.raises(TypeError):
        memset.memset_d32(memory, 1.5, 1)
    with pytest.raises(ValueError, match="block of 96 bytes"):
        memset.memset_d32(memory, 1, 25)
    with pytest.raises(ValueError, match="pitch"):
        memset.memset_d2d32(memory, 8, 1, 3, 2)
    assert numpy.array_equal(fetched(memory), VALUES)


CUBE = numpy.arange(5 * 6 * 200, dtype="u1").reshape(5, 6, 200)


def sides(copy, source, target):
    """Set the source and the target of a PyCUDA copy object to ndarrays or allocations."""
    (copy.set_src_host if isinstance(source, numpy.ndarray) else copy.set_src_device)(source)
    (copy.set_dst_host if isinstance(target, numpy.ndarray) else copy.set_dst_device)(target)


DIRECTIONS = list(itertools.product(["host", "device"], repeat=2))


@pytest.mark.parametrize("with_stream", [False, True])
@pytest.mark.parametrize(("from_", "to"), DIRECTIONS)
def test_memcpy_2d_copies_in_all_directions(from_, to, with_stream):
    matrix = CUBE[0]
    result = numpy.zeros((8, 300), "u1")
    source = to_device(matrix) if from_ == "device" else matrix.copy()
    target = to_device(result) if to == "device" else result
    copy = Memcpy2D()
    sides(copy, source, target)
    copy.src_x_in_bytes, copy.src_y, copy.src_pitch = 10, 1, 200
    copy.dst_x_in_bytes, copy.dst_y, copy.dst_pitch = 20, 2, 300
    copy.width_in_bytes, copy.height = 150, 4
    if with_stream:
        stream = PyGPU.Stream()
        copy(stream)
        stream.synchronize()
    else:
        copy(aligned=True)
        copy(False)
    expected = numpy.zeros((8, 300), "u1")
    expected[2:6, 20:170] = matrix[1:5, 10:160]
    assert numpy.array_equal(from_device_like(target, result) if to == "device" else result, expected)


@pytest.mark.parametrize("kind", [Memcpy3D, Memcpy3DPeer])
@pytest.mark.parametrize("with_stream", [False, True])
@pytest.mark.parametrize(("from_", "to"), DIRECTIONS)
def test_memcpy_3d_copies_in_all_directions(from_, to, with_stream, kind):
    result = numpy.zeros((4, 9, 128), "u1")
    source = to_device(CUBE) if from_ == "device" else CUBE
    target = to_device(result) if to == "device" else result
    copy = kind()
    sides(copy, source, target)
    copy.src_x_in_bytes, copy.src_y, copy.src_z, copy.src_pitch, copy.src_height = 3, 1, 2, 200, 6
    copy.dst_x_in_bytes, copy.dst_y, copy.dst_z, copy.dst_pitch, copy.dst_height = 8, 4, 1, 128, 9
    copy.width_in_bytes, copy.height, copy.depth = 100, 5, 3
    if with_stream:
        stream = PyGPU.Stream()
        copy(stream)
        stream.synchronize()
    else:
        copy()
    expected = numpy.zeros((4, 9, 128), "u1")
    expected[1:4, 4:9, 8:108] = CUBE[2:5, 1:6, 3:103]
    assert numpy.array_equal(from_device_like(target, result) if to == "device" else result, expected)


def test_memcpy_2d_finds_kind_of_unified_memory_by_object():
    memory = to_device(bytes(8))
    copy = Memcpy2D()
    copy.set_src_unified(b"abcdefgh")
    copy.set_dst_unified(memory)
    copy.width_in_bytes, copy.height = 8, 1
    copy()
    assert from_device(memory, 8, "u1").tobytes() == b"abcdefgh"


def test_memcpy_3d_rejects_box_out_of_bounds_before_copying():
    memory, result = to_device(CUBE), numpy.zeros_like(CUBE)
    copy = Memcpy3D()
    with pytest.raises(ValueError, match=r"set_dst_host\(\)"):
        copy()
    copy.set_src_device(memory)
    copy.set_dst_host(result)
    copy.src_pitch = copy.dst_pitch = 200
    copy.src_height = copy.dst_height = 6
    copy.width_in_bytes, copy.height, copy.depth = 200, 6, 5
    for field, value in (
        ("depth", 6),
        ("src_z", 1),
        ("dst_y", 1),
        ("src_pitch", 199),
        ("dst_height", 5),
        ("src_x_in_bytes", -1),
        ("width_in_bytes", 201),
        ("dst_pitch", 1 << 62),
        ("depth", -1),
    ):
        before = getattr(copy, field)
        setattr(copy, field, value)
        with pytest.raises(ValueError, match=r"pitch|height|depth|buffer|block|src_x"):
            copy()
        setattr(copy, field, before)
        assert not result.any()
    with pytest.raises(ValueError, match="read-only"):
        copy.set_dst_host(b"abc")
    copy()
    assert numpy.array_equal(result, CUBE)


def test_copy_of_empty_box_raises_no_error():
    copy = Memcpy2D()
    copy.set_src_host(b"")
    copy.set_dst_device(mem_alloc(4))
    copy()
