"""The iterator over an array's elements in C order: `a.flat`."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._names.public import public


@public("Selection")
class flatiter:
    """Access the elements of an array in C order by a single index: the class of `a.flat`.

    An index returns a copy, and an assignment writes into the array, as in NumPy. Iteration copies all values to the
    host first.

    Parameters
    ----------
    array : GPUArray
        The array to access.

    Examples
    --------
    >>> import PyGPU
    >>> a = PyGPU.arange(6).reshape(2, 3).T
    >>> a.flat[1:3].tolist()
    [3, 1]
    >>> a.flat[[0, 5]] = -1
    >>> a.tolist()
    [[-1, 3], [1, 4], [2, -1]]
    """

    __slots__ = ("_array", "_index", "_values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: _core.GPUArray) -> None:
        self._array = array
        self._index = 0
        self._values: Iterator[Any] | None = None

    @property
    def base(self) -> _core.GPUArray:
        """The array whose elements are iterated."""
        return self._array

    @property
    def index(self) -> int:
        """Index of the next element of the iteration."""
        return self._index

    @property
    def coords(self) -> tuple[int, ...]:
        """Index along each axis of the next element."""
        return tuple(map(int, np.unravel_index(self._index, self._array.shape)))

    def __len__(self) -> int:
        return self._array.size

    def __iter__(self) -> flatiter:
        return self

    def __next__(self) -> Any:
        if self._values is None:
            self._values = iter(self._array.get().flat)
        value = next(self._values)
        self._index += 1
        return value

    def copy(self) -> _core.GPUArray:
        """Copy the elements of the array into an array with one axis."""
        return self._array.flatten()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._array.flatten().__array__(dtype, copy=copy)

    def __eq__(self, other: object) -> Any:
        return self.copy() == _elements(other)

    def __ne__(self, other: object) -> Any:
        return self.copy() != _elements(other)

    def __lt__(self, other: object) -> Any:
        return self.copy() < _elements(other)

    def __le__(self, other: object) -> Any:
        return self.copy() <= _elements(other)

    def __gt__(self, other: object) -> Any:
        return self.copy() > _elements(other)

    def __ge__(self, other: object) -> Any:
        return self.copy() >= _elements(other)

    def __getitem__(self, key: Any) -> _core.GPUArray:
        key = _one_index(key)
        if _is_integer(key):
            return self._array[self._position(key)].copy()
        elements = self._array.reshape(-1)
        selected = elements[key]
        return selected.copy() if selected.base is not None else selected

    def __setitem__(self, key: Any, value: Any) -> None:
        key = _one_index(key)
        values = _core.asarray(value, self._array.dtype, device=self._array.device).reshape(-1)
        if _is_integer(key):
            if values.size != 1:
                raise ValueError(f"flat: one element cannot be set to {values.size} values")
            self._array[self._position(key)] = values[0]
            return
        positions = _core.arange(self._array.size, device=self._array.device)[key]
        if positions.size == 0 or values.size == 0:
            return
        repeated = _repeated(values, positions.size)
        if self._array.flags.c_contiguous:
            self._array.reshape(-1)[key] = repeated.reshape(positions.shape)
        else:
            # `_unravelled` returns valid indices, so the host need not wait for a check.
            self._array[_unravelled(positions, self._array.shape)] = repeated.reshape(positions.shape)

    def _position(self, key: Any) -> tuple[int, ...]:
        """Check the flat index of one element, and convert it to an index for each axis."""
        index, size = operator.index(key), self._array.size
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of bounds for size {size}")
        return tuple(map(int, np.unravel_index(index % size, self._array.shape)))


def _repeated(values: _core.GPUArray, count: int) -> _core.GPUArray:
    """Repeat values cyclically until there are `count` of them."""
    if values.size >= count:
        return values[:count]
    return values[_core.arange(count, device=values.device) % values.size]


def _elements(value: Any) -> Any:
    """Convert a flat iterator to an array of the iterated elements; return other objects unchanged."""
    return value.copy() if isinstance(value, flatiter) else value


def _is_integer(key: Any) -> bool:
    """Test whether a key is an index of one element."""
    return isinstance(key, (int, np.integer)) and not isinstance(key, bool)


def _one_index(key: Any) -> Any:
    """Return the index that a subscript of `a.flat` contains; raise NumPy's error for other subscripts."""
    if isinstance(key, tuple):
        if len(key) > 1:
            raise IndexError(
                f"too many indices for flat iterator: flat iterator is 1-dimensional, but {len(key)} were indexed"
            )
        key = key[0] if key else Ellipsis
    if isinstance(key, _core.GPUArray):
        return key
    if key is Ellipsis or isinstance(key, (slice, int, np.integer)):
        if isinstance(key, bool):
            raise IndexError("boolean indices for iterators are not supported")
        return key
    if isinstance(key, (list, np.ndarray)):
        indices = np.asarray(key)
        if indices.dtype.kind == "b" and isinstance(key, list):
            raise IndexError("boolean indices for iterators are not supported")
        return indices if indices.size else indices.astype(np.intp)
    raise IndexError("only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices")


def _unravelled(positions: _core.GPUArray, shape: tuple[int, ...]) -> tuple[_core.GPUArray, ...]:
    """Convert flat indices (C order) to an index array for each axis."""
    indices = []
    for length in reversed(shape):
        positions, index = _core.divmod(positions, length)
        indices.append(index)
    return tuple(reversed(indices))
