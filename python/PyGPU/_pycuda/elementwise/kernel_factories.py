"""PyCUDA's ``get_*_kernel`` functions, which create the kernel of an operation for given dtypes, once per device.

The results are prepared functions whose arguments are addresses and numbers, as the results of `get_elwise_kernel` are.
Programs launch the functions directly. Each docstring lists the kernel's arguments in their order; `n` is the number of
elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from PyGPU._arguments.c_arguments import DtypedArgument, ScalarArg, VectorArg
from PyGPU._arguments.c_types import dtype_to_ctype as c_name
from PyGPU._core import Function
from PyGPU._pycuda.elementwise.source import get_elwise_kernel, get_elwise_module, prepared
from PyGPU._pycuda.tools.context import context_dependent_memoize

__all__ = [
    "get_arange_kernel",
    "get_axpbyz_kernel",
    "get_axpbz_kernel",
    "get_binary_func_kernel",
    "get_binary_func_scalar_kernel",
    "get_binary_minmax_kernel",
    "get_binary_op_kernel",
    "get_conj_kernel",
    "get_copy_kernel",
    "get_fill_kernel",
    "get_fmod_kernel",
    "get_frexp_kernel",
    "get_if_positive_kernel",
    "get_imag_kernel",
    "get_ldexp_kernel",
    "get_logical_not_kernel",
    "get_modf_kernel",
    "get_pow_array_kernel",
    "get_pow_kernel",
    "get_put_kernel",
    "get_rdivide_elwise_kernel",
    "get_real_kernel",
    "get_reverse_kernel",
    "get_scalar_op_kernel",
    "get_unary_func_kernel",
    "get_where_kernel",
]

Factory = TypeVar("Factory", bound=Callable[..., Any])


def _cached(factory: Factory) -> Factory:
    return context_dependent_memoize(factory)  # type: ignore[return-value]


def _declare(**dtypes: Any) -> list[DtypedArgument]:
    """Declare a kernel argument for each name: a dtype inside a list declares a scalar, any other dtype an array."""
    return [
        ScalarArg(dtype_or_list[0], name) if isinstance(dtype_or_list, list) else VectorArg(dtype_or_list, name)
        for name, dtype_or_list in dtypes.items()
    ]


def _cast(dtype: Any, dtype_z: Any) -> str:
    """Return the C type to which an operand is cast: the result's type, or the result's real type for real operands."""
    dtype, dtype_z = np.dtype(dtype), np.dtype(dtype_z)
    real = dtype_z.kind == "c" and dtype.kind != "c"
    return c_name(np.empty(0, dtype_z).real.dtype if real else dtype_z)


@_cached
def get_axpbyz_kernel(
    dtype_x: Any, dtype_y: Any, dtype_z: Any, x_is_scalar: bool = False, y_is_scalar: bool = False
) -> Function:
    """Create a kernel that computes ``z = a * x + b * y``.

    Parameters
    ----------
    dtype_x, dtype_y, dtype_z : data-type
        Types of the arrays. The factor `a` has the type of `x`, and the factor `b` the type of `y`. The computation
        uses the type of `z`.
    x_is_scalar, y_is_scalar : bool, optional
        Whether `x`, or `y`, has only one element, which is broadcast.

    Returns
    -------
    driver.Function
        Kernel with the arguments ``a, x, b, y, z, n``, where `n` is the number of elements.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU.elementwise import get_axpbyz_kernel
    >>> x = gpuarray.arange(3, dtype="float32")
    >>> axpbyz = get_axpbyz_kernel(x.dtype, x.dtype, x.dtype)
    >>> axpbyz.prepared_async_call(x._grid, x._block, None, 2, x.gpudata, 1, x.gpudata, x.gpudata, x.size)
    >>> x.tolist()
    [0.0, 3.0, 6.0]
    """
    x_type, y_type = _cast(dtype_x, dtype_z), _cast(dtype_y, dtype_z)
    x, y = ("x[0]" if x_is_scalar else "x[i]"), ("y[0]" if y_is_scalar else "y[i]")
    return get_elwise_kernel(
        _declare(a=[dtype_x], x=dtype_x, b=[dtype_y], y=dtype_y, z=dtype_z),
        f"z[i] = ({x_type})a * ({x_type}){x} + ({y_type})b * ({y_type}){y}",
        "axpbyz",
    )


@_cached
def get_axpbz_kernel(dtype_x: Any, dtype_z: Any) -> Function:
    """Create a kernel that computes ``z = a * x + b``.

    The kernel's arguments are ``a, x, b, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(a=[dtype_z], x=dtype_x, b=[dtype_z], z=dtype_z), "z[i] = a * x[i] + b", "axpbz")


