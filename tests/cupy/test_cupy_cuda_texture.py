"""Test textures and surfaces of `cupy.cuda.texture`."""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
import PyGPU.cupy as cp
from PyGPU.cupy.cuda import runtime, texture

OBJECT = "hipTextureObject_t" if PyGPU.backend_name() == "hip" else "cudaTextureObject_t"
FLOAT = runtime.cudaChannelFormatKindFloat
ONE = texture.ChannelFormatDescriptor(32, 0, 0, 0, FLOAT)


def _read(fetch: str, source: object, rules: texture.TextureDescriptor, count: int, channels: int = 1) -> np.ndarray:
    """Return the values that a kernel reads from a texture by an expression; ``i`` in the expression is the thread's
    index."""
    element = "float4" if channels == 4 else "float"
    code = f"""
        extern "C" __global__ void read_by_{channels}({element} *out, {OBJECT} source) {{
            int i = threadIdx.x;
            out[i] = {fetch.replace("T", element)};
        }}"""
    out = cp.zeros((count, channels), "f4")
    cp.RawKernel(code, f"read_by_{channels}")((1,), (count,), (out, texture.TextureObject(source, rules)))
    return out.get()[:, 0] if channels == 1 else out.get()


@pytest.mark.parametrize("host", [True, False])
@pytest.mark.parametrize("channels", [1, 4])
@pytest.mark.parametrize("lengths", [(6,), (6, 2), (6, 2, 3)])
def test_texture_memory_copies_to_and_from_arrays(host: bool, channels: int, lengths: tuple[int, ...]) -> None:
    format_ = texture.ChannelFormatDescriptor(
        *(16,) * channels, *(0,) * (4 - channels), runtime.cudaChannelFormatKindSigned
    )
    memory = texture.CUDAarray(format_, *lengths)
    assert (memory.ndim, memory.ptr != 0) == (len(lengths), True)
    shape = (*lengths[:0:-1], lengths[0] * channels)
    values = np.arange(2 * np.prod(shape), dtype=np.int16).reshape(*shape[:-1], -1)[..., ::2]
    source, out = (values, np.zeros(shape, "i2")) if host else (cp.asarray(values), cp.zeros(shape, "i2"))
    stream = cp.cuda.Stream()
    memory.copy_from(source, stream)
    memory.copy_to(out, stream)
    stream.synchronize()
    np.testing.assert_array_equal(cp.asnumpy(out), values)
    with pytest.raises(ValueError, match="shape mismatch: the array has the shape"):
        memory.copy_from(source[..., 1:])
    with pytest.raises(ValueError, match="dtype mismatch: the array is float32, the texture memory int16"):
        memory.copy_from(source.astype("f4"))
    with pytest.raises(ValueError, match="must be C-contiguous"):
        memory.copy_to(source[..., ::-1])


def test_texture_over_array_filters_and_mirrors() -> None:
    memory = texture.CUDAarray(ONE, 4)
    memory.copy_from(np.array([0, 4, 8, 12], "f4"))
    source = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
    clamp = (runtime.cudaAddressModeClamp,)
    linear = texture.TextureDescriptor(clamp, runtime.cudaFilterModeLinear)
    assert _read("tex1D<T>(source, i)", source, linear, 5).tolist() == [0, 2, 6, 10, 12]
    mirrored = texture.TextureDescriptor((runtime.cudaAddressModeMirror,), normalizedCoords=1)
    assert _read("tex1D<T>(source, (i + 0.5f) / 4)", source, mirrored, 6).tolist() == [0, 4, 8, 12, 12, 8]
    border = texture.TextureDescriptor((runtime.cudaAddressModeBorder,), borderColors=(7,))
    assert _read("tex1D<T>(source, i + 2.5f)", source, border, 3).tolist() == [8, 12, 7]
    assert source.get_resource_desc() == {"resType": 0, "array": {"array": memory.ptr}}
    assert border.get_texture_desc()["borderColor"] == (7, 0, 0, 0)


