"""Compiled kernels with CuPy's rules for arguments."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core

__all__ = ["Function"]

_INTEGERS = frozenset(
    f"{sign}{word}"
    for sign in ("", "unsigned ", "signed ")
    for word in ("char", "short", "int", "long", "long long", "long int", "long long int")
) | {"unsigned", "bool", "size_t", "ptrdiff_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t"}
_INTEGERS |= {"uint32_t", "uint64_t"}


def _declared_type(parameter: str) -> str:
    """Return the C type of a declaration such as ``'const int n'``."""
    words = [word for word in parameter.split()[:-1] if word not in ("const", "volatile")]
    return " ".join(words)


def _own_scalar(value: Any) -> Any:
    """Return a Python number as the NumPy scalar that CuPy passes for it."""
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int):
        return np.int64(value) if -(1 << 63) <= value < 1 << 63 else np.uint64(value)
    if isinstance(value, float):
        return np.float64(value)
    if isinstance(value, complex):
        return np.complex128(value)
    return value


def _wrapped(value: Any, name: str) -> int:
    """Return an integer modulo the range of a C type, as a little-endian machine reads its first bytes."""
    if name == "bool":
        return int(bool(value))
    dtype = _core._dtype_of_c_name(name) or np.dtype(name.removesuffix("_t"))
    return int(np.array(int(value) & ((1 << 64) - 1), np.uint64).astype(dtype))


def converted(arguments: Sequence[Any], parameters: Sequence[str] | None) -> tuple[Any, ...]:
    """Return arguments with the scalars that CuPy accepts and PyGPU rejects, in accepted types.

    Parameters
    ----------
    arguments : sequence
        Arguments of a launch.
    parameters : sequence of str or None
        Declarations of the kernel's parameters; ``''`` for an unknown one.

    Returns
    -------
    tuple
        The arguments; elements without a conversion are the same objects.

    Examples
    --------
    >>> import numpy as np
    >>> from PyGPU._cupy.kernels.function import converted
    >>> converted((np.int64(3), 2.5), ("int n", ""))
    (3, np.float64(2.5))
    """
    result = []
    for position, value in enumerate(arguments):
        parameter = parameters[position] if parameters is not None and position < len(parameters) else ""
        name = _declared_type(parameter)
        if isinstance(value, np.ndarray) and value.ndim > 0 and value.size == 1:
            value = value.reshape(())[()]
        if isinstance(value, (np.integer, np.bool_)) and name in _INTEGERS:
            value = _wrapped(value, name)
        elif not parameter or not name or name.endswith("Complex"):
            value = _own_scalar(value)
        result.append(value)
    return tuple(result)


class Function:
    """Compiled kernel of one device, as ``RawKernel.kernel`` returns it.

    Parameters
    ----------
    kernel : PyGPU.Kernel
        The kernel.

    Notes
    -----
    ``function(grid, block, arguments, shared_mem=0, stream=None)`` launches. Arrays are passed by their addresses,
    for any element type and strides. Python scalars have the declared type of the parameter.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU._cupy.kernels.function import Function
    >>> function = Function(PyGPU.Kernel('__global__ void one(int *x) { *x = 1; }'))
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
        """PyGPU's kernel."""
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
        """Launch with converted arguments after a rejected launch; raise `error` if there is nothing to convert."""
        given = tuple(args)
        arguments = converted(given, self._kernel.parameters)
        shape = [[max(1, length) for length in axes] for axes in (grid, block)]
        unchanged = all(one is other for one, other in zip(arguments, given, strict=True))
        if unchanged and shape == [list(grid), list(block)]:
            raise error
        self.launch(*arguments, grid=shape[0], block=shape[1], stream=stream, shared=shared_mem)

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
        """Launch so that all blocks run concurrently, with as many blocks of a line as the device can hold."""
        lengths = (*(max(1, length) for length in grid), 1, 1)[:3]
        threads = (*(max(1, length) for length in block), 1, 1)[:3]
        count = self._kernel.device.properties["multiprocessor_count"]
        limit = self._kernel.active_blocks(threads, shared_mem) * count
        total = lengths[0] * lengths[1] * lengths[2]
        if total > limit > 0:
            if lengths[1:] != (1, 1):
                raise ValueError(
                    f"The specified grid size {lengths} exceeds the limit: {total} blocks of {threads} threads cannot "
                    f"run concurrently on {self._kernel.device}, at most {limit}"
                )
            warnings.warn(
                f"The grid size will be reduced from {total} to {limit}, the number of blocks that run concurrently",
                stacklevel=3,
            )
            lengths = (limit, 1, 1)
        config = _core.LaunchConfig(lengths, threads, shared_mem, stream, cooperative=True)
        try:
            self.launch(*args, config=config)
        except (TypeError, ValueError):
            self.launch(*converted(tuple(args), self._kernel.parameters), config=config)
