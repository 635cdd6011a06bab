"""Test arguments that contain addresses: structs, pointer arrays, function pointers, textures in structs."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import PyGPU
import simulated_driver
from PyGPU import driver as drv
from support_kernels import module_or_skip

SOURCE = r"""
struct Inner { short kind; double weight; };
struct Particle {
    unsigned char flag;
    double mass;
    float position[2][3];
    struct Inner inner[2];
    int id;
};
struct alignas(64) Wide { unsigned long long words[16]; };
struct Rows { float *first; const float *rows[2]; int n; };
struct Sampled { cudaTextureObject_t image; float *out; };
typedef float (*function)(float);

__device__ float square(float x) { return x * x; }
__device__ float twice(float x) { return 2 * x; }
__device__ function functions[2] = {square, twice};

extern "C" __global__ void describe(Particle p, double *out) {
    out[0] = p.flag; out[1] = p.mass; out[2] = p.id;
    for (int i = 0; i < 6; i++) out[3 + i] = p.position[i / 3][i % 3];
    for (int i = 0; i < 2; i++) { out[9 + 2 * i] = p.inner[i].kind; out[10 + 2 * i] = p.inner[i].weight; }
}
extern "C" __global__ void wide(char before, const Wide w, int behind, unsigned long long *out) {
    out[0] = (unsigned long long)&w % alignof(Wide);
    for (int i = 0; i < 16; i++) out[i + 1] = w.words[i];
    out[17] = before + behind;
}
extern "C" __global__ void add_rows(Rows r) {
    int i = threadIdx.x;
    if (i < r.n) r.first[i] += r.rows[0][i] + (r.rows[1] ? r.rows[1][i] : 100.0f);
}
extern "C" __global__ void add_to_all(float **arrays, const int *lengths, float value) {
    float *one = arrays[blockIdx.x];
    if (one && threadIdx.x < lengths[blockIdx.x]) one[threadIdx.x] += value;
}
extern "C" __global__ void apply(function f, float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
extern "C" __global__ void apply_plain(float (*f)(float), float *x) { x[threadIdx.x] = f(x[threadIdx.x]); }
extern "C" __global__ void sample(Sampled s) { s.out[threadIdx.x] = tex1D<float>(s.image, threadIdx.x + 0.5f); }
extern "C" __global__ void copy(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x]; }
"""
if PyGPU.backend_name() == "hip":
    SOURCE = SOURCE.replace("cudaTexture", "hipTexture")

INNER = np.dtype([("kind", "i2"), ("weight", "f8")], align=True)
PARTICLE = np.dtype(
    [("flag", "u1"), ("mass", "f8"), ("position", "f4", (2, 3)), ("inner", INNER, 2), ("id", "i4")], align=True
)
ROWS = np.dtype([("first", "u8"), ("rows", "u8", 2), ("n", "i4")], align=True)
gpu_only = pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU has no streams")


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return module_or_skip(SOURCE)


@pytest.fixture
def unrest() -> Iterator[None]:
    """Make a simulated driver delay work at random, so that a missing wait gives wrong values."""
    PyGPU.zeros(1)
    with simulated_driver.delayed(3000):
        yield


def described(particle: object) -> list[float]:
    value = np.array(particle, PARTICLE)
    numbers = [value["flag"], value["mass"], value["id"], *value["position"].ravel()]
    for inner in value["inner"]:
        numbers += [inner["kind"], inner["weight"]]
    return [float(number) for number in numbers]


VALUE = (7, 2.5, [[1, 2, 3], [4, 5, 6]], [(-3, 0.5), (4, 8.25)], 11)


@pytest.mark.parametrize("form", ["scalar", "0-d", "struct", "struct of a struct"])
def test_nested_record_matches_c_struct(module: PyGPU.Module, form: str) -> None:
    record = np.array(VALUE, PARTICLE)
    inner = [{"kind": -3, "weight": 0.5}, {"kind": 4, "weight": 8.25}]
    if form == "struct of a struct":
        inner[1] = PyGPU.Struct(INNER, kind=4, weight=8.25)  # type: ignore[call-overload]
    particle = {
        "scalar": record[()],
        "0-d": record,
        "struct": PyGPU.Struct(PARTICLE, flag=7, mass=2.5, position=[[1, 2, 3], [4, 5, 6]], inner=VALUE[3], id=11),
        "struct of a struct": PyGPU.Struct(
            PARTICLE, flag=7, mass=2.5, position=np.arange(1, 7).reshape(2, 3), inner=inner, id=np.int64(11)
        ),
    }[form]
    out = PyGPU.zeros(13, "float64")
    module["describe"][1, 1](particle, out)
    assert out.get().tolist() == described(VALUE)


@pytest.mark.skipif(PyGPU.backend_name() == "hip", reason="HIP does not tell the sizes of a kernel's parameters")
def test_error_for_packed_record_suggests_aligned_dtype(module: PyGPU.Module) -> None:
    packed = np.zeros((), [("flag", "u1"), ("mass", "f8"), ("id", "i4")])
    out = PyGPU.zeros(13, "float64")
    with pytest.raises(TypeError, match=r"describe\(\): argument 1 .*13 bytes, and the parameter 80.*align=True"):
        module["describe"][1, 1](packed, out)
    with pytest.raises(TypeError, match=r"argument 1 .*16 bytes, and the parameter 80$"):
        module["describe"][1, 1](PyGPU.Struct(INNER), out)


def test_struct_rejects_field_offsets_that_c_structs_do_not_have() -> None:
    with pytest.raises(ValueError, match=r"'mass' of float64 is at byte 1 of 9, and C aligns it to 8.*align=True"):
        PyGPU.Struct(np.dtype([("flag", "u1"), ("mass", "f8")]))
    inner = np.dtype([("kind", "i2"), ("weight", "f8")])
    with pytest.raises(ValueError, match="'weight' of float64 is at byte 2"):
        PyGPU.Struct(np.dtype([("inner", inner)], align=True))
    by_hand = np.dtype({"names": ["a", "b"], "formats": ["u1", "f8"], "offsets": [0, 8], "itemsize": 16})
    assert PyGPU.Struct(by_hand, b=2).value["b"] == 2
    with pytest.raises(TypeError, match="dtype with fields, not float32"):
        PyGPU.Struct("float32")


def test_struct_error_contains_name_of_field_with_wrong_value() -> None:
    for fields, error, words in [
        ({"mss": 1}, TypeError, "no field 'mss'; it has flag, mass"),
        ({"flag": 300}, ValueError, "'flag' is uint8, which does not hold 300"),
        ({"flag": np.int32(300)}, ValueError, "'flag' is uint8, which does not hold"),
        ({"id": 1.5}, ValueError, "'id' is int32, which does not hold 1.5"),
        ({"id": "x"}, ValueError, "'id' is int32"),
        ({"inner": [{"kind": 1}]}, ValueError, "'inner' has 2 elements, and 1 were given"),
        ({"inner": [{"kind": 1}, {"kid": 1}]}, TypeError, r"no field 'inner\[1\].kid'; it has inner\[1\].kind"),
        ({"mass": PyGPU.zeros(1)}, TypeError, "'mass' is float64, and a pointer is 'uint64'"),
        ({"id": PyGPU.zeros(1)}, TypeError, "'id' is int32, and a pointer is 'uint64'"),
    ]:
        with pytest.raises(error, match=words):
            PyGPU.Struct(PARTICLE, **fields)


def test_overaligned_member_is_aligned_at_any_position(module: PyGPU.Module) -> None:
    words, out = np.arange(100, 116, dtype="u8"), PyGPU.zeros(18, "uint64")
    struct = PyGPU.Struct([("words", "u8", 16)], words=words)
    for value in (struct, words.view("V128")[0], words.view([("words", "u8", 16)])[0]):
        module["wide"][1, 1](np.int8(3), value, 4, out)
        assert out.get().tolist() == [0, *words.tolist(), 7]
    assert np.frombuffer(struct.tobytes(), "u8").tolist() == words.tolist()


def test_struct_keeps_arrays_of_its_pointer_fields_alive(module: PyGPU.Module, unrest: None) -> None:
    first, row = PyGPU.zeros(8, "float32"), PyGPU.ones(8, "float32")
    rows = PyGPU.Struct(ROWS, first=first, rows=[row, None], n=8)
    assert rows.value["first"] == first.ptr
    assert (rows.dtype, str(rows)[:19]) == (ROWS, "PyGPU.Struct(first=")
    seen = weakref.ref(row)
    del row
    gc.collect()
    assert seen() is not None
    module["add_rows"][1, 8](rows)
    assert (first.get() == 101).all()
    del rows
    gc.collect()
    assert seen() is None


@gpu_only
def test_launch_with_structs_and_pointers_is_ordered_after_array_writes(module: PyGPU.Module, unrest: None) -> None:
    seed = random.randrange(1 << 30)
    print(f"{seed=}")
    chance = random.Random(seed)
    streams = [PyGPU.Stream(non_blocking=True) for _ in range(3)]
    arrays = [PyGPU.zeros(16, "float32") for _ in range(3)]
    expected = [np.zeros(16, "float32") for _ in range(3)]
    lengths = PyGPU.asarray([16, 16, 16], dtype="int32")
    pointers = PyGPU.pointers(arrays)
    for _ in range(24):
        a, b = chance.sample(range(3), 2)
        with chance.choice(streams):
            match chance.randrange(4):
                case 0:
                    module["add_to_all"][3, 16](pointers, lengths, 1)
                    expected = [one + 1 for one in expected]
                case 1:
                    module["add_to_all"][2, 16](pointers[1:], lengths, 2)
                    expected[1:] = [one + 2 for one in expected[1:]]
                case 2:
                    module["add_rows"][1, 16](PyGPU.Struct(ROWS, first=arrays[a], rows=[arrays[b], None], n=16))
                    expected[a] = expected[a] + expected[b] + 100
                case 3:
                    arrays[a].fill(3)
                    expected[a] = np.full(16, 3, "float32")
    for array, values in zip(arrays, expected, strict=True):
        assert array.get().tolist() == values.tolist()


@gpu_only
def test_launches_reading_one_array_via_struct_do_not_wait_for_each_other(module: PyGPU.Module) -> None:
    driver = simulated_driver.driver()
    if driver is None:
        pytest.skip("counts calls of the simulated driver")
    name = "hipStreamWaitEvent" if driver.is_hip else "cuStreamWaitEvent"
    one, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    row = PyGPU.ones(16, "float32")
    locked = PyGPU.broadcast_to(row, row.shape)
    assert not locked.flags.writeable
    outs = [PyGPU.zeros(16, "float32") for _ in range(2)]
    counts = []
    for rows in ([locked, locked], [locked, locked], [row, locked]):
        for stream, out in zip((one, other), outs, strict=True):
            before = driver.call_count(name)
            with stream:
                module["add_rows"][1, 16](PyGPU.Struct(ROWS, first=out, rows=rows, n=16))
            counts.append(driver.call_count(name) - before)
    # `counts` has the number of stream waits of each launch. Launches 0 and 1 wait for the stream that created the
    # arrays. Launches 2 and 3 only read a read-only array, so they must not wait. Launch 5 must wait, because it passes
    # a writable array that launch 4 may have written.
    assert counts[2:4] == [0, 0]
    assert counts[5] > 0
    assert (outs[1].get() == 6).all()


def test_pointers_object_contains_addresses_of_arrays(module: PyGPU.Module) -> None:
    arrays = [PyGPU.zeros(2, "float32"), None, PyGPU.zeros((2, 2), "float32"), drv.mem_alloc(4)]
    pointers = PyGPU.pointers(arrays)
    assert (pointers.dtype, pointers.shape) == ("uint64", (4,))
    assert pointers.get().tolist() == [arrays[0].ptr, 0, arrays[2].ptr, int(arrays[3])]
    drv.memset_d32(arrays[3], 0, 1)
    lengths = PyGPU.asarray([2, 1, 4, 1], dtype="int32")
    module["add_to_all"][4, 4](pointers, lengths, 1.5)
    module["add_to_all"][1, 4](pointers[::-1].copy(), lengths[::-1].copy(), 1)
    assert arrays[0].tolist() == [1.5, 1.5]
    assert arrays[2].tolist() == [[1.5, 1.5], [1.5, 1.5]]
    value = np.zeros(1, "f4")
    drv.memcpy_dtoh(value, arrays[3])
    assert value == 2.5
    assert PyGPU.pointers([]).shape == (0,)
    assert PyGPU.pointers([pointers, arrays[0].ptr]).get().tolist() == [pointers.ptr, arrays[0].ptr]


def test_views_of_pointers_object_keep_arrays_alive(module: PyGPU.Module) -> None:
    rows = [PyGPU.zeros(2, "float32") for _ in range(3)]
    seen = [weakref.ref(row) for row in rows]
    last, view = rows[2], PyGPU.pointers(rows)[2:]
    del rows
    gc.collect()
    assert all(one() is not None for one in seen)
    module["add_to_all"][1, 2](view, PyGPU.asarray([2], dtype="int32"), 1)
    assert last.tolist() == [1, 1]
    del view
    gc.collect()
    assert [one() is None for one in seen] == [True, True, False]


def test_pointers_reject_strided_and_host_arrays() -> None:
    a = PyGPU.zeros((4, 4), "float32")
    with pytest.raises(ValueError, match=r"array 1 is not contiguous \(shape \(4, 2\), strides.*strided=True"):
        PyGPU.pointers([a, a[:, ::2]])
    assert PyGPU.pointers([a[:, 1::2]], strided=True).get().tolist() == [a.ptr + 4]
    with pytest.raises(TypeError, match="array 0 is ndarray, which has no address on a device"):
        PyGPU.pointers([np.zeros(3)])


def test_launch_rejects_struct_with_address_of_freed_memory(module: PyGPU.Module) -> None:
    memory = drv.mem_alloc(32)
    rows = [PyGPU.Struct(ROWS, first=lender, n=8) for lender in (memory, PyGPU.pointers([memory]))]
    memory.free()
    for one in rows:
        with pytest.raises(PyGPU.CudaError, match=r"add_rows\(\): argument 1"):
            module["add_rows"][1, 8](one)


@gpu_only
def test_launch_and_pointers_reject_addresses_of_other_device(module: PyGPU.Module) -> None:
    if PyGPU.device_count() < 2:
        pytest.skip("one device")
    other = PyGPU.zeros(8, "float32", device=1)
    with pytest.raises(ValueError, match=r"add_rows\(\): argument 1 .*address of memory on \w+:1.*kernel is on \w+:0"):
        module["add_rows"][1, 8](PyGPU.Struct(ROWS, first=other, n=8))
    with pytest.raises(ValueError, match=r"pointers: an array is on \w+:0 and another one on \w+:1"):
        PyGPU.pointers([PyGPU.zeros(3), other])
    assert PyGPU.pointers([other]).device == other.device


def test_kernel_accepts_function_pointers_read_from_device_table(module: PyGPU.Module) -> None:
    address, nbytes = module.get_global("functions")
    table = PyGPU.from_pointer(address, nbytes // 8, "uint64", owner=module)
    square, twice = table.get()
    x = PyGPU.arange(4, dtype="float32")
    module["apply"][1, 4](square, x)
    assert x.tolist() == [0, 1, 4, 9]
    module["apply_plain"][1, 4](twice, x)
    assert x.tolist() == [0, 2, 8, 18]


def test_struct_keeps_texture_alive_and_kernel_samples_it(module: PyGPU.Module, unrest: None) -> None:
    line, out = PyGPU.TextureArray(8), PyGPU.zeros(8, "float32")
    line.set(np.arange(8, dtype="f4"))
    sampled = PyGPU.Struct([("image", "u8"), ("out", "u8")], image=PyGPU.Texture(line), out=out)
    seen = weakref.ref(line)
    del line
    gc.collect()
    assert seen() is not None
    module["sample"][1, 8](sampled)
    assert out.tolist() == list(range(8))
    with pytest.raises(TypeError, match="'image' is float32, and a pointer is 'uint64'"):
        PyGPU.Struct([("image", "f4")], image=PyGPU.Texture(PyGPU.TextureArray(8)))


def test_struct_pointer_fields_accept_arrays_of_other_libraries(module: PyGPU.Module) -> None:
    class Foreign:
        """Imitate an array of another library whose address PyGPU reads from an array interface."""

        def __init__(self, array: PyGPU.GPUArray) -> None:
            self.array = array

        def __dlpack__(self, **keywords: object) -> object:
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    own = PyGPU.zeros(4, "float32")
    module["add_rows"][1, 4](PyGPU.Struct(ROWS, first=Foreign(own), rows=[own, None], n=4))
    module["add_to_all"][1, 4](PyGPU.pointers([Foreign(own)]), PyGPU.asarray([4], dtype="int32"), 1)
    assert own.tolist() == [101] * 4


def test_pycuda_launches_accept_structs_and_pointers(module: PyGPU.Module) -> None:
    func = drv.Function(module.get_function("add_rows"))
    first = PyGPU.zeros(4, "float32")
    func(PyGPU.Struct(ROWS, first=first, rows=[first, None], n=4), block=(4, 1, 1))
    assert first.tolist() == [100] * 4


def test_graph_keeps_arrays_of_struct_and_pointer_arguments_alive(module: PyGPU.Module) -> None:
    first, row, words = PyGPU.zeros(8, "float32"), PyGPU.ones(8, "float32"), PyGPU.zeros(18, "uint64")
    lengths = PyGPU.asarray([8, 8], dtype="int32")
    module["add_rows"][1, 8](PyGPU.Struct(ROWS, first=first, rows=[row, row], n=8))
    wide = PyGPU.Struct([("words", "u8", 16)], words=range(16))
    pointers = PyGPU.pointers([first, row])
    with PyGPU.Graph() as graph:
        module["add_rows"][1, 8](PyGPU.Struct(ROWS, first=first, rows=[row, row], n=8))
        module["add_to_all"][2, 8](pointers, lengths, 1)
        module["wide"][1, 1](np.int8(0), wide, 0, words)
    del row, pointers, wide
    gc.collect()
    graph.launch()
    graph.launch()
    assert (first.get() == 2 + 2 + 1 + 4 + 1).all()
    assert words.get().tolist() == [0, *range(16), 0]


def test_kernel_argument_rejects_ndarray_as_owner_of_device_address() -> None:
    from PyGPU import _core

    with pytest.raises(TypeError, match="ndarray lends no address"):
        _core.KernelArgument(b"", [(np.zeros(3), True)])


def test_host_array_of_one_number_is_passed_by_value(module: PyGPU.Module) -> None:
    rows = [PyGPU.zeros(2, "float32") for _ in range(2)]
    pointers, lengths = PyGPU.pointers(rows), PyGPU.asarray([2, 1], dtype="int32")
    layouts = [
        np.array([2.0], "float32"),
        np.array(4.0, "float32"),
        np.array([[8.0]], "float32"),
        np.arange(5, dtype="float32")[1::7],
    ]
    for value in layouts:
        value.flags.writeable = False
        module["add_to_all"][2, 2](pointers, lengths, value)
    assert [row.tolist() for row in rows] == [[15, 15], [15, 0]]


def test_saxpy_kernel_accepts_scalars_as_in_examples_of_cuda_core() -> None:
    kernel = PyGPU.Kernel(
        'extern "C" __global__ void saxpy(float a, const float *x, const float *y, float *out, size_t n) {\n'
        "    size_t i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) out[i] = a * x[i] + y[i];\n}",
        "saxpy",
    )
    x, y, out = PyGPU.arange(5, dtype="float32"), PyGPU.ones(5, "float32"), PyGPU.zeros(5, "float32")
    kernel[2, 4](np.array([2.0], dtype=np.float32), x, y, out, np.array([5], dtype=np.uint64))
    assert out.tolist() == [1, 3, 5, 7, 9]
    for length in (np.array([5], "int16"), np.array([5, 5], "uint64"), np.array([5.0])):
        with pytest.raises(TypeError, match=r"saxpy\(\): argument 5 \(size_t n\): (the argument is|an ndarray is)"):
            kernel[2, 4](np.array([2.0], dtype=np.float32), x, y, out, length)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([2.0]), r"argument 3 \(float value\): .*float64\(2\.0\) of 8 bytes; write numpy\.float32\(2\.0\)"),
        (np.array([2], "int32"), r"argument 3 \(float value\): .*int32\(2\) of 4 bytes; write numpy\.float32\(2\)"),
        (np.array([1, 2], "float32"), r"argument 3 \(float value\): an ndarray is memory of the host"),
        (np.zeros(0, "float32"), r"argument 3 \(float value\): an ndarray is memory of the host"),
    ],
    ids=["float64", "int32", "two numbers", "no number"],
)
def test_host_array_of_several_numbers_is_rejected_for_number_parameter(
    module: PyGPU.Module, value: np.ndarray, message: str
) -> None:
    rows = [PyGPU.zeros(2, "float32")]
    with pytest.raises(TypeError, match=message):
        module["add_to_all"][1, 2](PyGPU.pointers(rows), PyGPU.asarray([2], dtype="int32"), value)
    assert rows[0].tolist() == [0, 0]


def test_host_array_of_one_number_is_rejected_for_pointer_parameter(module: PyGPU.Module) -> None:
    with pytest.raises(TypeError, match=r"argument 1 .*an ndarray is memory of the host"):
        module["copy"][1, 1](np.array([2.0], "float32"), PyGPU.zeros(1, "float32"))
