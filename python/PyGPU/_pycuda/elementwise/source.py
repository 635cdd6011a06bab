"""PyCUDA's ``get_elwise_*`` functions, whose kernels receive addresses and the number of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU._arguments.c_arguments import DtypedArgument, ScalarArg, parse_arguments
from PyGPU._core import Function
from PyGPU._pycuda.compiler.source import SourceModule

__all__ = ["get_elwise_kernel", "get_elwise_kernel_and_types", "get_elwise_module", "get_elwise_range_module"]

_FULL_LOOP = "for (i = cta_start + tid; i < n; i += total_threads)"
_RANGE_LOOP = (
    "for (i = start + (long)(cta_start + tid) * step; step < 0 ? i > stop : i < stop; i += (long)total_threads * step)"
)


def _module(
    index: str,
    loop: str,
    arguments: Sequence[DtypedArgument],
    operation: str,
    name: str,
    keep: bool,
    options: Sequence[str] | None,
    preamble: str,
    loop_prep: str,
    after_loop: str,
) -> SourceModule:
    text = f"""#include <pycuda-complex.hpp>
{preamble}
extern "C" __global__ void {name}({", ".join(argument.declarator() for argument in arguments)})
{{
    const size_t tid = threadIdx.x;
    const size_t total_threads = (size_t)gridDim.x * blockDim.x;
    const size_t cta_start = (size_t)blockDim.x * blockIdx.x;
    {index} i;
    {loop_prep};
    {loop}
    {{
        {operation};
    }}
    {after_loop};
}}
"""
    return SourceModule(text, options=options, keep=keep, no_extern_c=True)


def get_elwise_module(
    arguments: Sequence[DtypedArgument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Compile a kernel that executes a statement for each index ``i`` below its argument ``n``.

    Parameters
    ----------
    arguments : sequence of VectorArg and ScalarArg
        All arguments of the kernel, including ``n``.
    operation : str
        Statement that is executed for each index ``i``.
    name : str, optional
        Name of the kernel.
    keep, options
        As for `SourceModule`.
    preamble, loop_prep, after_loop : str, optional
        As for `ElementwiseKernel`.

    Returns
    -------
    SourceModule

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.elementwise import ScalarArg, VectorArg, get_elwise_module
    >>> arguments = [VectorArg(np.float32, "z"), ScalarArg(np.uintp, "n")]
    >>> get_elwise_module(arguments, "z[i] = i", "count").get_function("count").name
    'count'
    """
    return _module("size_t", _FULL_LOOP, arguments, operation, name, keep, options, preamble, loop_prep, after_loop)


def get_elwise_range_module(
    arguments: Sequence[DtypedArgument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    preamble: str = "",
    loop_prep: str = "",
    after_loop: str = "",
) -> SourceModule:
    """Compile a kernel that executes a statement for each ``i`` in ``range(start, stop, step)``.

    The last arguments of the kernel are ``start``, ``stop`` and ``step``. See `get_elwise_module` for the parameters.
    """
    return _module("long", _RANGE_LOOP, arguments, operation, name, keep, options, preamble, loop_prep, after_loop)


def get_elwise_kernel_and_types(
    arguments: str | Sequence[DtypedArgument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    use_range: bool = False,
    **kwargs: Any,
) -> tuple[SourceModule, Function, list[DtypedArgument]]:
    """Create an elementwise kernel; return its module, the kernel as a prepared function, and all its arguments.

    Parameters
    ----------
    arguments : str or sequence of VectorArg and ScalarArg
        Arguments of the kernel, without ``n`` (or ``start``, ``stop`` and ``step``), which are appended.
    operation, name, keep, options
        As for `get_elwise_module`.
    use_range : bool, optional
        Whether the kernel iterates over ``range(start, stop, step)`` instead of all indices below ``n``.
    **kwargs
        As for `get_elwise_module`.

    Returns
    -------
    module, function, arguments

    Examples
    --------
    >>> from PyGPU.elementwise import get_elwise_kernel_and_types
    >>> get_elwise_kernel_and_types("float *z", "z[i] = i")[2]
    [VectorArg(dtype('float32'), 'z'), ScalarArg(dtype('uint64'), 'n')]
    """
    declared = parse_arguments(arguments) if isinstance(arguments, str) else list(arguments)
    if use_range:
        declared += [ScalarArg(np.intp, bound) for bound in ("start", "stop", "step")]
    else:
        declared.append(ScalarArg(np.uintp, "n"))
    make_module = get_elwise_range_module if use_range else get_elwise_module
    module = make_module(declared, operation, name, keep, options, **kwargs)
    return module, prepared(module, name, declared), declared


def prepared(module: SourceModule, name: str, arguments: Sequence[DtypedArgument]) -> Function:
    """Return a kernel of a module, prepared with the types of its arguments."""
    function = module.get_function(name)
    function.prepare(["P" if argument.is_vector else argument.dtype for argument in arguments])
    return function


def get_elwise_kernel(
    arguments: str | Sequence[DtypedArgument],
    operation: str,
    name: str = "kernel",
    keep: bool = False,
    options: Sequence[str] | None = None,
    **kwargs: Any,
) -> Function:
    """Create an elementwise kernel as a prepared function.

    Parameters
    ----------
    arguments : str or sequence of VectorArg and ScalarArg
        C declarations of the arguments; the number of elements ``n`` is appended.
    operation : str
        Statement that is executed for each index ``i``.
    name, keep, options, **kwargs
        As for `get_elwise_module`.

    Returns
    -------
    driver.Function
        Prepared function, launched by
        ``function.prepared_async_call(grid, block, stream, *addresses_and_numbers, n)``. New programs should use an
        `ElementwiseKernel`, which takes arrays of any layout.

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU.elementwise import get_elwise_kernel
    >>> double = get_elwise_kernel("float *x", "x[i] *= 2", "double_it")
    >>> x = gpuarray.arange(3, dtype="float32")
    >>> double.prepared_async_call(*gpuarray.splay(x.size), None, x.gpudata, x.size)
    >>> x.tolist()
    [0.0, 2.0, 4.0]
    """
    return get_elwise_kernel_and_types(arguments, operation, name, keep, options, **kwargs)[1]
