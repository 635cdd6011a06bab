"""Translate the C++ expressions of CuPy's reduction kernels to sources of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.kernels.arguments import ArrayForm
from PyGPU._cupy.kernels.c_text import has_word, headers_for, renamed
from PyGPU._cupy.kernels.elementwise_source import TAKEN, Declared, symbol_of, user_preamble
from PyGPU._cupy.kernels.parameters import Parameter, TypeMap, c_name
from PyGPU._paths.library_files import HEADERS

__all__ = ["ReductionText", "axis_source", "compile_text", "finish_source", "state_dtype", "total_kernel"]

# C++ declarations of the kernel parameters that receive the fields of `Threads`.
_THREADS = "const int _places, const int _lanes, const bool _along"
# Names of variables in CuPy's reduction kernels that contain the index of an element.
_POSITIONS = ("_in_ind", "_out_ind", "_i", "_j", "_J")


@dataclass(frozen=True)
class ReductionText:
    """C++ texts of a reduction kernel, as the user passed them."""

    name: str
    map_expr: str
    reduce_expr: str
    post_map_expr: str
    identity: str
    reduce_type: str
    preamble: str
    options: tuple[str, ...]

    @property
    def symbol(self) -> str:
        """The kernel's name in the source."""
        return symbol_of(self.name)

    @cached_property
    def has_positions(self) -> bool:
        """Whether the user's `map_expr` or `reduce_expr` uses the index of an element."""
        return any(has_word(name, self.map_expr, self.reduce_expr) for name in _POSITIONS)


def _head(text: ReductionText, types: TypeMap) -> str:
    names = [c_name(dtype) for dtype in (*types.inputs, *types.outputs)]
    bodies = (text.map_expr, text.reduce_expr, text.post_map_expr, text.identity, text.reduce_type, text.preamble)
    headers = headers_for("pygpu_cupy", *names, *bodies)
    return (
        f"{headers}#include <cupy/nest.cuh>\n{types.typedefs()}"
        f'{user_preamble(text.preamble)}#line 1 "kernel"\ntypedef {text.reduce_type} _type_reduce;\n'
    )


def _element_type(parameter: Parameter, dtype: np.dtype[Any]) -> str:
    return parameter.placeholder or c_name(dtype)


def state_dtype(text: ReductionText, types: TypeMap) -> np.dtype[Any] | None:
    """Return the dtype of the reduced values, or None for a C++ type that the user's preamble defines."""
    placeholders = dict(types.placeholders)
    if text.reduce_type in placeholders:
        return placeholders[text.reduce_type]
    if has_word(text.reduce_type, text.preamble):
        return None
    for dtype in (*types.outputs, *types.inputs):
        if c_name(dtype) == text.reduce_type:
            return dtype
    return _core._dtype_of_c_name(text.reduce_type)


def total_kernel(
    text: ReductionText, inputs: Sequence[Parameter], types: TypeMap, is_array: Sequence[bool], dtype: np.dtype[Any]
) -> Any:
    """Return PyGPU's `ReductionKernel` that reduces all elements to one value, without the user's `post_map_expr`.

    Parameters
    ----------
    text : ReductionText
        The C++ texts that the user passed.
    inputs : sequence of Parameter
        The input parameters, of which none is raw.
    types : TypeMap
        Dtypes of the parameters.
    is_array : sequence of bool
        For each input, whether it is an array.
    dtype : numpy.dtype
        Type of the reduced values.

    Returns
    -------
    ReductionKernel
        Kernel whose arguments are the inputs.
    """
    elements, declared = dict(TAKEN), []
    for parameter, known, array in zip(inputs, types.inputs, is_array, strict=True):
        name = f"_raw_{parameter.name}" if array else TAKEN.get(parameter.name, parameter.name)
        elements[parameter.name] = f"{name}[i]" if array else name
        declared.append(Declared(known, name, c_name(known), array, True))
    preamble = _head(text, types)
    if "float16" in preamble:
        preamble = f"// has pygpu::float16\n{preamble}"
    return _core.ReductionKernel(
        dtype,
        text.identity,
        text.reduce_expr,
        f"_type_reduce({renamed(text.map_expr, elements)})",
        declared,
        text.symbol,
        options=[*text.options, f"-I{HEADERS}"],
        preamble=preamble,
    )


def finish_source(
    text: ReductionText, parameters: Sequence[Parameter], nin: int, types: TypeMap, is_array: Sequence[bool]
) -> str:
    """Return the source of a kernel that computes the outputs from the total of a full reduction.

    The kernel's arguments are an array that contains the total, the scalar inputs, the outputs, and the input's size.
    """
    pairs = list(zip(parameters, (*types.inputs, *types.outputs), strict=True))
    scalars = [
        f"const {_element_type(one, dtype)} {one.name}"
        for (one, dtype), array in zip(pairs[:nin], is_array, strict=False)
        if not array
    ]
    outputs = [f"{_element_type(one, dtype)} *_raw_{one.name}" for one, dtype in pairs[nin:]]
    names = "".join(f"{_element_type(one, dtype)} &{one.name} = *_raw_{one.name};\n" for one, dtype in pairs[nin:])
    listed = ", ".join(["const _type_reduce *_state", *scalars, *outputs, "const ptrdiff_t _in_size"])
    return (
        f'{_head(text, types)}extern "C" __global__ void {text.symbol}({listed}) {{\n'
        f"const pygpu_cupy::count _in_ind = {{_in_size}}, _out_ind = {{1}};\n(void)_in_ind, (void)_out_ind;\n{names}"
        f"{{ _type_reduce a = *_state;\n{text.post_map_expr}\n; }}\n}}\n"
    )


