"""Plans of Fourier transforms, as in `cupy.cuda.cufft`; a plan describes the transforms for which it can be used.

PyGPU stores the plans of cuFFT or hipFFT in its own cache, by the shape and layout of the arrays. A plan of this module
therefore owns no memory of a device.
"""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np

from PyGPU import _core
from PyGPU._cupy.fft.transform_types import CUFFT_FORWARD, CUFFT_INVERSE, dtypes_of, value_type_of
from PyGPU._cupy.public_lookup import own

__all__ = ["Plan", "Plan1d", "PlanNd", "get_current_plan"]

_NAMES = {
    ("C2C", CUFFT_FORWARD): "fft", ("C2C", CUFFT_INVERSE): "ifft",
    ("R2C", CUFFT_FORWARD): "rfft", ("C2R", CUFFT_INVERSE): "irfft",
}  # fmt: skip
_UNSCALED = {CUFFT_FORWARD: "backward", CUFFT_INVERSE: "forward"}


class _Thread(threading.local):
    """Per-thread state: the plans of the open ``with plan:`` blocks."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []


_thread = _Thread()


def get_current_plan() -> Plan | None:
    """Return the plan of the innermost block ``with plan:`` of this thread, or None.

    Examples
    --------
    >>> from PyGPU.cupy.cuda import cufft
    >>> with cufft.Plan1d(8, cufft.CUFFT_C2C, 1) as plan:
    ...     cufft.get_current_plan() is plan
    True
    """
    plans = _thread.plans
    return plans[-1] if plans else None


class _PlanBlock:
    """Base class of plans, which makes a plan the thread's current plan inside ``with plan:``."""

    gpus = None

    def __enter__(self) -> Self:
        _thread.plans.append(self)  # type: ignore[arg-type] # the classes below are the only ones
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _thread.plans.pop()


def _checked_transform(fft_type: int, direction: int, a: _core.GPUArray, out: _core.GPUArray) -> tuple[str, str]:
    """Check a transform's direction and dtypes; return the name and the `norm` of the function in `PyGPU.fft`."""
    value_type = value_type_of(fft_type)
    # As in cuFFT, transforms from real numbers are forward and transforms to real numbers are inverse, whichever
    # direction is passed.
    direction = {"R2C": CUFFT_FORWARD, "C2R": CUFFT_INVERSE}.get(value_type, direction)
    if (value_type, direction) not in _NAMES:
        raise ValueError(f"direction={direction!r} is none: write cufft.CUFFT_FORWARD or cufft.CUFFT_INVERSE")
    expected = dtypes_of(fft_type)
    if (a.dtype, out.dtype) != expected:
        raise ValueError(
            f"cuFFT plan dtype mismatch. The arrays have the dtypes {a.dtype} and {out.dtype}, the plan "
            f"transforms {expected[0]} to {expected[1]}"
        )
    return _NAMES[value_type, direction], _UNSCALED[direction]


def _natural(number: Any, name: str, least: int) -> int:
    value = operator.index(number)
    if value < least:
        raise ValueError(f"{name}={value} of a plan is below {least}")
    return value


