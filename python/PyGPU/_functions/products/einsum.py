"""Einstein summation: ``einsum``."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from PyGPU import _core
from PyGPU._functions.array_arguments import arrays
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import OrderACFK

    Casting = Literal["no", "equiv", "safe", "same_kind", "unsafe"]

Label = str | tuple[str, int]
"""A letter, or an axis of an ellipsis counted from the last."""

Labels = tuple[Label, ...]

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _letter_of(number: Any) -> str:
    if number is Ellipsis:
        return "..."
    if not 0 <= number < len(_LETTERS):
        raise ValueError(f"subscript is not within the valid range [0, {len(_LETTERS)})")
    return sorted(_LETTERS)[int(number)]


def _as_text(given: Sequence[Any]) -> tuple[str, list[Any]]:
    """Return the subscripts as a string, and the operands."""
    if not given:
        raise ValueError("must specify the einstein sum subscripts string and at least one operand")
    if isinstance(given[0], str):
        return given[0].replace(" ", ""), list(given[1:])
    pairs, rest = given[: len(given) // 2 * 2], given[len(given) // 2 * 2 :]
    text = ",".join("".join(map(_letter_of, labels)) for labels in pairs[1::2])
    if rest:
        text += "->" + "".join(map(_letter_of, rest[0]))
    return text, list(pairs[::2])


def _labels(term: str, ndim: int | None, place: str) -> Labels:
    """Return a label for each axis of an operand; an ellipsis in the result is one label, its axes being unknown."""
    before, dots, behind = term.partition("...")
    for letter in before + behind:
        if letter not in _LETTERS:
            raise ValueError(
                f"invalid subscript '{letter}' in einstein sum subscripts string, subscripts must be letters"
            )
    if ndim is None:
        return (*before, *((("...", 0),) if dots else ()), *behind)
    left = ndim - len(before) - len(behind)
    if left < 0:
        raise ValueError(f"einstein sum subscripts string contains too many subscripts for {place}")
    if left and not dots:
        raise ValueError(
            "operand has more dimensions than subscripts given in einstein sum, but no '...' ellipsis provided to "
            "broadcast the extra dimensions."
        )
    return (*before, *(("...", axis) for axis in range(left, 0, -1)), *behind)


def _parsed(text: str, shapes: Sequence[tuple[int, ...]]) -> tuple[list[Labels], Labels]:
    """Return the labels of the operands and of the result."""
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        more = "more" if len(terms) < len(shapes) else "fewer"
        raise ValueError(f"{more} operands provided to einstein sum function than specified in the subscripts string")
    inputs = [
        _labels(term, len(shape), f"operand {place}")
        for place, (term, shape) in enumerate(zip(terms, shapes, strict=True))
    ]
    every = [label for labels in inputs for label in labels]
    dots = [
        ("...", axis)
        for axis in range(max((label[1] for label in every if isinstance(label, tuple)), default=0), 0, -1)
    ]
    if not arrow:
        once = sorted(label for label, count in Counter(every).items() if count == 1 and isinstance(label, str))
        return inputs, (*dots, *once)
    output: list[Label] = []
    for label in _labels(right, None, "the result"):
        output.extend(dots if isinstance(label, tuple) else [label])
    for label, count in Counter(output).items():
        if count > 1:
            raise ValueError(f"einstein sum subscripts string includes output subscript '{label}' multiple times")
        if label not in every:
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
    """Return the length of each label; axes of length 1 are broadcast."""
    found: dict[Label, int] = {}
    for labels, shape in zip(inputs, shapes, strict=True):
        for label, length in zip(labels, shape, strict=True):
            known = found.setdefault(label, length)
            if known == 1:
                found[label] = length
            elif length not in (1, known):
                raise ValueError(
                    "einsum: operands could not be broadcast together: label "
                    f"'{label if isinstance(label, str) else '...'}' has lengths {known} and {length}"
                )
    return found


def _prepared(a: _core.GPUArray, labels: Labels, lengths: dict[Label, int]) -> tuple[_core.GPUArray, Labels]:
    """Return an operand with each label once, without the axes of repeated labels."""
    own = list(labels)
    for axis in range(a.ndim - 1, -1, -1):
        if a.shape[axis] == 1 and (lengths[own[axis]] != 1 or own.count(own[axis]) > 1):
            a = a.squeeze(axis)
            del own[axis]
    for label in [label for label, count in Counter(own).items() if count > 1]:
        while own.count(label) > 1:
            first = own.index(label)
            second = own.index(label, first + 1)
            a = a.diagonal(0, first, second)
            own = [*own[:first], *own[first + 1 : second], *own[second + 1 :], label]
    return a, tuple(own)


def _summed(a: _core.GPUArray, labels: Labels, kept: Iterable[Label]) -> tuple[_core.GPUArray, Labels]:
    """Sum along the labels that no other operand and not the result uses."""
    kept = set(kept)
    axes = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    if not axes:
        return a, labels
    a = a.any(axis=axes) if a.dtype == bool else a.sum(axis=axes, dtype=a.dtype)
    return a, tuple(label for label in labels if label in kept)


def _pair(
    a: tuple[_core.GPUArray, Labels], b: tuple[_core.GPUArray, Labels], kept: set[Label], lengths: dict[Label, int]
) -> tuple[_core.GPUArray, Labels]:
    """Multiply two operands, and sum along the shared labels that are not kept."""
    left, of_left = _summed(*a, kept | set(b[1]))
    right, of_right = _summed(*b, kept | set(of_left))
    shared = [label for label in of_left if label in of_right]
    batch = [label for label in shared if label in kept]
    inner = [label for label in shared if label not in kept]
    rows = [label for label in of_left if label not in shared]
    columns = [label for label in of_right if label not in shared]

    def turned(array: _core.GPUArray, labels: Labels, wanted: list[Label]) -> _core.GPUArray:
        return array.transpose([labels.index(label) for label in wanted]) if array.ndim else array

    def sizes(labels: list[Label]) -> list[int]:
        return [lengths[label] for label in labels]

    whole = (*batch, *rows, *columns)
    if not inner:
        left = turned(left, of_left, batch + rows).reshape(sizes(batch + rows) + [1] * len(columns))
        right = turned(right, of_right, batch + columns).reshape(sizes(batch) + [1] * len(rows) + sizes(columns))
        return _core.multiply(left, right), whole
    depth = math.prod(sizes(inner))
    left = turned(left, of_left, batch + rows + inner).reshape([*sizes(batch), math.prod(sizes(rows)), depth])
    right = turned(right, of_right, batch + inner + columns).reshape([*sizes(batch), depth, math.prod(sizes(columns))])
    return _core.matmul(left, right).reshape(sizes(list(whole))), whole


def _stand_ins(operands: Iterable[_core.GPUArray]) -> list[np.ndarray]:
    """Return ndarrays of the shapes, without memory for their elements."""
    return [np.broadcast_to(np.zeros((), np.int8), one.shape) for one in operands]


def _path(text: str, operands: list[_core.GPUArray], optimize: Any) -> list[tuple[int, ...]]:
    """Return the contraction order: NumPy's plan, or a cached one."""
    if len(operands) < 3:
        return [tuple(range(len(operands)))]
    if isinstance(optimize, bool) or optimize is None:
        optimize = "greedy"
    if not isinstance(optimize, str) and optimize and optimize[0] == "einsum_path":
        return [tuple(step) for step in optimize[1:]]
    path = np.einsum_path(text, *_stand_ins(operands), optimize=optimize)[0]
    return [tuple(step) for step in path[1:]]