@_cached
def get_binary_op_kernel(
    dtype_x: Any,
    dtype_y: Any,
    dtype_z: Any,
    operator: str,
    x_is_scalar: bool = False,
    y_is_scalar: bool = False,
) -> Function:
    """Create a kernel that computes ``z = x operator y``.

    The kernel's arguments are ``x, y, z, n``. See `get_axpbyz_kernel` for the parameters.
    """
    x, y = ("x[0]" if x_is_scalar else "x[i]"), ("y[0]" if y_is_scalar else "y[i]")
    return get_elwise_kernel(
        _declare(x=dtype_x, y=dtype_y, z=dtype_z),
        f"z[i] = ({c_name(dtype_z)})(({_cast(dtype_x, dtype_z)}){x} {operator} ({_cast(dtype_y, dtype_z)}){y})",
        "binary_op",
    )


@_cached
def get_scalar_op_kernel(dtype_x: Any, dtype_a: Any, dtype_y: Any, operator: str) -> Function:
    """Create a kernel that computes ``y = x operator a``, where `a` is a number.

    The kernel's arguments are ``x, a, y, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(x=dtype_x, a=[dtype_a], y=dtype_y), f"y[i] = x[i] {operator} a", "scalar_op")


@_cached
def get_rdivide_elwise_kernel(dtype_x: Any, dtype_z: Any) -> Function:
    """Create a kernel that computes ``z = y / x``, where `y` is a number.

    The kernel's arguments are ``x, y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(x=dtype_x, y=[dtype_z], z=dtype_z), "z[i] = y / x[i]", "divide_r")


@_cached
def get_unary_func_kernel(func_name: str, in_dtype: Any, out_dtype: Any = None) -> Function:
    """Create a kernel that computes ``z = function(y)``.

    The kernel's arguments are ``y, z, n``.

    Parameters
    ----------
    func_name : str
        Name of the function in the device language.
    in_dtype, out_dtype : data-type
        Types of the arrays; `out_dtype` defaults to `in_dtype`.

    Returns
    -------
    driver.Function

    Examples
    --------
    >>> import PyGPU.gpuarray as gpuarray
    >>> from PyGPU.elementwise import get_unary_func_kernel
    >>> x = gpuarray.to_gpu([1.0, 4.0])
    >>> root = get_unary_func_kernel("sqrt", x.dtype)
    >>> root.prepared_async_call(x._grid, x._block, None, x.gpudata, x.gpudata, x.size)
    >>> x.tolist()
    [1.0, 2.0]
    """
    out_dtype = np.dtype(in_dtype if out_dtype is None else out_dtype)
    # In device code, mathematical functions have no overload for integers, so an integer argument is cast.
    is_integer, is_real = np.dtype(in_dtype).kind in "biu", out_dtype.kind in "fc"
    cast = f"({c_name(out_dtype if is_real else np.float64)}) " if is_integer else ""
    return get_elwise_kernel(
        _declare(y=in_dtype, z=out_dtype), f"z[i] = {func_name}({cast}y[i])", f"{func_name}_kernel"
    )


