"""The class `Function`, a compiled kernel that accepts the same arguments as in CuPy."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core

__all__ = ["Function"]

# Maximum number of blocks in a cooperative launch on the CPU backend.
_MOST_ON_CPU = 512
_Number = bool | int | float | complex | np.number | np.bool_


def _declared_dtype(parameter: str) -> np.dtype[Any] | None:
    """Return the dtype of a C++ declaration such as ``'const int n'``; None for pointers and unknown types."""
    words = [word for word in parameter.replace("\\", " ").split()[:-1] if word not in ("const", "volatile")]
    return _core._dtype_of_c_name(" ".join(words)) if words else None


def _own_scalar(value: Any, is_narrow: bool) -> Any:
    """Convert a Python number to the NumPy scalar that CuPy passes; if `is_narrow`, integers have 32 bits."""
    if is_narrow and isinstance(value, int | np.integer) and not isinstance(value, bool):
        return np.int32(value) if -(1 << 31) <= value < 1 << 31 else np.uint32(int(value) & 0xFFFFFFFF)
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value) if -(1 << 63) <= value < 1 << 63 else np.uint64(value)
    if isinstance(value, float):
        return np.float64(value)
    return np.complex128(value) if isinstance(value, complex) else value


def _converted(value: Any, parameter: str, is_narrow: bool) -> Any:
    if isinstance(value, np.ndarray) and value.ndim > 0 and value.size == 1:
        value = value.reshape(())[()]
    if not isinstance(value, _Number):
        return getattr(value, "kernel_argument", value)  # Textures and surfaces have the attribute `kernel_argument`.
    dtype = _declared_dtype(parameter)
    if dtype is None:
        return _own_scalar(value, is_narrow)
    if dtype.kind in "iub" and isinstance(value, int | np.integer | np.bool_):
        # As in CuPy, which passes the address of a 64-bit integer, the parameter receives the integer's low bytes.
        return np.array(int(value) & ((1 << 64) - 1), np.uint64).astype(dtype)[()]
    return value if isinstance(value, np.generic) else dtype.type(value)


def converted(arguments: Sequence[Any], parameters: Sequence[str] | None, is_narrow: bool = False) -> tuple[Any, ...]:
    """Convert scalars that CuPy accepts and PyGPU rejects to types that PyGPU accepts.

    Parameters
    ----------
    arguments : sequence
        Arguments of a launch.
    parameters : sequence of str or None
        C++ declarations of the kernel's parameters; ``''`` for an unknown declaration.
    is_narrow : bool, optional
        Whether integers for parameters with an unknown declaration have 32 bits.

    Returns
    -------
    tuple
        The arguments; an argument that needs no conversion is the same object.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.function import converted
    >>> converted((np.int64(3), 2.5), ("int n", ""))
    (np.int32(3), np.float64(2.5))
    """
    count = len(parameters) if parameters is not None else 0
    known = [*(parameters or ()), *[""] * (len(arguments) - count)]
    return tuple(_converted(value, parameter, is_narrow) for value, parameter in zip(arguments, known, strict=False))


class Function:
    """Compiled kernel of one device, as ``RawKernel.kernel`` returns it.

    Parameters
    ----------
    kernel : PyGPU.Kernel
        The kernel.

    Notes
    -----
    ``function(grid, block, arguments, shared_mem=0, stream=None)`` launches. Arrays are passed by their addresses,
    for any element type and strides. Python scalars are converted to the declared type of the parameter.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU.cupy import cuda
    >>> function = cuda.Function(PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }'))
    >>> x = PyGPU.zeros(1, 'int32')
    >>> function((1,), (1,), (x,))
    >>> x.tolist()
    [1]
    """

    __slots__ = ("_kernel", "launch", "ptr")

    def __init__(self, kernel: _core.Kernel) -> None:
        self._kernel = kernel
        self.launch = _core.Function(kernel)
        self.ptr = kernel.handle

    @property
    def kernel(self) -> _core.Kernel:
        """The underlying kernel, as an object of PyGPU."""
        return self._kernel

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared_mem: int = 0,
        stream: Any = None,
        enable_cooperative_groups: bool = False,
    ) -> None:
        """Launch the kernel."""
        if enable_cooperative_groups:
            self._launch_cooperatively(grid, block, args, shared_mem, stream)
            return
        try:
            self.launch(*args, block=block, grid=grid, stream=stream, shared=shared_mem)
        except (TypeError, ValueError) as error:
            self.relaunch(error, grid, block, args, shared_mem, stream)

    def relaunch(
        self,
        error: Exception,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        shared_mem: int,
        stream: Any,
    ) -> None:
        """Launch again after `error`: convert the arguments, and replace lengths of grid and block below 1 by 1.

        If neither an argument nor a length changes, raise `error`.
        """
        unconverted, parameters = tuple(args), self._kernel.parameters
        arguments = converted(unconverted, parameters)
        shape = [[max(1, length) for length in axes] for axes in (grid, block)]
        unchanged = len(arguments) == len(unconverted) and all(map(operator.is_, arguments, unconverted))
        if unchanged and shape == [list(grid), list(block)]:
            raise error
        options = {"grid": shape[0], "block": shape[1], "stream": stream, "shared": shared_mem}
        try:
            self.launch(*arguments, **options)
        except TypeError:
            narrow = converted(unconverted, parameters, is_narrow=True)
            if all(map(operator.is_, narrow, arguments)):
                raise
            self.launch(*narrow, **options)

    def linear_launch(
        self,
        size: int,
        args: Sequence[Any],
        shared_mem: int = 0,
        block_max_size: int = 128,
        stream: Any = None,
        enable_cooperative_groups: bool = False,
    ) -> None:
        """Launch at least `size` threads in blocks of at most `block_max_size`."""
        block = min(block_max_size, max(1, size))
        grid = min(0x7FFFFFFF, -(-size // block))
        self((grid,), (block,), args, shared_mem, stream, enable_cooperative_groups)

    def _launch_cooperatively(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], shared_mem: int, stream: Any
    ) -> None:
        """Launch a cooperative kernel, whose blocks must all run at once; shorten a too long one-dimensional grid."""
        lengths = (*(max(1, length) for length in grid), 1, 1)[:3]
        threads = (*(max(1, length) for length in block), 1, 1)[:3]
        total = lengths[0] * lengths[1] * lengths[2]
        limit = self._most_concurrent(threads, shared_mem)
        if total > limit:
            if lengths[1:] != (1, 1):
                raise ValueError(
                    f"The specified grid size {lengths} exceeds the limit: {total} blocks of {threads} threads cannot "
                    f"run concurrently on {self._kernel.device}, at most {limit}"
                )
            warnings.warn(
                f"The grid size will be reduced from {total} to {limit}, the number of blocks that run concurrently",
                stacklevel=4,
            )
            lengths = (limit, 1, 1)
        config = _core.LaunchConfig(lengths, threads, shared_mem, stream, cooperative=True)
        try:
            self.launch(*args, config=config)
        except TypeError as error:
            arguments = converted(tuple(args), self._kernel.parameters)
            if all(map(operator.is_, arguments, args)):
                raise error
            self.launch(*arguments, config=config)

    def _most_concurrent(self, threads: Sequence[int], shared_mem: int) -> int:
        """Return the number of blocks that the device can run concurrently."""
        if self._kernel.device.kind == "cpu":
            return _MOST_ON_CPU  # The CPU backend runs cooperative blocks in turns, not concurrently.
        count: int = self._kernel.device.properties["multiprocessor_count"]
        return self._kernel.active_blocks(threads, shared_mem) * count
