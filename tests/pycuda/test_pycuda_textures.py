"""Test texture and surface references, which CUDA 12 lacks. PyGPU implements the references by texture and surface
objects."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import PyGPU
import PyGPU.driver as drv
from PyGPU.compiler import SourceModule

TEXTURES = """
texture<float, 2, cudaReadModeElementType> image;
texture<float4, 1, cudaReadModeElementType> colours;
texture<unsigned char, 2> bytes;
texture<uchar4, 2, cudaReadModeNormalizedFloat> shades;
texture<float, 3> cube;

__global__ void columns(float *out) {
    out[threadIdx.x * blockDim.y + threadIdx.y] = tex2D(image, threadIdx.x, threadIdx.y);
}
__global__ void between(float *out) { out[threadIdx.x] = tex2D(image, 0.25f * threadIdx.x + 0.125f, 0.5f); }
__global__ void fetched(float4 *out) { out[threadIdx.x] = tex1Dfetch(colours, threadIdx.x); }
__global__ void added(int *out) { out[threadIdx.x] = 1000 + tex2D(bytes, threadIdx.x, 1); }
__global__ void shaded(float *out) { out[threadIdx.x] = tex2D(shades, 0, 0).y; }
__global__ void planes(float *out) { out[threadIdx.x] = tex3D(cube, 1, 2, threadIdx.x); }
"""
NUMBERS = """
#include <pycuda-helpers.hpp>
texture<fp_tex_double, 2, cudaReadModeElementType> real;
texture<fp_tex_cfloat, 1, cudaReadModeElementType> both;
texture<fp_tex_cdouble, cudaTextureType2DLayered, cudaReadModeElementType> layers;
surface<void, cudaSurfaceType3D> cube;
surface<void, cudaSurfaceType2DLayered> sheet;