class Plan1d(_PlanBlock):
    """Plan of transforms along one axis.

    Parameters
    ----------
    nx : int
        Number of points of each transform.
    fft_type : int
        cuFFT's transform type, such as ``cufft.CUFFT_C2C``.
    batch : int
        Number of transforms.
    devices : None, optional
        Must be None: PyGPU transforms an array on the array's device, and does not support several devices.
    out : None, optional
        Accepted for compatibility with CuPy; it has no effect.

    Raises
    ------
    NotImplementedError
        For several devices.

    Notes
    -----
    `cupyx.scipy.fft.get_fft_plan` creates plans. ``with plan:`` makes a plan the thread's current plan; the functions
    of `cupy.fft` and `cupyx.scipy.fft` raise an error if their arrays do not fit this plan.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> from PyGPU.cupy.cuda import cufft
    >>> plan = cufft.Plan1d(4, cufft.CUFFT_C2C, 2)
    >>> a = cupy.ones((2, 4), "complex64")
    >>> out = plan.get_output_array(a)
    >>> plan.fft(a, out, cufft.CUFFT_FORWARD)
    >>> out.real.tolist()
    [[4.0, 0.0, 0.0, 0.0], [4.0, 0.0, 0.0, 0.0]]
    """

    def __init__(self, nx: int, fft_type: int, batch: int, *, devices: Any = None, out: Any = None) -> None:
        if devices is not None:
            raise NotImplementedError(
                f"Plan1d: devices={devices!r} is not supported; PyGPU transforms an array on one device: pass None"
            )
        del out
        value_type_of(fft_type)
        self.nx, self.fft_type, self.batch = _natural(nx, "nx", 1), fft_type, _natural(batch, "batch", 0)

    def __repr__(self) -> str:
        return f"Plan1d(nx={self.nx}, fft_type={self.fft_type:#x}, batch={self.batch})"

    def _lengths(self) -> tuple[int, int]:
        """Return the numbers of elements of one transform's input and of its output."""
        half = self.nx // 2 + 1
        value_type = value_type_of(self.fft_type)
        return half if value_type == "C2R" else self.nx, half if value_type == "R2C" else self.nx

    def fft(self, a: _core.GPUArray, out: _core.GPUArray, direction: int) -> None:
        """Transform the rows of a contiguous array, and store the unscaled results in another array.

        Parameters
        ----------
        a, out : GPUArray
            Input and output, with the dtypes of the plan. In complex-to-complex transforms, `out` may be `a`.
        direction : int
            ``cufft.CUFFT_FORWARD`` or ``cufft.CUFFT_INVERSE``. It is ignored for transforms from real numbers, which
            are always forward, and to real numbers, which are always inverse.
        """
        name, scaling = _checked_transform(self.fft_type, direction, a, out)
        for array, length in zip((a, out), self._lengths(), strict=True):
            if not array.flags.c_contiguous or array.size != self.batch * length:
                raise ValueError(
                    f"Target array size does not match the plan. The array of shape {array.shape} is not a contiguous "
                    f"one of {self.batch} times {length} elements"
                )
        if self.batch:
            source, target = (
                array.reshape(self.batch, length) for array, length in zip((a, out), self._lengths(), strict=True)
            )
            _core._fft(name, source, self.nx, -1, scaling, target)

    def _output(self, a: _core.GPUArray) -> tuple[tuple[int, ...], np.dtype[Any]]:
        return (*a.shape[:-1], self._lengths()[1]), dtypes_of(self.fft_type)[1]

    def get_output_array(self, a: _core.GPUArray) -> _core.GPUArray:
        """Create an uninitialised output array for the transform of `a` along its last axis.

        Parameters
        ----------
        a : GPUArray
            Input.

        Returns
        -------
        GPUArray
            Uninitialised array.
        """
        return _core.empty(*self._output(a))

    def check_output_array(self, a: _core.GPUArray, out: _core.GPUArray) -> None:
        """Check that an array can be the output of the transform along the last axis.

        Parameters
        ----------
        a, out : GPUArray
            Input and output.

        Raises
        ------
        ValueError
            If the shape or the dtype of the output does not match the plan and the input.
        """
        shape, dtype = self._output(a)
        if out.shape != shape:
            raise ValueError(f"out must have shape {shape}, not {out.shape}")
        if out.dtype != dtype:
            raise ValueError(f"out dtype mismatch: found {out.dtype}, expected {dtype}")


