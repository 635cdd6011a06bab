"""Check that a plan fits the transform for which it is used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PyGPU import _core
from PyGPU._cupy.fft.plans import Plan1d, PlanNd, get_current_plan
from PyGPU._cupy.fft.transform_types import ValueType, type_of

__all__ = ["axes_of_transform", "check_plan", "input_shape", "sorted_axes"]


def axes_of_transform(ndim: int, lengths: Sequence[int | None] | None, axes: Sequence[int] | None) -> tuple[int, ...]:
    """Return the axes of a transform; defaults to the last ``len(lengths)`` axes, or to all axes without `lengths`."""
    if axes is None:
        return tuple(range(-(ndim if lengths is None else len(lengths)), 0))
    return tuple(axes)


def sorted_axes(ndim: int, axes: tuple[int, ...], value_type: ValueType) -> tuple[int, ...]:
    """Return non-negative axes in ascending order, except that the last axis of a real transform stays last."""
    if value_type == "C2C":
        return tuple(sorted(axis % ndim for axis in axes))
    return (*sorted(axis % ndim for axis in axes[:-1]), axes[-1] % ndim)


def input_shape(
    shape: Sequence[int], lengths: Sequence[int | None] | None, axes: tuple[int, ...], value_type: ValueType
) -> tuple[list[int], int]:
    """Return the shape to which an input is padded or cropped, and the number of points along the last axis."""
    padded, last = list(shape), axes[-1]
    points = 2 * (shape[last] - 1) if value_type == "C2R" else shape[last]
    for length, axis in zip(lengths or (), axes, strict=False):
        if length is None:
            continue
        padded[axis] = shape[axis] if length == -1 else length
        if axis == last:
            points = padded[axis]
            padded[axis] = points // 2 + 1 if value_type == "C2R" else points
    return padded, points


def check_plan(
    plan: Any,
    value_type: ValueType,
    a: Any,
    lengths: Sequence[int | None] | None,
    axes: Sequence[int] | None,
    is_along_axis: bool = False,
) -> None:
    """Check the plan of a call, or the thread's current plan, against the array, lengths and axes of the call.

    Parameters
    ----------
    plan : Plan1d, PlanNd or None
        Argument `plan` of the call.
    value_type : {"C2C", "R2C", "C2R"}
        Kind of transform: complex to complex, real to complex, or complex to real.
    a : GPUArray
        Input of the transform.
    lengths : sequence of int or None
        Numbers of points along the axes.
    axes : sequence of int or None
        Axes of the transform.
    is_along_axis : bool, optional
        Whether the called function transforms along one axis only.

    Raises
    ------
    RuntimeError
        If `plan` is given inside a block ``with plan:``.
    ValueError
        If the plan does not match `a`, `lengths` or `axes`.
    """
    current = get_current_plan()
    if current is not None:
        if plan is not None:
            raise RuntimeError("Use the cuFFT plan either as a context manager or as an argument.")
        plan = current
    if plan is None or not isinstance(a, _core.GPUArray):
        return
    used = axes_of_transform(a.ndim, lengths, axes)
    if not used or any(not -a.ndim <= axis < a.ndim for axis in used) or (lengths and len(lengths) != len(used)):
        # No check is needed here: the transform itself raises an error for wrong axes or lengths.
        return
    if isinstance(plan, Plan1d):
        _check_along_axes(plan, value_type, a, lengths, used)
    elif isinstance(plan, PlanNd) and not is_along_axis:
        _check_nd(plan, value_type, a, lengths, used)
    else:
        expected = "cufft.Plan1d" if is_along_axis else "cufft.Plan1d or cufft.PlanNd"
        raise ValueError(f"expected plan to have type {expected}, not {type(plan).__name__}")


def _check_type(plan: Plan1d | PlanNd, fft_type: int) -> None:
    if plan.fft_type != fft_type:
        raise ValueError(
            f"cuFFT plan dtype mismatch. The transform has the type {fft_type:#x}, the plan {plan.fft_type:#x}: give "
            "the array's dtype and value_type to get_fft_plan"
        )


def _check_along_axes(
    plan: Plan1d, value_type: ValueType, a: _core.GPUArray, lengths: Sequence[int | None] | None, axes: tuple[int, ...]
) -> None:
    shape, points = input_shape(a.shape, lengths, axes, value_type)
    if min(shape) < 1:
        # No check is needed here: the transform raises an error for a wrong length, and an empty array needs no plan.
        return
    for axis in axes:
        is_last = axis == axes[-1]
        _check_type(plan, type_of(a.dtype, value_type if is_last else "C2C"))
        count = points if is_last else shape[axis]
        if count != plan.nx:
            raise ValueError(
                f"Target array size does not match the plan. The transform has {count} points along axis {axis}, the "
                f"plan {plan.nx}"
            )
        batch = math.prod(shape) // shape[axis]
        if batch != plan.batch:
            raise ValueError(f"Batch size does not match the plan. The batch is {batch}, that of the plan {plan.batch}")


def _check_nd(
    plan: PlanNd, value_type: ValueType, a: _core.GPUArray, lengths: Sequence[int | None] | None, axes: tuple[int, ...]
) -> None:
    is_contiguous = a.flags.c_contiguous or a.flags.f_contiguous
    order = plan.order if not is_contiguous else "C" if a.flags.c_contiguous else "F"
    if order != plan.order:
        raise ValueError(f"array orders mismatch (plan: {plan.order}, input: {order})")
    shape, points = input_shape(a.shape, lengths, axes, value_type)
    ascending = sorted_axes(a.ndim, axes, value_type)
    expected = [shape[axis] for axis in ascending]
    if value_type == "C2R":
        expected[-1] = points
    if order == "F":
        expected.reverse()
    if tuple(expected) != plan.shape:
        raise ValueError(
            f"The cuFFT plan and a.shape do not match: plan.shape = {plan.shape}, expected_shape={tuple(expected)}, "
            f"a.shape = {tuple(shape)}"
        )
    _check_type(plan, type_of(a.dtype, value_type))
    batch = math.prod(shape) // math.prod(shape[axis] for axis in ascending)
    if batch != plan.batch:
        raise ValueError(f"Batch size does not match the plan. The batch is {batch}, that of the plan {plan.batch}")
    if value_type != "C2C" and ascending[-1] != plan.last_axis:
        raise ValueError(
            f"The last axis for R2C/C2R mismatch: it is {ascending[-1]} in the call and {plan.last_axis} in the plan"
        )
