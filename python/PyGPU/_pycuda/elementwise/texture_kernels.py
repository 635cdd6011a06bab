"""PyCUDA's kernels that read textures: they gather elements or compute linear combinations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from PyGPU._arguments.c_arguments import DtypedArgument, ScalarArg, VectorArg
from PyGPU._arguments.c_types import dtype_to_ctype
from PyGPU._core import Function
from PyGPU._pycuda.driver.textures import TextureReference
from PyGPU._pycuda.elementwise.source import get_elwise_kernel_and_types
from PyGPU._pycuda.tools.context import context_dependent_memoize

__all__ = ["get_linear_combination_kernel", "get_take_kernel", "get_take_put_kernel"]

_HELPERS = "#include <pycuda-helpers.hpp>\n"


Factory = TypeVar("Factory", bound=Callable[..., Any])


def _cached(factory: Factory) -> Factory:
    return context_dependent_memoize(factory)  # type: ignore[return-value]


def _texture(dtype: Any, name: str) -> str:
    return f"texture<{dtype_to_ctype(dtype, with_fp_tex_hack=True)}, 1, cudaReadModeElementType> {name};\n"


def _kernel_and_textures(
    arguments: list[DtypedArgument], operation: str, name: str, textures: dict[str, Any], **kwargs: Any
) -> tuple[Function, list[TextureReference]]:
    preamble = _HELPERS + "".join(_texture(dtype, texture) for texture, dtype in textures.items())
    module, function, _ = get_elwise_kernel_and_types(arguments, operation, name, preamble=preamble, **kwargs)
    return function, [module.get_texref(texture) for texture in textures]


@_cached
def get_linear_combination_kernel(
    summand_descriptors: Sequence[tuple[bool, Any, Any]], dtype_z: Any
) -> tuple[Function, list[TextureReference]]:
    """Create a kernel that computes ``z = a0 * x0 + a1 * x1 + ...``.

    The kernel's arguments are ``a0, x0, a1, x1, ..., z, n``; `n` is the number of elements.

    Parameters
    ----------
    summand_descriptors : tuple of (bool, data-type, data-type)
        For each summand: whether the factor is an array, the dtype of the factor, and the dtype of the array. A factor
        that is an array is bound to a texture and is no argument of the kernel.
    dtype_z : data-type
        Type of the result.

    Returns
    -------
    driver.Function, list of driver.TextureReference
        The kernel, and a texture reference for each factor that is an array (see `GPUArray.bind_to_texref_ext`).

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
    loop_preparation = []
    for index, (is_array, factor, summand) in enumerate(summand_descriptors):
        if is_array:
            textures[f"tex_a{index}"] = factor
            loop_preparation.append(f"{dtype_to_ctype(factor)} a{index} = fp_tex1Dfetch(tex_a{index}, 0)")
        else:
            arguments.append(ScalarArg(factor, f"a{index}"))
        arguments.append(VectorArg(summand, f"x{index}"))
    total = " + ".join(f"a{index} * x{index}[i]" for index in range(len(summand_descriptors)))
    arguments.append(VectorArg(dtype_z, "z"))
    if not textures:
        return get_elwise_kernel_and_types(arguments, f"z[i] = {total}", "linear_combination")[1], []
    return _kernel_and_textures(
        arguments, f"z[i] = {total}", "linear_combination", textures, loop_prep="; ".join(loop_preparation)
    )


@_cached
def get_take_kernel(dtype: Any, idx_dtype: Any, vec_count: int = 1) -> tuple[Function, list[TextureReference]]:
    """Create a kernel that computes ``dest = source[idx]`` for one or more pairs of arrays.

    The kernel's arguments are ``idx, dest0, dest1, ..., n``; `n` is the length of `idx`.

    Parameters
    ----------
    dtype, idx_dtype : data-type
        Types of the elements and of the indices.
    vec_count : int, optional
        Number of source arrays that are read at the same indices.

    Returns
    -------
    driver.Function, list of driver.TextureReference
        The kernel, and a texture reference for each source array (see `GPUArray.bind_to_texref_ext`).

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
    arguments += [VectorArg(dtype, f"dest{index}") for index in range(vec_count)]
    steps = [f"dest{index}[i] = fp_tex1Dfetch(tex_src{index}, src_idx)" for index in range(vec_count)]
    operation = ";\n".join([f"{dtype_to_ctype(idx_dtype)} src_idx = idx[i]", *steps])
    return _kernel_and_textures(arguments, operation, "take", {f"tex_src{index}": dtype for index in range(vec_count)})


@_cached
def get_take_put_kernel(
    dtype: Any, idx_dtype: Any, with_offsets: bool, vec_count: int = 1
) -> tuple[Function, list[TextureReference]]:
    """Create a kernel that computes ``dest[dest_idx] = source[src_idx + offset]`` for one or more pairs of arrays.

    The kernel's arguments are the two index arrays, ``dest0, dest1, ...``, with `with_offsets` also
    ``offset0, offset1, ...``, and the number of indices. Parameters as for `get_take_kernel`.
    """
    arguments: list[DtypedArgument] = [VectorArg(idx_dtype, "gmem_dest_idx"), VectorArg(idx_dtype, "gmem_src_idx")]
    arguments += [VectorArg(dtype, f"dest{number}") for number in range(vec_count)]
    arguments += [ScalarArg(idx_dtype, f"offset{number}") for number in range(vec_count if with_offsets else 0)]
    index_type = dtype_to_ctype(idx_dtype)
    steps = [f"{index_type} src_idx = gmem_src_idx[i]", f"{index_type} dest_idx = gmem_dest_idx[i]"]
    for number in range(vec_count):
        offset = f" + offset{number}" if with_offsets else ""
        steps.append(f"dest{number}[dest_idx] = fp_tex1Dfetch(tex_src{number}, src_idx{offset})")
    textures = {f"tex_src{number}": dtype for number in range(vec_count)}
    return _kernel_and_textures(arguments, ";\n".join(steps), "take_put", textures)
