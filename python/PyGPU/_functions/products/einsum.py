"""The functions `einsum` and `einsum_path`: Einstein summation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from PyGPU import _core
from PyGPU._arguments.argument_errors import describe
from PyGPU._functions.array_arguments import arrays
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import OrderACFK

    Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

Label = str | tuple[str, int]
"""Label of an axis: a letter, or for an axis of an ellipsis its number, counted from the last axis of the ellipsis."""

Labels = tuple[Label, ...]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _label_letter(label: Any) -> str:
    if label is Ellipsis:
        return "..."
    if not 0 <= label < len(_LETTERS):
        raise ValueError(f"subscript is not within the valid range [0, {len(_LETTERS)})")
    return sorted(_LETTERS)[int(label)]


def _subscripts_and_operands(arguments: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return subscripts and operands from the arguments of `einsum`; subscripts may be a string or lists of numbers."""
    if not arguments:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(arguments[0], str):
        return arguments[0].replace(" ", ""), list(arguments[1:])
    if len(arguments) > 1 and isinstance(arguments[1], _core.GPUArray):
        raise TypeError(
            f"einsum(): argument 2 is {describe(arguments[1])}; expected subscripts before the operands; "
            "write PyGPU.einsum('ij,jk->ik', a, b)"
        )
    pairs, output = arguments[: len(arguments) // 2 * 2], arguments[len(arguments) // 2 * 2 :]
    text = ",".join("".join(map(_label_letter, labels)) for labels in pairs[1::2])
    if output:
        text += "->" + "".join(map(_label_letter, output[0]))
    return text, list(pairs[::2])


def _labels(term: str, ndim: int | None, operand_name: str) -> Labels:
    """Return a label for each axis of an operand.

    For the result (`ndim` is None) an ellipsis gets one label, because the number of its axes is not known yet.
    """
    before, dots, after = term.partition("...")
    for letter in before + after:
        if letter not in _LETTERS:
            raise ValueError(
                f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters"
            )
    if ndim is None:
        return (*before, *((("...", 0),) if dots else ()), *after)
    ellipsis_ndim = ndim - len(before) - len(after)
    if ellipsis_ndim < 0:
        raise ValueError(f"einstein sum subscripts string contains too many subscripts for {operand_name}")
    if ellipsis_ndim and not dots:
        raise ValueError(
            "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
            "broadcast the extra dimensions."
        )
    return (*before, *(("...", axis) for axis in range(ellipsis_ndim, 0, -1)), *after)


def _parse(text: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[Labels], Labels]:
    """Convert the subscripts to labels for the axes of the operands and of the result."""
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        more = "more" if len(terms) < len(shapes) else "fewer"
        raise ValueError(f"{more} operands provided to einstein sum function than specified in the subscripts string")
    inputs = [
        _labels(term, len(shape), f"operand {index}")
        for index, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    ]
    input_labels = [label for labels in inputs for label in labels]
    dots = [
        ("...", axis)
        for axis in range(max((label[1] for label in input_labels if isinstance(label, tuple)), default=0), 0, -1)
    ]
    if not arrow:
        unique_labels = sorted(
            label for label, count in Counter(input_labels).items() if count == 1 and isinstance(label, str)
        )
        return inputs, (*dots, *unique_labels)
    output: list[Label] = []
    for label in _labels(right, None, "the result"):
        output.extend(dots if isinstance(label, tuple) else [label])
    for label, count in Counter(output).items():
        if count > 1:
            raise ValueError(f"einstein sum subscripts string includes output subscript '{label}' multiple times")
        if label not in input_labels:
            raise ValueError(
                f"einstein sum subscripts string included output subscript '{label}' which never appeared in an input"
            )
    if dots and dots[0] not in output:
        raise ValueError(
            "output has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
            "broadcast the extra dimensions."
        )
    return inputs, tuple(output)


def _lengths(inputs: Iterable[Labels], shapes: Iterable[tuple[int, ...]]) -> dict[Label, int]:
    """Return the length of each label's axes; axes of length 1 are broadcast to this length."""
    lengths: dict[Label, int] = {}
    for index, (labels, shape) in enumerate(zip(inputs, shapes, strict=True)):
        _check_repeated_labels(labels, shape, index)
        for label, length in zip(labels, shape, strict=True):
            existing = lengths.setdefault(label, length)
            if existing == 1:
                lengths[label] = length
            elif length not in (1, existing):
                raise ValueError(
                    "einsum: operands could not be broadcast together: label "
                    f"'{label if isinstance(label, str) else '...'}' has lengths {existing} and {length}"
                )
    return lengths


def _check_repeated_labels(labels: Labels, shape: tuple[int, ...], index: int) -> None:
    """Raise NumPy's error if a label occurs twice in one operand, and the lengths of its axes differ."""
    lengths: dict[Label, int] = {}
    for label, length in zip(labels, shape, strict=True):
        first_length = lengths.setdefault(label, length)
        if length != first_length:
            raise ValueError(
                f"dimensions in operand {index} of shape {shape} for collapsing index '{label}' don't match "
                f"({first_length} != {length})"
            )


def _prepared(a: _core.GPUArray, labels: Labels, lengths: dict[Label, int]) -> tuple[_core.GPUArray, Labels]:
    """Return a view of an operand in which the axes of a repeated label are replaced by their diagonal."""
    remaining = list(labels)
    for axis in range(a.ndim - 1, -1, -1):
        if a.shape[axis] == 1 and (lengths[remaining[axis]] != 1 or remaining.count(remaining[axis]) > 1):
            a = a.squeeze(axis)
            del remaining[axis]
    for label in [label for label, count in Counter(remaining).items() if count > 1]:
        while remaining.count(label) > 1:
            first = remaining.index(label)
            second = remaining.index(label, first + 1)
            a = a.diagonal(0, first, second)
            remaining = [*remaining[:first], *remaining[first + 1 : second], *remaining[second + 1 :], label]
    return a, tuple(remaining)


def _summed(a: _core.GPUArray, labels: Labels, needed: Iterable[Label]) -> tuple[_core.GPUArray, Labels]:
    """Sum an operand along the labels that occur neither in another operand nor in the result."""
    needed = set(needed)
    axes = tuple(axis for axis, label in enumerate(labels) if label not in needed)
    if not axes:
        return a, labels
    a = a.any(axis=axes) if a.dtype == bool else a.sum(axis=axes, dtype=a.dtype)
    return a, tuple(label for label in labels if label in needed)


def _pair(
    a: tuple[_core.GPUArray, Labels], b: tuple[_core.GPUArray, Labels], needed: set[Label], lengths: dict[Label, int]
) -> tuple[_core.GPUArray, Labels]:
    """Multiply two operands, and sum along their common labels that no later step needs."""
    left, left_labels = _summed(*a, needed | set(b[1]))
    right, right_labels = _summed(*b, needed | set(left_labels))
    shared = [label for label in left_labels if label in right_labels]
    batch = [label for label in shared if label in needed]
    inner = [label for label in shared if label not in needed]
    rows = [label for label in left_labels if label not in shared]
    columns = [label for label in right_labels if label not in shared]

    def turned(array: _core.GPUArray, labels: Labels, order: list[Label]) -> _core.GPUArray:
        return array.transpose([labels.index(label) for label in order]) if array.ndim else array

    def sizes(labels: list[Label]) -> list[int]:
        return [lengths[label] for label in labels]

    result_labels = (*batch, *rows, *columns)
    if not inner:
        left = turned(left, left_labels, batch + rows).reshape(sizes(batch + rows) + [1] * len(columns))
        right = turned(right, right_labels, batch + columns).reshape(sizes(batch) + [1] * len(rows) + sizes(columns))
        return _core.multiply(left, right), result_labels
    depth = math.prod(sizes(inner))
    left = turned(left, left_labels, batch + rows + inner).reshape([*sizes(batch), math.prod(sizes(rows)), depth])
    right = turned(right, right_labels, batch + inner + columns).reshape(
        [*sizes(batch), depth, math.prod(sizes(columns))]
    )
    return _core.matmul(left, right).reshape(sizes(list(result_labels))), result_labels


def _stand_ins(operands: Iterable[_core.GPUArray]) -> list[np.ndarray]:
    """Return NumPy arrays with the operands' shapes, but one element in memory, for `numpy.einsum_path`."""
    return [np.broadcast_to(np.zeros((), np.int8), operand.shape) for operand in operands]


def _path(text: str, operands: list[_core.GPUArray], optimize: Any) -> list[tuple[int, ...]]:
    """Return the order in which pairs of operands are contracted, from `optimize` or from `numpy.einsum_path`."""
    if len(operands) < 3:
        return [tuple(range(len(operands)))]
    if isinstance(optimize, bool) or optimize is None:
        optimize = "greedy"
    if not isinstance(optimize, str) and optimize and optimize[0] == "einsum_path":
        return [tuple(step) for step in optimize[1:]]
    path = np.einsum_path(text, *_stand_ins(operands), optimize=optimize)[0]
    return [tuple(step) for step in path[1:]]


def _is_view(text: str, operands: list[_core.GPUArray]) -> bool:
    """Return whether the result is a view of the only operand, because no axis is summed."""
    if len(operands) != 1:
        return False
    (labels,), output = _parse(text, [operands[0].shape])
    return set(labels) <= set(output)


def _contract(text: str, operands: list[_core.GPUArray], optimize: Any) -> _core.GPUArray:
    shapes = [operand.shape for operand in operands]
    inputs, output = _parse(text, shapes)
    lengths = _lengths(inputs, shapes)
    path = _path(text, operands, optimize)
    pending = [_prepared(operand, labels, lengths) for operand, labels in zip(operands, inputs, strict=True)]
    for step in path:
        selected = [pending.pop(index) for index in sorted(step, reverse=True)][::-1]
        product = selected[0]
        for position, other in enumerate(selected[1:], 1):
            outer_labels = {label for _, labels in [*pending, *selected[position + 1 :]] for label in labels}
            product = _pair(product, other, outer_labels | set(output), lengths)
        pending.append(product)
    while len(pending) > 1:
        other, product = pending.pop(), pending.pop()
        outer_labels = {label for _, labels in pending for label in labels}
        pending.append(_pair(product, other, outer_labels | set(output), lengths))
    result, labels = _summed(*pending[0], output)
    # `_prepared` has dropped axes of length 1, which the result gets back here.
    missing = [label for label in output if label not in labels]
    result = result.reshape([1] * len(missing) + list(result.shape)) if missing else result
    labels = (*missing, *labels)
    return result.transpose([labels.index(label) for label in output]) if labels != output else result


@public("Products")
def einsum(
    *operands: Any,
    out: _core.GPUArray | None = None,
    dtype: Any = None,
    order: OrderACFK = "K",
    casting: Casting = "safe",
    optimize: Any = False,
) -> _core.GPUArray:
    """Evaluate the Einstein summation convention.

    Parameters
    ----------
    *operands : str and GPUArray
        A string with a letter for each axis of each array, such as ``'ij,jk->ik'``, and the arrays; or each array
        followed by a list of numbers for its axes. The products are summed over letters that the result lacks; ``...``
        represents further axes.
    out : GPUArray, optional
        Output array.
    dtype : dtype-like, optional
        Data type in which the products and sums are computed.
    order : {'K', 'C', 'F', 'A'}, optional
        Memory order of the result; defaults to the order in which the product is computed.
    casting : str, optional
        Casting rule.
    optimize : bool, str or list, optional
        Order in which three or more arrays are multiplied pairwise: ``'greedy'`` or ``'optimal'`` as found by
        ``numpy.einsum_path``, or a path that `einsum_path` returned.

    Returns
    -------
    GPUArray
        The result; a view if `einsum` receives one operand and sums over no axis.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(6).reshape(2, 3)
    >>> PyGPU.einsum("ij,kj->ik", a, a).tolist()
    [[5, 14], [14, 50]]
    """
    text, operand_list = _subscripts_and_operands(operands)
    device_operands = arrays(operand_list, "einsum")
    if out is None and _is_view(text, device_operands):
        dtype = None  # as in NumPy, `dtype` has no effect if the result is a view
    compute_dtype = (
        np.dtype(dtype) if dtype is not None else np.result_type(*(operand.dtype for operand in device_operands))
    )
    for index, operand in enumerate(device_operands):
        if not np.can_cast(operand.dtype, compute_dtype, casting):
            raise TypeError(
                f"Iterator operand {index} dtype could not be cast from {operand.dtype!r} to {compute_dtype!r} "
                f"according to the rule '{casting}'"
            )
    result = _contract(
        text,
        [operand if operand.dtype == compute_dtype else operand.astype(compute_dtype) for operand in device_operands],
        optimize,
    )
    if out is not None:
        if not np.can_cast(compute_dtype, out.dtype, casting):
            raise TypeError(
                f"Iterator requested dtype could not be cast from {compute_dtype!r} to {out.dtype!r}, the "
                f"operand {len(device_operands)} dtype, according to the rule '{casting}'"
            )
        if out.shape != result.shape:
            raise ValueError(f"einsum: out has shape {out.shape}, and the result {result.shape}")
        out[...] = result
        return out
    if order == "A":
        order = (
            "F"
            if all(operand.flags.f_contiguous and not operand.flags.c_contiguous for operand in device_operands)
            else "C"
        )
    has_order = {"C": result.flags.c_contiguous, "F": result.flags.f_contiguous}.get(order or "K", True)
    if not has_order:
        return result.copy(order)
    return result.view() if result is device_operands[0] else result


@public("Products")
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[Any, str]:
    """Return the contraction order of ``einsum``, as planned by NumPy.

    Parameters
    ----------
    *operands : str and GPUArray
        Subscripts and arrays, as for ``einsum``.
    optimize : bool, str or list, optional
        Method that plans the contraction order, as for ``numpy.einsum_path``.
    einsum_call : bool, optional
        Internal argument of NumPy, which must be False.

    Returns
    -------
    list, str
        The path, and a printable description.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.zeros((2, 2))
    >>> PyGPU.einsum_path("ij,jk,kl", a, a, a)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    if einsum_call:
        raise ValueError("einsum_path: einsum_call is NumPy's own")
    text, operand_list = _subscripts_and_operands(operands)
    path: tuple[Any, str] = np.einsum_path(text, *_stand_ins(arrays(operand_list, "einsum_path")), optimize=optimize)
    return path