@_cached
def get_binary_func_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Function:
    """Create a kernel that computes ``z = function(x, y)``.

    The kernel's arguments are ``x, y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    arguments = _declare(x=dtype_x, y=dtype_y, z=dtype_z)
    return get_elwise_kernel(arguments, f"z[i] = {func}(x[i], y[i])", f"{func}_kernel")


@_cached
def get_binary_func_scalar_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Function:
    """Create a kernel that computes ``z = function(x, y)``, where `y` is a number.

    The kernel's arguments are ``x, y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    arguments = _declare(x=dtype_x, y=[dtype_y], z=dtype_z)
    return get_elwise_kernel(arguments, f"z[i] = {func}(x[i], y)", f"{func}_kernel")


def get_binary_minmax_kernel(func: str, dtype_x: Any, dtype_y: Any, dtype_z: Any, use_scalar: bool) -> Function:
    """Create a kernel that computes ``z = min(x, y)`` or ``z = max(x, y)``, and ignores NaN.

    The kernel's arguments are ``x, y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    kinds = [np.dtype(dtype).kind for dtype in (dtype_x, dtype_y, dtype_z)]
    name = f"f{func}" if "f" in kinds else func
    make_kernel = get_binary_func_scalar_kernel if use_scalar else get_binary_func_kernel
    return make_kernel(name, dtype_x, dtype_y, dtype_z)


@_cached
def get_pow_kernel(dtype: Any) -> Function:
    """Create a kernel that computes ``z = y ** value``, where `value` is a number.

    The kernel's arguments are ``value, y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(value=[dtype], y=dtype, z=dtype), "z[i] = pow(y[i], value)", "pow_method")


@_cached
def get_pow_array_kernel(dtype_x: Any, dtype_y: Any, dtype_z: Any, is_base_array: bool, is_exp_array: bool) -> Function:
    """Create a kernel that computes ``z = x ** y``; one of `x` and `y` may be a number.

    The kernel's arguments are ``x, y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    if not (is_base_array or is_exp_array):
        raise ValueError("get_pow_array_kernel: base and exponent are both numbers")
    x, y = ("x[i]" if is_base_array else "x"), ("y[i]" if is_exp_array else "y")
    arguments = _declare(x=dtype_x if is_base_array else [dtype_x], y=dtype_y if is_exp_array else [dtype_y], z=dtype_z)
    return get_elwise_kernel(arguments, f"z[i] = pow({x}, {y})", "pow_method")


@_cached
def get_fmod_kernel() -> Function:
    """Create a kernel that computes ``z = fmod(arg, mod)`` in float32.

    The kernel's arguments are ``arg, mod, z, n``.
    """
    return get_elwise_kernel("float *arg, float *mod, float *z", "z[i] = fmod(arg[i], mod[i])", "fmod_kernel")


@_cached
def get_modf_kernel() -> Function:
    """Create a kernel that splits `x` into its integer and fractional parts in float32.

    The kernel's arguments are ``x, intpart, fracpart, n``.
    """
    operation = "float whole; fracpart[i] = modf(x[i], &whole); intpart[i] = whole"
    return get_elwise_kernel("float *x, float *intpart, float *fracpart", operation, "modf_kernel")


@_cached
def get_frexp_kernel() -> Function:
    """Create a kernel that splits `x` into ``significand * 2**exponent`` in float32.

    The kernel's arguments are ``x, significand, exponent, n``.
    """
    operation = "int power = 0; significand[i] = frexp(x[i], &power); exponent[i] = power"
    return get_elwise_kernel("float *x, float *significand, float *exponent", operation, "frexp_kernel")


@_cached
def get_ldexp_kernel() -> Function:
    """Create a kernel that computes ``z = sig * 2**expt`` in float32.

    The kernel's arguments are ``sig, expt, z, n``.
    """
    return get_elwise_kernel("float *sig, float *expt, float *z", "z[i] = ldexp(sig[i], (int)expt[i])", "ldexp_kernel")


@_cached
def get_fill_kernel(dtype: Any) -> Function:
    """Create a kernel that computes ``z = a``, where `a` is a number.

    The kernel's arguments are ``a, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(a=[dtype], z=dtype), "z[i] = a", "fill")


