"""Classes and functions that launch compiled elementwise kernels.

A fast launch is a function that launches a kernel with few checks. `ElementwiseKernel` stores this function after the
first call, for later calls with arguments of the same types.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.kernels.arguments import LIMIT_32_BITS, ArrayForm, check_ranges, extent, first_element, scalar_cast

if TYPE_CHECKING:
    from PyGPU._cupy.kernels.elementwise import ElementwiseKernel
    from PyGPU._cupy.kernels.parameters import TypeMap

__all__ = ["FastLaunch", "LoopLaunch", "PlainLaunch", "fast_launch"]

_Array = _core.GPUArray
_MOST_BLOCKS = (1 << 31) - 1

FastLaunch = Callable[[Any, int, Any, int], Any]


@dataclass(frozen=True)
class Launch(ABC):
    """Compiled elementwise kernel, with a description of the arguments that a launch adds to the user's arguments.

    Parameters
    ----------
    native : callable
        Compiled kernel of PyGPU.
    forms : tuple of ArrayForm or None
        Form of each argument; None for scalars.
    raw : tuple of int
        Positions of raw arrays.
    with_shape : tuple of int
        Positions of the arrays that are passed with their shape.
    has_indexer : bool
        Whether a launch also passes the shape of the loop.
    """

    native: Any
    forms: tuple[ArrayForm | None, ...]
    raw: tuple[int, ...]
    with_shape: tuple[int, ...]
    has_indexer: bool

    is_plain = False

    def extents(self, args: Sequence[Any], shape: tuple[int, ...]) -> list[np.void]:
        """Return the arguments that a launch adds: the shapes of arrays, and the shape of the loop."""
        extents = [extent(args[position].shape, args[position].strides) for position in self.with_shape]
        if self.has_indexer:
            extents.append(extent(shape, (0,) * len(shape)))
        return extents

    @abstractmethod
    def run(self, args: Sequence[Any], shape: tuple[int, ...], stream: Any, block_size: int) -> None:
        """Launch the kernel with `args`: the user's arguments, and the output arrays."""


class LoopLaunch(Launch):
    """Launch of a kernel for which PyGPU's `ElementwiseKernel` broadcasts the arrays and generates the loop."""

    def run(self, args: Sequence[Any], shape: tuple[int, ...], stream: Any, block_size: int) -> None:
        """Launch the kernel; PyGPU chooses grid and block, so `block_size` has no effect."""
        extents = self.extents(args, shape) if self.with_shape or self.has_indexer else ()
        values = list(args)
        for position in self.raw:
            form = self.forms[position]
            assert form is not None
            values[position] = first_element(values[position], form)
        self.native(*values, *extents, stream=stream)


