"""PyCUDA's kernels that read through textures: gathers, and linear combinations with factors on the device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from PyGPU._core import Function
from PyGPU._native.c_arguments import DtypedArgument, ScalarArg, VectorArg
from PyGPU._native.c_types import dtype_to_ctype
from PyGPU._pycuda.driver.textures import TextureReference
from PyGPU._pycuda.elementwise.source import get_elwise_kernel_and_types
from PyGPU._pycuda.tools.context import context_dependent_memoize

__all__ = ["get_linear_combination_kernel", "get_take_kernel", "get_take_put_kernel"]

_HELPERS = "#include <pycuda-helpers.hpp>\n"


Maker = TypeVar("Maker", bound=Callable[..., Any])


def _once(maker: Maker) -> Maker:
    return context_dependent_memoize(maker)  # type: ignore[return-value]


def _texture(dtype: Any, name: str) -> str:
    return f"texture<{dtype_to_ctype(dtype, with_fp_tex_hack=True)}, 1, cudaReadModeElementType> {name};\n"


def _made(
    arguments: list[DtypedArgument], operation: str, name: str, textures: dict[str, Any], **kwargs: Any
) -> tuple[Function, list[TextureReference]]:
    preamble = _HELPERS + "".join(_texture(dtype, texture) for texture, dtype in textures.items())
    module, function, _ = get_elwise_kernel_and_types(arguments, operation, name, preamble=preamble, **kwargs)
    return function, [module.get_texref(texture) for texture in textures]


@_once
def get_linear_combination_kernel(
    summand_descriptors: Sequence[tuple[bool, Any, Any]], dtype_z: Any
) -> tuple[Function, list[TextureReference]]:
    """Create the kernel of ``z = a0 * x0 + a1 * x1 + ...``, of ``a0, x0, a1, x1, ..., z, n``.

    Parameters
    ----------
    summand_descriptors : tuple of (bool, data-type, data-type)
        Dtypes of factor and array of each summand, with a flag whether the factor is an array. An array factor is no
        argument: it is bound to a texture.
    dtype_z : data-type
        Type of the result.

    Returns
    -------
    driver.Function, list of driver.TextureReference
        The kernel, and a texture for each array factor (`GPUArray.bind_to_texref_ext`).

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.elementwise import get_linear_combination_kernel
    >>> single = np.dtype(np.float32)
    >>> get_linear_combination_kernel(((False, single, single),), single)[0].name
    'linear_combination'
    """
    arguments: list[DtypedArgument] = []
    textures: dict[str, Any] = {}
    before = []
    for place, (is_array, factor, summand) in enumerate(summand_descriptors):
        if is_array:
            textures[f"tex_a{place}"] = factor
            before.append(f"{dtype_to_ctype(factor)} a{place} = fp_tex1Dfetch(tex_a{place}, 0)")
        else:
            arguments.append(ScalarArg(factor, f"a{place}"))
        arguments.append(VectorArg(summand, f"x{place}"))
    total = " + ".join(f"a{place} * x{place}[i]" for place in range(len(summand_descriptors)))
    arguments.append(VectorArg(dtype_z, "z"))
    if not textures:
        return get_elwise_kernel_and_types(arguments, f"z[i] = {total}", "linear_combination")[1], []
    return _made(arguments, f"z[i] = {total}", "linear_combination", textures, loop_prep="; ".join(before))


@_once
def get_take_kernel(dtype: Any, idx_dtype: Any, vec_count: int = 1) -> tuple[Function, list[TextureReference]]:
    """Create the kernel of ``dest = source[idx]``, of ``idx, dest0, dest1, ..., n``.

    Parameters
    ----------
    dtype, idx_dtype : data-type
        Types of the elements and of the indices.
    vec_count : int, optional
        Number of arrays read at the same indices.

    Returns
    -------
    driver.Function, list of driver.TextureReference
        The kernel, and a texture for each source array (`GPUArray.bind_to_texref_ext`).

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.elementwise import get_take_kernel
    >>> take, textures = get_take_kernel("float32", "int32")
    >>> PyGPU.arange(4, dtype="float32").bind_to_texref_ext(textures[0])
    0.0
    >>> index, out = PyGPU.to_gpu([3, 1]).astype("int32"), PyGPU.empty(2, "float32")
    >>> take.prepared_call(out._grid, out._block, index.gpudata, out.gpudata, 2)
    >>> out.tolist()
    [3.0, 1.0]
    """
    arguments: list[DtypedArgument] = [VectorArg(idx_dtype, "idx")]
    arguments += [VectorArg(dtype, f"dest{place}") for place in range(vec_count)]
    steps = [f"dest{place}[i] = fp_tex1Dfetch(tex_src{place}, src_idx)" for place in range(vec_count)]
    operation = ";\n".join([f"{dtype_to_ctype(idx_dtype)} src_idx = idx[i]", *steps])
    return _made(arguments, operation, "take", {f"tex_src{place}": dtype for place in range(vec_count)})


@_once
def get_take_put_kernel(
    dtype: Any, idx_dtype: Any, with_offsets: bool, vec_count: int = 1
) -> tuple[Function, list[TextureReference]]:
    """Create the kernel of ``dest[dest_idx] = source[src_idx + offset]``, otherwise as `get_take_kernel`."""
    arguments: list[DtypedArgument] = [VectorArg(idx_dtype, "gmem_dest_idx"), VectorArg(idx_dtype, "gmem_src_idx")]
    arguments += [VectorArg(dtype, f"dest{place}") for place in range(vec_count)]
    arguments += [ScalarArg(idx_dtype, f"offset{place}") for place in range(vec_count if with_offsets else 0)]
    index = dtype_to_ctype(idx_dtype)
    steps = [f"{index} src_idx = gmem_src_idx[i]", f"{index} dest_idx = gmem_dest_idx[i]"]
    for place in range(vec_count):
        offset = f" + offset{place}" if with_offsets else ""
        steps.append(f"dest{place}[dest_idx] = fp_tex1Dfetch(tex_src{place}, src_idx{offset})")
    textures = {f"tex_src{place}": dtype for place in range(vec_count)}
    return _made(arguments, ";\n".join(steps), "take_put", textures)