def test_textures_read_linear_and_pitched_memory_in_place() -> None:
    values = cp.arange(256, dtype="f4")
    four = texture.ChannelFormatDescriptor(32, 32, 32, 32, FLOAT)
    linear = texture.ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=values, chDesc=four, sizeInBytes=64)
    rules = texture.TextureDescriptor((runtime.cudaAddressModeClamp,) * 2)
    got = _read("tex1Dfetch<T>(source, i)", linear, rules, 4, channels=4)
    np.testing.assert_array_equal(got, np.arange(16).reshape(4, 4))
    pitched = texture.ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=values, chDesc=ONE, width=3, height=2, pitchInBytes=512
    )
    values[128] = -1
    assert _read("tex2D<T>(source, i % 3, i / 3)", pitched, rules, 6).tolist() == [0, 1, 2, -1, 129, 130]
    described = pitched.get_resource_desc()["pitch2D"]
    assert (described["devPtr"], described["pitchInBytes"]) == (values.data.ptr, 512)


@pytest.mark.skipif(PyGPU.backend_name() == "hip", reason="HIP has other names of types")
def test_elementwise_kernel_and_surface_use_texture_memory() -> None:
    memory = texture.CUDAarray(ONE, 3, 2, flags=runtime.cudaArraySurfaceLoadStore)
    source = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
    code = """extern "C" __global__ void fill(cudaSurfaceObject_t target) {
        surf2Dwrite(float(threadIdx.x + 10 * threadIdx.y), target, threadIdx.x * 4, threadIdx.y);
    }"""
    cp.RawKernel(code, "fill")((1,), (3, 2), (texture.SurfaceObject(source),))
    read = cp.ElementwiseKernel(
        "U source, int32 width", "T out", "out = tex2D<T>(source, i % width, i / width)", "read"
    )
    out = cp.empty((2, 3), "f4")
    read(texture.TextureObject(source, texture.TextureDescriptor()), 3, out)
    assert out.tolist() == [[0, 1, 2], [10, 11, 12]]


@pytest.mark.enough_on("cpu")
def test_texture_descriptors_reject_unsupported_combinations() -> None:
    kind = runtime.cudaChannelFormatKindUnsigned
    for bits in ((8, 8, 8, 0), (8, 16, 0, 0), (64, 0, 0, 0), (0, 8, 0, 0)):
        with pytest.raises(ValueError, match="a texture has 1, 2 or 4 equal channels"):
            texture.CUDAarray(texture.ChannelFormatDescriptor(*bits, kind), 4)
    with pytest.raises(ValueError, match="width must be nonzero"):
        texture.CUDAarray(ONE, 0)
    with pytest.raises(ValueError, match="height must be nonzero"):
        texture.CUDAarray(ONE, 4, 0, 2)
    with pytest.raises(NotImplementedError, match="flags=4: cube maps"):
        texture.CUDAarray(ONE, 4, 4, 6, runtime.cudaArrayCubemap)
    with pytest.raises(NotImplementedError, match="PyGPU has no mipmaps"):
        texture.ResourceDescriptor(runtime.cudaResourceTypeMipmappedArray)
    for restype, text in ((0, "give the array as cuArr="), (2, "give the memory as arr="), (9, "restype is 9")):
        with pytest.raises(ValueError, match=text):
            texture.ResourceDescriptor(restype)
    with pytest.raises(NotImplementedError, match="sRGB=1"):
        texture.TextureDescriptor(sRGB=1)
    with pytest.raises(ValueError, match=r"filterMode is .* below 2, which mean point, linear"):
        texture.TextureDescriptor(filterMode=2)
    with pytest.raises(ValueError, match="4 address modes and 0 border colors"):
        texture.TextureDescriptor((0,) * 4)
    plain = texture.ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=texture.CUDAarray(ONE, 4))
    with pytest.raises(ValueError, match="surface=True"):
        texture.SurfaceObject(plain)
    with pytest.raises(AttributeError, match="CUDA 12 removed texture references"):
        _ = texture.TextureReference