class PlainLaunch(Launch):
    """Launch of a kernel whose source contains the loop over the elements; the caller has broadcast the arrays."""

    is_plain = True

    def run(self, args: Sequence[Any], shape: tuple[int, ...], stream: Any, block_size: int) -> None:
        """Launch the kernel with one thread for each element of the loop, in blocks of at most `block_size` threads."""
        count = 1
        for length in shape:
            count *= length
        extents = self.extents(args, shape) if self.with_shape or self.has_indexer else ()
        block = min(block_size, count)
        grid = min(_MOST_BLOCKS, -(-count // block))
        self.native(*args, *extents, count, block=block, grid=grid, stream=stream)


def fast_launch(
    kernel: ElementwiseKernel, launch: Launch, arguments: Sequence[Any], types: TypeMap
) -> FastLaunch | None:
    """Return a function that launches the kernel with few checks, for later calls with arguments of the same types.

    Return None if arguments of the same types may need another kernel.

    Parameters
    ----------
    kernel : ElementwiseKernel
        The kernel.
    launch : Launch
        The kernel's `Launch` for the arguments.
    arguments : sequence
        Arguments of a call: arrays of PyGPU and scalars.
    types : TypeMap
        Dtypes of the parameters.

    Returns
    -------
    callable or None
        Called as ``launch(arguments, size, stream, block_size)``.
    """
    if any(not isinstance(one, _Array | int | float | complex | np.generic) for one in arguments):
        return None
    if launch.is_plain and _core.device_count() > 1:
        return None  # The kernel is compiled for one device, but a later call may use another device.
    forms = launch.forms
    if launch.has_indexer or any(form is not None and not form.is_contiguous for form in forms):
        return None
    is_fresh = len(arguments) == kernel.nin
    checks = [(position, position in launch.with_shape) for position in launch.raw if position < len(arguments)]
    loop = [
        position
        for position, parameter in enumerate(kernel.params[: len(arguments)])
        if forms[position] is not None and not parameter.raw
    ]
    casts = [
        (position, cast)
        for position, dtype in enumerate(types.inputs)
        if forms[position] is None and (cast := scalar_cast(type(arguments[position]), dtype)) is not None
    ]
    if not checks and not launch.is_plain:
        return _simple(kernel, launch.native, loop, casts, types, is_fresh)
    if launch.is_plain and not (loop or casts or launch.with_shape):
        return _raw(kernel, launch.native, [position for position, _ in checks], types.outputs, is_fresh)
    return _general(kernel, launch, checks, loop, casts, types.outputs, is_fresh)


def _cast(args: Sequence[Any], casts: Sequence[tuple[int, Any]]) -> list[Any]:
    values = list(args)
    for position, cast in casts:
        values[position] = cast(values[position])
    return values


def _simple(
    kernel: ElementwiseKernel,
    native: Any,
    arrays: list[int],
    casts: list[tuple[int, Any]],
    types: TypeMap,
    is_fresh: bool,
) -> FastLaunch:
    """Return a function that launches a kernel without raw arrays; PyGPU broadcasts the arguments of the kernel."""
    first, *others = arrays
    result, nin, empty = kernel.result, kernel.nin, _core.empty
    inputs, dtypes = types.inputs, types.outputs
    has_one = kernel.nout == 1 and result([0]) == 0
    only = dtypes[0] if has_one and is_fresh else None

    def launch(args: Any, size: int, stream: Any, block_size: int) -> Any:
        if size != -1:
            return kernel.call(args, size, stream, block_size)
        if casts:
            args = _cast(args, casts)
        try:
            if not is_fresh:
                if stream is None:
                    native(*args)
                else:
                    native(*args, stream=stream)
                return args[nin] if has_one else result(args[nin:])
            shape = args[first].shape
            for position in others:
                if args[position].shape != shape:
                    shape = np.broadcast_shapes(*[args[one].shape for one in arrays])
                    break
            if only is not None:
                output = empty(shape, only)
                if stream is None:
                    native(*args, output)
                else:
                    native(*args, output, stream=stream)
                return output
            outputs = [empty(shape, dtype) for dtype in dtypes]
            native(*args, *outputs, stream=stream)
            return result(outputs)
        except ValueError:
            check_ranges(args, inputs)
            if not is_fresh:
                kernel.check_outputs(args, kernel.loop_shape(args, -1))
            raise

    return launch


def _raw(
    kernel: ElementwiseKernel, native: Any, raw: list[int], dtypes: tuple[np.dtype[Any], ...], is_fresh: bool
) -> FastLaunch:
    """Return a function that launches a kernel whose arrays are all raw, without the checks of the first call.

    If an array is not contiguous, the function calls `ElementwiseKernel.call`, which checks all arguments.
    """
    result, nin, empty = kernel.result, kernel.nin, _core.empty

    def launch(args: Any, size: int, stream: Any, block_size: int) -> Any:
        for position in raw:
            if not args[position].flags.c_contiguous:
                return kernel.call(args, size, stream, block_size)
        if size < 1 or size >= _MOST_BLOCKS:
            return kernel.call(args, size, stream, block_size)
        block_size = min(block_size, size)
        grid = -(-size // block_size)
        if not is_fresh:
            native(*args, size, block=block_size, grid=grid, stream=stream)
            return result(args[nin:])
        outputs = [empty((size,), dtype) for dtype in dtypes]
        native(*args, *outputs, size, block=block_size, grid=grid, stream=stream)
        return result(outputs)

    return launch


def _general(
    kernel: ElementwiseKernel,
    entry: Launch,
    checks: list[tuple[int, bool]],
    loop: list[int],
    casts: list[tuple[int, Any]],
    dtypes: tuple[np.dtype[Any], ...],
    is_fresh: bool,
) -> FastLaunch:
    """Return a function that launches kernels which `_simple` and `_raw` do not support, with few checks.

    If shapes or layouts differ from the shapes or layouts of the first call, the function calls
    `ElementwiseKernel.call`, which checks all arguments.
    """
    result, nin, empty = kernel.result, kernel.nin, _core.empty
    ranks = [form.ndim if form is not None else 0 for form in entry.forms]

    def launch(args: Any, size: int, stream: Any, block_size: int) -> Any:
        is_alike = (size == -1) == bool(loop)
        for position, is_shaped in checks:
            array = args[position]
            is_alike = is_alike and array.flags.c_contiguous
            if is_shaped:
                is_alike = is_alike and array.ndim == ranks[position] and array.nbytes < LIMIT_32_BITS
        shape = args[loop[0]].shape if loop else (size,)
        for position in loop[1:]:
            is_alike = is_alike and args[position].shape == shape
        if entry.is_plain:
            for position in loop:
                is_alike = is_alike and args[position].flags.c_contiguous
        if not is_alike or 0 in shape:
            return kernel.call(args, size, stream, block_size)
        if casts:
            args = _cast(args, casts)
        outputs = [empty(shape, dtype) for dtype in dtypes] if is_fresh else args[nin:]
        entry.run([*args, *outputs] if is_fresh else args, shape, stream, block_size)
        return result(outputs)

    return launch
