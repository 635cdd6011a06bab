"""The function `get_fft_plan` of `cupyx.scipy.fft`, which creates the plan for the transforms of an array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from PyGPU import _core
from PyGPU._cupy.fft.plan_checks import axes_of_transform, input_shape, sorted_axes
from PyGPU._cupy.fft.plans import Plan, Plan1d, PlanNd
from PyGPU._cupy.fft.transform_types import ValueType, type_of

__all__ = ["get_fft_plan"]

_TRANSFORMS: dict[ValueType, str] = {"C2C": "fftn", "R2C": "rfftn", "C2R": "irfftn"}
_NO_ND_PLAN = (
    "An n-dimensional cuFFT plan could not be created. The axes must be contiguous and non-repeating. Between one and "
    "three axes can be transformed and either the first or last axis must be included in axes: axes {axes} of an array "
    "with {ndim} axes; without a plan, the transform accepts any axes"
)


def get_fft_plan(
    a: Any, shape: int | Sequence[int | None] | None = None, axes: Any = None, value_type: ValueType = "C2C"
) -> Plan:
    """Create a plan for Fourier transforms along one to three axes.

    Parameters
    ----------
    a : GPUArray
        Array to transform, in C or Fortran order.
    shape : int or sequence of int, optional
        Number of points along each axis of the transform; for ``"C2R"``, the number of points of the result. Defaults
        to the lengths of the array's axes.
    axes : int or sequence of int, optional
        Axes of the transform; defaults to all axes or, with `shape`, to the last ``len(shape)`` axes. Several axes must
        be adjacent, and must include the first or the last axis.
    value_type : {"C2C", "R2C", "C2R"}, optional
        Kind of transform: complex to complex, real to complex, or complex to real.

    Returns
    -------
    Plan1d or PlanNd
        Plan for the argument `plan` or for a block ``with plan:``, in which the functions of `cupy.fft` and
        `cupyx.scipy.fft` check their calls against it.

    Raises
    ------
    ValueError
        If the array is not contiguous, or if no plan supports the axes.

    Notes
    -----
    Unless the stream is capturing, the array is transformed once, so that the vendor's library creates its own plan. A
    later capture then finds this plan.

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> a = cupy.ones((2, 4), "complex64")
    >>> plan = cupyx.scipy.fft.get_fft_plan(a, axes=1)
    >>> plan
    Plan1d(nx=4, fft_type=0x29, batch=2)
    >>> cupyx.scipy.fft.fft(a, plan=plan).real.tolist()
    [[4.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0]]
    """
    if not (a.flags.c_contiguous or a.flags.f_contiguous):
        raise ValueError(
            f"Input array a must be contiguous: its strides are {a.strides}; write cupy.ascontiguousarray(a)"
        )
    lengths: Sequence[int | None] | None = (shape,) if isinstance(shape, int) else shape
    used = axes_of_transform(a.ndim, lengths, (axes,) if isinstance(axes, int) else axes)
    _check_axes(a.ndim, lengths, used)
    plan = (_plan_along_axis if len(used) == 1 else _plan_nd)(a, lengths, used, value_type)
    _make_library_plan(a, lengths, used, value_type)
    return plan


def _check_axes(ndim: int, lengths: Sequence[int | None] | None, axes: tuple[int, ...]) -> None:
    if lengths is not None and len(lengths) != len(axes):
        raise ValueError(f"Shape and axes have different lengths: shape {tuple(lengths)}, axes {axes}")
    for axis in axes:
        if not -ndim <= axis < ndim:
            raise ValueError(f"The chosen axis ({axis}) exceeds the number of dimensions of a ({ndim})")
    if not 1 <= len(axes) <= 3:
        raise ValueError(_NO_ND_PLAN.format(axes=axes, ndim=ndim))


def _check_points(shape: Sequence[int], points: int, axes: tuple[int, ...]) -> None:
    if min(points, *(shape[axis] for axis in axes)) < 1:
        raise ValueError(f"Invalid number of FFT data points specified: axes {axes} of the shape {tuple(shape)}")


def _plan_along_axis(
    a: Any, lengths: Sequence[int | None] | None, axes: tuple[int, ...], value_type: ValueType
) -> Plan1d:
    shape, points = input_shape(a.shape, lengths, axes, value_type)
    _check_points(shape, points, axes)
    return Plan1d(points, type_of(a.dtype, value_type), math.prod(shape) // shape[axes[0]])


def _plan_nd(a: Any, lengths: Sequence[int | None] | None, axes: tuple[int, ...], value_type: ValueType) -> PlanNd:
    is_fortran = not a.flags.c_contiguous
    if is_fortran and value_type != "C2C":
        raise ValueError("C2R/R2C PlanNd for F-order arrays is not supported: write cupy.ascontiguousarray(a)")
    shape, points = input_shape(a.shape, lengths, axes, value_type)
    ascending = sorted_axes(a.ndim, axes, value_type)
    are_neighbours = ascending == tuple(range(ascending[0], ascending[0] + len(ascending)))
    if not are_neighbours or (ascending[0] != 0 and ascending[-1] != a.ndim - 1):
        raise ValueError(_NO_ND_PLAN.format(axes=axes, ndim=a.ndim))
    _check_points(shape, points, axes)
    source = [shape[axis] for axis in ascending]
    real = [*source[:-1], points] if value_type == "C2R" else source
    last_size = {"C2C": None, "R2C": points // 2 + 1, "C2R": points}[value_type]
    result = source if last_size is None else [*source[:-1], last_size]
    lines = (source, result, real)
    inembed, onembed, plan_shape = (line[::-1] for line in lines) if is_fortran else lines
    batch = math.prod(shape) // math.prod(source)
    # In C order, the elements of each transform are contiguous if its axes are the last axes; in Fortran order, if its
    # axes are the first axes.
    is_outer = (ascending[-1] == a.ndim - 1) != is_fortran or batch == 1
    strides = (1, math.prod(source)), (1, math.prod(result))
    (istride, idist), (ostride, odist) = strides if is_outer else ((batch, 1), (batch, 1))
    return PlanNd(
        plan_shape, inembed, istride, idist, onembed, ostride, odist, type_of(a.dtype, value_type), batch,
        "F" if is_fortran else "C", ascending[-1], last_size,
    )  # fmt: skip


def _make_library_plan(
    a: Any, lengths: Sequence[int | None] | None, axes: tuple[int, ...], value_type: ValueType
) -> None:
    """Transform an array once, so that the vendor's library creates its plan before a capture, which forbids this."""
    is_on_gpu = isinstance(a, _core.GPUArray) and a.device.kind != "cpu" and a.size > 0
    if is_on_gpu and not (value_type == "R2C" and a.dtype.kind == "c") and not _core.current_stream().is_capturing:
        _core._fft(_TRANSFORMS[value_type], a, lengths, axes, None, None)