@_cached
def get_arange_kernel(dtype: Any) -> Function:
    """Create a kernel that computes ``z = start + i * step``.

    The kernel's arguments are ``z, start, step, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(z=dtype, start=[dtype], step=[dtype]), "z[i] = start + i * step", "arange")


@_cached
def get_reverse_kernel(dtype: Any) -> Function:
    """Create a kernel that computes ``z = y[::-1]``.

    The kernel's arguments are ``y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(y=dtype, z=dtype), "z[i] = y[n - 1 - i]", "reverse")


@_cached
def get_copy_kernel(dtype_dest: Any, dtype_src: Any) -> Function:
    """Create a kernel that computes ``dest = src``.

    The kernel's arguments are ``dest, src, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(dest=dtype_dest, src=dtype_src), "dest[i] = src[i]", "copy")


@_cached
def get_real_kernel(dtype: Any, real_dtype: Any) -> Function:
    """Create a kernel that computes ``z = real(y)``.

    The kernel's arguments are ``y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(y=dtype, z=real_dtype), "z[i] = y[i].real()", "real_kernel")


@_cached
def get_imag_kernel(dtype: Any, real_dtype: Any) -> Function:
    """Create a kernel that computes ``z = imag(y)``.

    The kernel's arguments are ``y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(y=dtype, z=real_dtype), "z[i] = y[i].imag()", "imag_kernel")


@_cached
def get_conj_kernel(dtype: Any, conj_dtype: Any) -> Function:
    """Create a kernel that computes ``z = conj(y)``.

    The kernel's arguments are ``y, z, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(y=dtype, z=conj_dtype), "z[i] = pycuda::conj(y[i])", "conj_kernel")


def _select_kernel(condition: str, crit_dtype: Any, dtype: Any) -> Function:
    arguments = _declare(crit=crit_dtype, then_=dtype, else_=dtype, result=dtype)
    return get_elwise_kernel(arguments, f"result[i] = {condition} ? then_[i] : else_[i]", "choose")


@_cached
def get_if_positive_kernel(crit_dtype: Any, dtype: Any) -> Function:
    """Create a kernel that computes ``result = crit > 0 ? then_ : else_``.

    The kernel's arguments are ``crit, then_, else_, result, n``. See `get_axpbyz_kernel` for the types.
    """
    return _select_kernel("crit[i] > 0", crit_dtype, dtype)


@_cached
def get_where_kernel(crit_dtype: Any, dtype: Any) -> Function:
    """Create a kernel that computes ``result = crit != 0 ? then_ : else_``.

    The kernel's arguments are ``crit, then_, else_, result, n``. See `get_axpbyz_kernel` for the types.
    """
    return _select_kernel("crit[i] != 0", crit_dtype, dtype)


@_cached
def get_logical_not_kernel(dtype_x: Any, dtype_out: Any) -> Function:
    """Create a kernel that computes ``out = x == 0``.

    The kernel's arguments are ``x, out, n``. See `get_axpbyz_kernel` for the types.
    """
    return get_elwise_kernel(_declare(x=dtype_x, out=dtype_out), "out[i] = x[i] == 0", "logical_not")


@_cached
def get_put_kernel(dtype: Any, idx_dtype: Any, vec_count: int = 1) -> Function:
    """Create a kernel that computes ``dest[index] = src`` for one or more pairs of arrays.

    Parameters
    ----------
    dtype, idx_dtype : data-type
        Types of the arrays and of the index.
    vec_count : int, optional
        Number of pairs of `dest` and `src`.

    Returns
    -------
    driver.Function
        Kernel with the arguments ``index, dest0, dest1, ..., src0, src1, ..., n``, where `n` is the length of `index`.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU.elementwise import get_put_kernel
    >>> get_put_kernel(np.float32, np.int32).name
    'put'
    """
    arguments: list[DtypedArgument] = [VectorArg(idx_dtype, "index")]
    arguments += [VectorArg(dtype, f"{side}{index}") for side in ("dest", "src") for index in range(vec_count)]
    arguments.append(ScalarArg(np.intp, "n"))
    body = "; ".join(f"dest{index}[index[i]] = src{index}[i]" for index in range(vec_count))
    return prepared(get_elwise_module(arguments, body, "put"), "put", arguments)
