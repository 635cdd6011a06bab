"""Errors for rejected arguments; a message contains the given argument, the expected type or value, and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core

__all__: list[str] = []

_LONGEST_TEXT = 40
_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128", "bfloat16",
)  # fmt: skip


def describe(value: Any) -> str:
    """Describe an argument by its type and shape, or by a short value; elements of arrays are never printed."""
    kind = type(value).__name__
    if value is None or value is Ellipsis:
        return repr(value)
    if isinstance(value, _core.GPUArray):
        return f"a GPUArray of shape {value.shape} and dtype {value.dtype} on {value.device}"
    if isinstance(value, np.ndarray):
        return f"an ndarray of shape {value.shape} and dtype {value.dtype} in host memory"
    if isinstance(value, (list, tuple, dict, set)):
        return f"a {kind} of length {len(value)}"
    if isinstance(value, (str, bytes, int, float, complex, np.generic)):
        text = repr(value)
        return f"{text} ({kind})" if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}... ({kind})"
    if isinstance(value, type):
        return f"the class {kind if kind != 'type' else value.__name__}"
    return f"an object of type {kind}"


def output_error(out: Any, function: str | None = None) -> TypeError:
    """Return the error for an argument `out` that is not a GPUArray."""
    remedy = "write out=PyGPU.empty(shape, dtype)"
    if isinstance(out, np.ndarray):
        remedy += ", and .get() for a result in host memory"
    return TypeError(f"{_call(function)}out= is {describe(out)}; expected a GPUArray; {remedy}")


def mask_error(mask: Any, function: str) -> TypeError:
    """Return the error for an argument `where` that is not a bool array on a device."""
    return TypeError(
        f"{_call(function)}where= is {describe(mask)}; expected a bool or a GPUArray of bool; "
        "write where=PyGPU.to_gpu(mask)"
    )


def operand_error(
    function: str, count: int, arguments: Iterable[Any], keywords: Mapping[str, Any] | None = None
) -> TypeError:
    """Return the error for the first argument that a function of `count` operands rejects."""
    for position, argument in enumerate(arguments):
        if position >= count:
            if not _is_output(argument):
                return output_error(argument, function)
        elif not _is_operand(argument):
            subject = f"operand {position + 1}" if count > 1 else "the operand"
            expected = "a GPUArray, a number, or a list of numbers; write PyGPU.to_gpu(values)"
            return TypeError(f"{_call(function)}{subject} is {describe(argument)}; expected {expected}")
    keywords = keywords or {}
    outs = keywords.get("out")
    for out in outs if isinstance(outs, tuple) else (outs,):
        if not _is_output(out):
            return output_error(out, function)
    return mask_error(keywords.get("where"), function)


def _is_output(argument: Any) -> bool:
    return argument is None or isinstance(argument, _core.GPUArray)


def _is_operand(argument: Any) -> bool:
    if isinstance(argument, (_core.GPUArray, int, float, complex, np.number, np.bool, np.ndarray, list, tuple)):
        return True
    return hasattr(argument, "__dlpack__") or hasattr(argument, "__cuda_array_interface__")


def dtype_error(dtype: Any, cause: BaseException) -> BaseException:
    """Return NumPy's error for an invalid dtype, with a hint: a dtype of similar name, or how to write a shape."""
    if isinstance(dtype, str):
        near = difflib.get_close_matches(dtype.lower().replace(" ", ""), _DTYPES, 1)
        remedy = f"write {near[0]!r}" if near else "expected a name such as 'float32' or 'int64'"
    elif isinstance(dtype, int):
        remedy = "expected a name such as 'float32'; several lengths of a shape are one tuple, as in zeros((2, 3))"
    else:
        return cause
    return type(cause)(f"{cause}; {remedy}")


def index_error(key: Any, cause: BaseException) -> BaseException:
    """Return NumPy's error for a subscript with an item that is not an index; the message describes this item."""
    text = str(cause)
    for item in key if isinstance(key, tuple) else (key,):
        dtype = getattr(item, "dtype", None)
        if text.startswith("arrays used as indices") and dtype is not None and dtype.kind not in "biu":
            remedy = "write indices.astype('int64'), or a comparison such as x > 0 for a mask"
            return type(cause)(f"{text}; this one is {describe(item)}; {remedy}")
        if text.startswith("only integers") and "got" not in text and isinstance(item, (str, bytes, list, float)):
            return type(cause)(f"{text}; got {describe(item)}")
    return cause


def target_error(function: str, target: Any) -> TypeError:
    """Return the error for a target, the argument that a function changes, that is not a GPUArray."""
    remedy = f"; write numpy.{function}(...) for an ndarray" if isinstance(target, np.ndarray) else ""
    if function == "copyto" and remedy:
        remedy = "; write source.get(out=target)"
    return TypeError(f"{_call(function)}the target is {describe(target)}; expected a GPUArray{remedy}")


def range_error(function: str, arguments: Iterable[Any], cause: BaseException) -> BaseException:
    """Return the error for the first argument of `arange` that is not a number, or NumPy's error if all are numbers."""
    for position, argument in enumerate(arguments):
        if argument is not None and isinstance(argument, (int, float, complex, np.number, np.bool, np.dtype, type)):
            continue
        remedy = "write x.item() for the value of an array of one element" if hasattr(argument, "item") else ""
        if isinstance(argument, (list, tuple)):
            remedy = "write PyGPU.array(values) for an array of these elements"
        return type(cause)(
            f"{function}(): argument {position + 1} is {describe(argument)}; expected a number"
            + (f"; {remedy}" if remedy else "")
        )
    return cause


def sequence_error(function: str, first: Any, call: str | None = None) -> TypeError:
    """Return the error for arrays that are passed one by one instead of in a tuple."""
    return TypeError(
        f"{function}(): argument 2 is {describe(first)}; the arrays are one argument; write "
        f"PyGPU.{call or function}((a, b))"
    )


def _call(function: str | None) -> str:
    return f"{function}(): " if function else ""