def _computed(text: str, operands: list[_core.GPUArray], optimize: Any) -> _core.GPUArray:
    shapes = [one.shape for one in operands]
    inputs, output = _parsed(text, shapes)
    lengths = _lengths(inputs, shapes)
    path = _path(text, operands, optimize)
    left = [_prepared(one, labels, lengths) for one, labels in zip(operands, inputs, strict=True)]
    for step in path:
        taken = [left.pop(place) for place in sorted(step, reverse=True)][::-1]
        made = taken[0]
        for at, other in enumerate(taken[1:], 1):
            outside = {label for _, labels in [*left, *taken[at + 1 :]] for label in labels}
            made = _pair(made, other, outside | set(output), lengths)
        left.append(made)
    while len(left) > 1:
        other, made = left.pop(), left.pop()
        outside = {label for _, labels in left for label in labels}
        left.append(_pair(made, other, outside | set(output), lengths))
    result, labels = _summed(*left[0], output)
    # A repeated label along which every operand has one element was dropped.
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
        Letters for the axes of each array, ``'ij,jk->ik'``, and the arrays; or each array with a list of numbers for
        its axes. A letter missing from the result is summed over; ``...`` represents the other axes.
    out : GPUArray, optional
        Output array.
    dtype : dtype-like, optional
        Type of the computation.
    order : {'K', 'C', 'F', 'A'}, optional
        Memory order of the result; defaults to that of the product.
    casting : str, optional
        Casting rule.
    optimize : bool, str or list, optional
        Three or more arrays are multiplied pairwise, in an order that ``numpy.einsum_path`` finds: `greedy` or
        `optimal`; or in the order of such a path.

    Returns
    -------
    GPUArray
        A view of the only operand, if nothing is summed.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(6).reshape(2, 3)
    >>> PyGPU.einsum("ij,kj->ik", a, a).tolist()
    [[5, 14], [14, 50]]
    """
    text, given = _as_text(operands)
    own = arrays(given, "einsum")
    kind = np.dtype(dtype) if dtype is not None else np.result_type(*(one.dtype for one in own))
    for place, one in enumerate(own):
        if not np.can_cast(one.dtype, kind, casting):
            raise TypeError(
                f"Iterator operand {place} dtype could not be cast from {one.dtype!r} to {kind!r} according to the "
                f"rule '{casting}'"
            )
    made = _computed(text, [one if one.dtype == kind else one.astype(kind) for one in own], optimize)
    if out is not None:
        if not np.can_cast(kind, out.dtype, casting):
            raise TypeError(
                f"Iterator requested dtype could not be cast from {kind!r} to {out.dtype!r}, the operand {len(own)} "
                f"dtype, according to the rule '{casting}'"
            )
        if out.shape != made.shape:
            raise ValueError(f"einsum: out has shape {out.shape}, and the result {made.shape}")
        out[...] = made
        return out
    if order == "A":
        order = "F" if all(one.flags.f_contiguous and not one.flags.c_contiguous for one in own) else "C"
    is_so = {"C": made.flags.c_contiguous, "F": made.flags.f_contiguous}.get(order or "K", True)
    return made if is_so else made.copy(order)


@public("Products")
def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[Any, str]:
    """Return the contraction order of ``einsum``, as planned by NumPy.

    Parameters
    ----------
    *operands : str and GPUArray
        As for ``einsum``.
    optimize : bool, str or list, optional
        Planning method.
    einsum_call : bool, optional
        Not accepted: internal to NumPy.

    Returns
    -------
    list, str
        The path, and its description.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.zeros((2, 2))
    >>> PyGPU.einsum_path("ij,jk,kl", a, a, a)[0]
    ['einsum_path', (0, 1), (0, 1)]
    """
    if einsum_call:
        raise ValueError("einsum_path: einsum_call is NumPy's own")
    text, given = _as_text(operands)
    path: tuple[Any, str] = np.einsum_path(text, *_stand_ins(arrays(given, "einsum_path")), optimize=optimize)
    return path