def axis_source(
    text: ReductionText,
    parameters: Sequence[Parameter],
    nin: int,
    types: TypeMap,
    forms: Sequence[ArrayForm | None],
    ranks: tuple[int, int],
    threads: int,
    is_short: bool,
) -> str:
    """Return the source of a kernel that reduces arrays along some of their axes.

    The kernel's arguments are the user's arrays and scalars, a loop nest over the kept axes, a loop nest over the
    reduced axes, the shapes of raw arrays, the number of results, the number of elements that one result combines, and
    the fields of `Threads`.

    Parameters
    ----------
    text : ReductionText
        The C++ texts that the user passed.
    parameters : sequence of Parameter
        All parameters; the first `nin` are inputs.
    nin : int
        Number of inputs.
    types : TypeMap
        Dtypes of the parameters.
    forms : sequence of ArrayForm or None
        Form of each raw array; any `ArrayForm` for another array, and None for a scalar.
    ranks : tuple of int
        Number of kept axes and of reduced axes.
    threads : int
        Maximum number of threads of a block.
    is_short : bool
        Whether all indices fit into 32 bits.

    Returns
    -------
    str
    """
    declared, extents, raw, inputs, outputs, arrays = [], [], [], [], [], 0
    pairs = zip(parameters, (*types.inputs, *types.outputs), forms, strict=True)
    for position, (parameter, dtype, form) in enumerate(pairs):
        name, element = parameter.name, _element_type(parameter, dtype)
        const = "const " if parameter.is_const else ""
        if form is None:
            declared.append(f"{const}{element} {name}")
        elif parameter.raw:
            declared.append(f"{const}{element} *_raw_{name}")
            extents.append(f"const pygpu_cupy::extent<{form.ndim}> _extent_{name}")
            raw.append(f"{const}{form.type_of(element)} {name}(_raw_{name}, _extent_{name});")
        else:
            declared.append(f"{const}{element} *_raw_{name}")
            base = f"_kept.offset(({{number}})_i, {arrays})"
            if position < nin:
                base += f" + _reduced.offset(({{number}})_J, {arrays})"
            location = f"*({const}{element} *)((const char *)_raw_{name} + {base})"
            if position < nin:
                inputs.append(f"const {element} {name} = {location};")
            else:
                outputs.append(f"{element} &{name} = {location};")
            arrays += 1
    nests = [
        f"const pygpu_cupy::nest<{rank}, {arrays}> {name}"
        for rank, name in zip(ranks, ("_kept", "_reduced"), strict=True)
    ]
    listed = ", ".join([*declared, *nests, *extents, "const ptrdiff_t _results", "const ptrdiff_t _count", _THREADS])
    number = "unsigned" if is_short else "unsigned long long"
    bodies = ["\n".join(lines).replace("{number}", number) for lines in (raw, inputs, outputs)]
    join = f"{{ _type_reduce a = {{left}}, b = {{right}}; {{left}} = _type_reduce({text.reduce_expr}\n); }}"

    def joined(left: str, right: str) -> str:
        return join.replace("{left}", left).replace("{right}", right)

    return f"""{_head(text, types)}extern "C" __global__ void {text.symbol}({listed}) {{
    __shared__ pygpu_cupy::room _bytes[({threads} * sizeof(_type_reduce) + 15) / 16];
    _type_reduce *_shared = (_type_reduce *)_bytes;
    const pygpu_cupy::count _in_ind = {{_results * _count}}, _out_ind = {{_results}};
    (void)_in_ind, (void)_out_ind;
    {bodies[0]}
    const int _tid = threadIdx.x, _apart = _along ? 1 : _places;
    const int _lane = _along ? _tid % _lanes : _tid / _places, _place = _along ? _tid / _lanes : _tid % _places;
    const ptrdiff_t _step = (ptrdiff_t)gridDim.x * _places;
    for (ptrdiff_t _base = (ptrdiff_t)blockIdx.x * _places; _base < _results; _base += _step) {{
        const ptrdiff_t _i = _base + _place;
        _type_reduce _sum = _type_reduce({text.identity});
        if (_i < _results) {{
#pragma unroll 4
        for (ptrdiff_t _J = _lane; _J < _count; _J += _lanes) {{
            const ptrdiff_t _j = _J * _results + _i;
            (void)_j;
            {bodies[1]}
            _type_reduce _one = static_cast<_type_reduce>({text.map_expr}
            );
            {joined("_sum", "_one")}
        }}
        }}
        _shared[_tid] = _sum;
        __syncthreads();
        for (int _half = _lanes / 2; _half > 0; _half /= 2) {{
            if (_lane < _half) {joined("_shared[_tid]", "_shared[_tid + _half * _apart]")}
            __syncthreads();
        }}
        if (_lane == 0 && _i < _results) {{
            {bodies[2]}
            {{ _type_reduce a = _shared[_tid];
            {text.post_map_expr}
            ; }}
        }}
        __syncthreads();
    }}
}}
"""


def compile_text(source: str, text: ReductionText, device: int) -> _core.Function:
    """Compile the source of a kernel for a device, and return a function that launches the kernel."""
    return _core.Function(_core.Kernel(source, text.symbol, [*text.options, f"-I{HEADERS}"], device=device))