class PlanNd(_PlanBlock):
    """Plan of transforms along one to three axes, with the parameters of cuFFT's function ``cufftPlanMany``.

    Parameters
    ----------
    shape : sequence of int
        Number of points along each axis of the transform.
    inembed, onembed : sequence of int or None
        Allocated lengths of the axes of the input and the output; None for contiguous arrays.
    istride, ostride : int
        Distance between adjacent elements on the last axis, in elements.
    idist, odist : int
        Distance between the first elements of successive transforms, in elements.
    fft_type : int
        cuFFT's transform type, such as ``cufft.CUFFT_C2C``.
    batch : int
        Number of transforms.
    order : {"C", "F"}
        Memory order of the arrays. For ``"F"``, `shape` is reversed.
    last_axis : int
        Axis of the arrays along which half of a spectrum is stored.
    last_size : int or None
        Length of the result along `last_axis`; None in complex-to-complex transforms.

    Notes
    -----
    `cupyx.scipy.fft.get_fft_plan` creates plans. ``with plan:`` makes a plan the thread's current plan; the functions
    of `cupy.fft` and `cupyx.scipy.fft` raise an error if their arrays do not fit this plan.

    Examples
    --------
    >>> from PyGPU import cupy, cupyx
    >>> a = cupy.ones((2, 2), "complex64")
    >>> plan = cupyx.scipy.fft.get_fft_plan(a)
    >>> plan
    PlanNd(shape=(2, 2), fft_type=0x29, batch=1, order='C')
    >>> with plan:
    ...     cupy.fft.fftn(a).real.tolist()
    [[4.0, 0.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        shape: Sequence[int],
        inembed: Sequence[int] | None,
        istride: int,
        idist: int,
        onembed: Sequence[int] | None,
        ostride: int,
        odist: int,
        fft_type: int,
        batch: int,
        order: str,
        last_axis: int,
        last_size: int | None,
    ) -> None:
        value_type_of(fft_type)
        self.shape = tuple(_natural(points, "shape", 1) for points in shape)
        if order not in ("C", "F") or not 1 <= len(self.shape) <= 3:
            raise ValueError(
                f"PlanNd: order={order!r} is not 'C' or 'F', or shape={shape} has not one to three lengths"
            )
        self.fft_type, self.batch, self.order = fft_type, _natural(batch, "batch", 0), order
        self.last_axis, self.last_size = last_axis, last_size
        self._layouts = (inembed, istride, idist), (onembed, ostride, odist)

    def __repr__(self) -> str:
        return f"PlanNd(shape={self.shape}, fft_type={self.fft_type:#x}, batch={self.batch}, order={self.order!r})"

    def _lengths(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the shape of one transform's input, and the shape of its output."""
        half = (*self.shape[:-1], self.shape[-1] // 2 + 1)
        value_type = value_type_of(self.fft_type)
        return half if value_type == "C2R" else self.shape, half if value_type == "R2C" else self.shape

    def _view(self, array: _core.GPUArray, lengths: tuple[int, ...], layout: Any) -> _core.GPUArray:
        """Return a view of the elements that the plan's layout selects; its first axis indexes the transforms."""
        embedding, stride, distance = layout
        if embedding is None:
            embedding, stride, distance = lengths, 1, math.prod(lengths)
        steps = [stride * math.prod(embedding[axis + 1 :]) for axis in range(len(lengths))]
        strides = [step * array.itemsize for step in (distance, *steps)]
        view: _core.GPUArray = own("lib").stride_tricks.as_strided(array, (self.batch, *lengths), strides)
        return view

    def fft(self, a: _core.GPUArray, out: _core.GPUArray, direction: int) -> None:
        """Transform the elements of `a` that the plan's layout selects, and store the unscaled results in `out`.

        Parameters
        ----------
        a, out : GPUArray
            Input and output, with the dtypes of the plan. In complex-to-complex transforms, `out` may be `a`.
        direction : int
            ``cufft.CUFFT_FORWARD`` or ``cufft.CUFFT_INVERSE``. It is ignored for transforms from real numbers, which
            are always forward, and to real numbers, which are always inverse.
        """
        name, scaling = _checked_transform(self.fft_type, direction, a, out)
        if self.batch:
            source, target = map(self._view, (a, out), self._lengths(), self._layouts)
            axes = tuple(range(1, 1 + len(self.shape)))
            _core._fft(f"{name}n", source, self.shape, axes, scaling, target)

    def _output(self, a: _core.GPUArray) -> tuple[tuple[int, ...], np.dtype[Any]]:
        shape = list(a.shape)
        if self.last_size is not None:
            shape[self.last_axis] = self.last_size
        return tuple(shape), dtypes_of(self.fft_type)[1]

    def get_output_array(self, a: _core.GPUArray, order: str = "C") -> _core.GPUArray:
        """Create an uninitialised output array for the transform of `a` along the plan's axes.

        Parameters
        ----------
        a : GPUArray
            Input.
        order : {"C", "F"}, optional
            Memory order.

        Returns
        -------
        GPUArray
            Uninitialised array.
        """
        shape, dtype = self._output(a)
        return _core.empty(shape, dtype, order)

    def check_output_array(self, a: _core.GPUArray, out: _core.GPUArray) -> None:
        """Check that an array can be the output of the transform along the plan's axes.

        Parameters
        ----------
        a, out : GPUArray
            Input and output.

        Raises
        ------
        ValueError
            If the shape, the memory order or the dtype of the output does not match the plan and the input.
        """
        if out is a:
            return
        shape, dtype = self._output(a)
        if out.shape != shape:
            raise ValueError(f"output shape mismatch: found {out.shape}, expected {shape}")
        if out.dtype != dtype:
            raise ValueError(f"output dtype mismatch: found {out.dtype}, expected {dtype}")
        if (out.flags.c_contiguous, out.flags.f_contiguous) != (a.flags.c_contiguous, a.flags.f_contiguous):
            raise ValueError("output contiguity mismatch: input and output have different memory orders")


Plan: TypeAlias = Plan1d | PlanNd