__global__ void read(double *r, pycuda::complex<float> *b, pycuda::complex<double> *l) {
    int x = threadIdx.x, y = threadIdx.y, i = y * blockDim.x + x;
    r[i] = fp_tex2D(real, x, y);
    b[i] = fp_tex1Dfetch(both, i);
    l[i] = fp_tex2DLayered(layers, x, y, 0);
}
__global__ void transpose(double *a, int is_read) {
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    double &value = a[(z * blockDim.y + y) * blockDim.x + x];
    if (is_read) fp_surf3Dread(&value, cube, z, y, x, cudaBoundaryModeClamp);
    else fp_surf3Dwrite(value, cube, x, y, z, cudaBoundaryModeClamp);
}
__global__ void spread(pycuda::complex<float> *a, int is_read) {
    int x = threadIdx.x, y = threadIdx.y;
    pycuda::complex<float> &value = a[y * blockDim.x + x];
    if (is_read) fp_surf2DLayeredread(&value, sheet, y, x, 1, cudaBoundaryModeClamp);
    else fp_surf2DLayeredwrite(value, sheet, x, y, 1, cudaBoundaryModeClamp);
}
"""


@pytest.fixture(scope="module")
def module() -> SourceModule:
    return SourceModule(TEXTURES)


@pytest.fixture(scope="module")
def numbers() -> SourceModule:
    return SourceModule(NUMBERS)


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(7).normal(size=shape).astype("float32")


def test_texture_reference_reads_matrix_in_c_and_f_order(module: SourceModule) -> None:
    image, columns = module.get_texref("image"), module.get_function("columns")
    a = random(3, 4)
    for matrix, order in ((a, "F"), (np.asfortranarray(a), "F"), (a.T, "C"), (a.T.copy(), "C")):
        drv.matrix_to_texref(matrix, image, order=order)
        dest = np.zeros_like(a)
        columns(drv.Out(dest), block=(3, 4, 1), texrefs=[image])
        np.testing.assert_array_equal(dest, a)
    columns.prepare("P", texrefs=[image])
    columns.param_set_texref(image)
    out = PyGPU.zeros((3, 4), "float32")
    columns.prepared_call((1, 1), (3, 4, 1), out.gpudata)
    np.testing.assert_array_equal(out.get(), a)


def test_filter_and_address_modes_apply_from_next_launch(module: SourceModule) -> None:
    image, between = module.get_texref("image"), module.get_function("between")
    out = PyGPU.empty(12, "float32")

    def read() -> list[float]:
        between(out, block=(12, 1, 1))
        return out.tolist()

    drv.matrix_to_texref(np.array([[0, 8]], "float32"), image, order="C")
    assert read() == [0] * 4 + [8] * 8
    image.set_filter_mode(drv.filter_mode.LINEAR)
    assert read() == [0, 0, 1, 3, 5, 7, 8, 8, 8, 8, 8, 8]
    image.set_flags(drv.TRSF_NORMALIZED_COORDINATES)
    image.set_filter_mode(drv.filter_mode.POINT)
    image.set_address_mode(0, drv.address_mode.WRAP)
    assert read() == [0, 0, 8, 8] * 3
    image.set_address_mode(0, drv.address_mode.MIRROR)
    assert read() == [0, 0, 8, 8, 8, 8, 0, 0, 0, 0, 8, 8]
    image.set_address_mode(0, drv.address_mode.BORDER)
    assert read()[4:] == [0] * 8
    assert (image.get_flags(), image.get_filter_mode()) == (2, drv.filter_mode.POINT)
    assert image.get_address_mode(0) == drv.address_mode.BORDER
    assert image.get_format() == (drv.array_format.FLOAT, 1)
    assert image.get_array().array.shape == (1, 2)
    image.set_flags(0)


def test_texture_reads_linear_memory_in_format_set_by_program(module: SourceModule) -> None:
    colours, fetched = module.get_texref("colours"), module.get_function("fetched")
    a = random(16, 4)
    memory = drv.to_device(a)
    assert colours.set_address(memory, a.nbytes) == 0
    colours.set_format(drv.array_format.FLOAT, 4)
    dest = np.zeros_like(a)
    fetched(drv.Out(dest), block=(16, 1, 1), texrefs=[colours])
    np.testing.assert_array_equal(dest, a)
    assert colours.get_address() == int(memory)
    array = PyGPU.to_gpu(a[::-1])
    assert array.bind_to_texref_ext(colours, channels=4) == 0
    fetched(drv.Out(dest), block=(16, 1, 1))
    np.testing.assert_array_equal(dest, a[::-1])
    with pytest.raises(RuntimeError, match="contiguous"):
        array[:, ::2].bind_to_texref_ext(colours)
    with pytest.raises(TypeError, match="float64"):
        PyGPU.zeros(4).bind_to_texref_ext(colours)


def test_texture_reads_pitched_memory(module: SourceModule) -> None:
    image, columns = module.get_texref("image"), module.get_function("columns")
    a = random(4, 3)
    memory, pitch = drv.mem_alloc_pitch(12, 4, 4)
    copy = drv.Memcpy2D()
    copy.set_src_host(a)
    copy.set_dst_device(memory)
    copy.src_pitch, copy.dst_pitch, copy.width_in_bytes, copy.height = 12, pitch, 12, 4
    copy(aligned=True)
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height, descriptor.format = 3, 4, drv.array_format.FLOAT
    image.set_address_2d(memory, descriptor, pitch)
    dest = np.zeros((3, 4), "float32")
    columns(drv.Out(dest), block=(3, 4, 1), texrefs=[image])
    np.testing.assert_array_equal(dest, a.T)


def test_integer_texture_read_depends_on_type_in_kernel_and_not_on_flags(module: SourceModule) -> None:
    a = np.arange(6, dtype="uint8").reshape(2, 3) + 200
    drv.matrix_to_texref(a, module.get_texref("bytes"), order="C")
    out = PyGPU.empty(3, "int32")
    module.get_function("added")(out, block=(3, 1, 1))
    assert out.tolist() == [1203, 1204, 1205]
    shades = module.get_texref("shades")
    drv.bind_array_to_texref(drv.make_multichannel_2d_array(np.full((1, 1, 4), 51, "uint8"), order="C"), shades)
    shade = PyGPU.empty(1, "float32")
    module.get_function("shaded")(shade, block=(1, 1, 1))
    assert shade.get()[0] == pytest.approx(0.2)


def test_values_are_unchanged_after_copy_to_3d_array_and_back(module: SourceModule) -> None:
    a = random(5, 4, 3)
    array = drv.np_to_array(a, "C")
    module.get_texref("cube").set_array(array)
    out = PyGPU.empty(5, "float32")
    module.get_function("planes")(out, block=(5, 1, 1))
    np.testing.assert_array_equal(out.get(), a[:, 2, 1])
    part = np.zeros((2, 2, 2), "float32")
    copy = drv.Memcpy3D()
    copy.set_src_array(array)
    copy.set_dst_host(part)
    copy.src_x_in_bytes, copy.src_y, copy.src_z = 4, 1, 3
    copy.width_in_bytes = copy.dst_pitch = 8
    copy.height = copy.dst_height = copy.depth = 2
    copy()
    np.testing.assert_array_equal(part, a[3:5, 1:3, 1:3])
    other = drv.Array(array.get_descriptor_3d())
    whole = drv.Memcpy3D()
    whole.set_src_array(array)
    whole.set_dst_array(other)
    whole.width_in_bytes, whole.height, whole.depth = 12, 4, 5
    whole(drv.Stream())
    np.testing.assert_array_equal(other.array.get(), a)
    whole.dst_y = 1
    with pytest.raises(ValueError, match="1 over 4 rows, and the array has 4"):
        whole()
    descriptor = other.get_descriptor_3d()
    assert (descriptor.width, descriptor.height, descriptor.depth, descriptor.flags) == (3, 4, 5, 0)


def test_1d_array_copies_use_byte_offsets() -> None:
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.format = 8, drv.array_format.UNSIGNED_INT8
    one, other = drv.Array(descriptor), drv.Array(descriptor)
    drv.py_memcpy_htoa(one, 0, b"abcdefgh")
    drv.py_memcpy_htoa(other, 0, bytes(8))
    drv.memcpy_atoa(other, 2, one, 4, 3)
    memory = drv.to_device(b"XY")
    drv.memcpy_dtoa(other, 6, memory, 2)
    drv.memcpy_atod(memory, other, 1, 2)
    result = bytearray(8)
    drv.py_memcpy_atoh(result, other, 0)
    assert bytes(result) == b"\0\0efg\0XY"
    assert drv.from_device(memory, 2, "S1").tolist() == [b"", b"e"]
    one.free()
    with pytest.raises(ValueError, match="freed"):
        one.get_descriptor()


def test_texture_reads_double_and_complex_by_pycuda_helper_functions(numbers: SourceModule) -> None:
    rng = np.random.default_rng(8)
    real = rng.normal(size=(4, 4))
    both = (rng.normal(size=16) + 1j * rng.normal(size=16)).astype("complex64")
    layers = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    numbers.get_texref("real").set_array(drv.matrix_to_array(real, "C", allow_double_hack=True))
    PyGPU.to_gpu(both).bind_to_texref_ext(numbers.get_texref("both"), allow_complex_hack=True)
    numbers.get_texref("layers").set_array(drv.np_to_array(layers, "C", allowSurfaceBind=True))
    gc.collect()  # The texture reference keeps the bound array alive.
    r, b, one = PyGPU.empty((4, 4)), PyGPU.empty(16, "complex64"), PyGPU.empty((4, 4), "complex128")
    numbers.get_function("read")(r, b, one, block=(4, 4, 1))
    np.testing.assert_array_equal(r.get(), real)
    np.testing.assert_array_equal(b.get(), both)
    np.testing.assert_array_equal(one.get(), layers)


def test_values_written_through_surface_are_read_through_surface(numbers: SourceModule) -> None:
    a = np.random.default_rng(9).normal(size=(4, 4, 4))
    x, empty = PyGPU.to_gpu(a), PyGPU.zeros((4, 4, 4))
    numbers.get_surfref("cube").set_array(drv.gpuarray_to_array(empty, "C", allowSurfaceBind=True))
    transpose = numbers.get_function("transpose")
    transpose.prepare("Pi")
    for is_read in (0, 1):
        transpose.prepared_call((1, 1, 1), (4, 4, 4), x.gpudata, np.int32(is_read))
    np.testing.assert_array_equal(x.get(), a.T)
    sheet = numbers.get_surfref("sheet")
    sheet.set_array(drv.np_to_array(np.zeros((4, 4), "complex64"), "C", allowSurfaceBind=True))
    b = a[0] + 1j * a[1]
    y = PyGPU.to_gpu(b.astype("complex64"))
    spread = numbers.get_function("spread")
    for is_read in (0, 1):  # The surface has a single layer, so an access to layer 1 is clamped to layer 0.
        spread(y, np.int32(is_read), block=(4, 4, 1))
    np.testing.assert_array_equal(y.get(), b.T.astype("complex64"))
    with pytest.raises(ValueError, match="SURFACE_LDST"):
        sheet.set_array(drv.np_to_array(np.zeros((4, 4), "float32"), "C"))


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU has no streams")
def test_rebinding_texture_does_not_affect_earlier_launches(module: SourceModule) -> None:
    image, columns = module.get_texref("image"), module.get_function("columns")
    streams = [drv.Stream() for _ in range(3)]
    results = [PyGPU.empty((3, 4), "float32") for _ in range(12)]
    for number, out in enumerate(results):
        drv.matrix_to_texref(np.full((3, 4), number, "float32"), image, order="F")
        columns(out, block=(3, 4, 1), stream=streams[number % 3])
    for number, out in enumerate(results):
        assert (out.get() == number).all()


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the CPU has no streams")
def test_graph_reads_texture_that_was_bound_during_capture(module: SourceModule) -> None:
    image, columns = module.get_texref("image"), module.get_function("columns")
    out = PyGPU.empty((3, 4), "float32")
    drv.matrix_to_texref(np.full((3, 4), 1, "float32"), image, order="F")
    with PyGPU.Graph() as graph:
        columns(out, block=(3, 4, 1))
    drv.matrix_to_texref(np.full((3, 4), 2, "float32"), image, order="F")
    for launch, expected in ((graph.launch, 1), (lambda: columns(out, block=(3, 4, 1)), 2), (graph.launch, 1)):
        launch()
        assert (out.get() == expected).all()


def test_compile_error_of_kernel_with_texture_has_line_of_source() -> None:
    with pytest.raises(drv.CompileError, match=r"kernel\.cu[:(]3"):
        SourceModule("texture<float, 2> image;\n__global__ void f(float *x) {\n    *x = nothing;\n}")


@pytest.mark.enough_on("cpu")
def test_texture_classes_reject_invalid_arguments() -> None:
    descriptor = drv.ArrayDescriptor()
    with pytest.raises(ValueError, match="array_format"):
        drv.Array(descriptor)
    descriptor.format = drv.array_format.FLOAT
    with pytest.raises(ValueError, match="lengths from 1 on"):
        drv.Array(descriptor)
    with pytest.raises(TypeError, match=r"driver\.Array"):
        drv.Memcpy2D().set_src_array(None)
    with pytest.raises(TypeError, match="get_surfref"):
        drv.SurfaceReference()
    reference = drv.TextureReference()
    with pytest.raises(ValueError, match="dimensions 0, 1 and 2"):
        reference.set_address_mode(3, drv.address_mode.CLAMP)
    with pytest.raises(ValueError, match="no array was bound"):
        reference.get_array()
    assert reference.get_address() == 0
    assert drv.dtype_to_array_format(np.float32) == drv.array_format.FLOAT
    with pytest.raises(TypeError, match="float64"):
        drv.dtype_to_array_format(np.float64)
    cubes = drv.ArrayDescriptor3D()
    cubes.width, cubes.height, cubes.depth, cubes.format = 4, 4, 6, drv.array_format.FLOAT
    cubes.flags = drv.array3d_flags.CUBEMAP
    with pytest.raises(PyGPU.NotSupportedError, match="0x4"):
        drv.Array(cubes)
