"""Functions of `cupy.testing` that create NumPy arrays or device arrays with test values."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from PyGPU._cupy.public_lookup import public_module

__all__ = [
    "generate_matrix", "shaped_arange", "shaped_linspace", "shaped_random", "shaped_reverse_arange",
    "shaped_sparse_random",
]  # fmt: skip


def _module(xp: Any) -> Any:
    return public_module("cupy") if xp is None else xp


def _size(shape: Any) -> int:
    return math.prod(shape) if isinstance(shape, tuple | list) else int(shape)


def _counted(values: np.ndarray[Any, Any], shape: Any, xp: Any, dtype: Any, order: str) -> Any:
    """Convert integers to a dtype: even numbers to True, and to complex numbers with equal real and imaginary parts."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        values = values % 2 == 0
    elif dtype.kind == "c":
        values = values + values * 1j
    return _module(xp).array(values.astype(dtype).reshape(shape), order=order)


def shaped_arange(shape: Any, xp: Any = None, dtype: Any = np.float32, order: str = "C") -> Any:
    """Return an array of the numbers 1, 2, 3, ... in order.

    Parameters
    ----------
    shape : tuple of ints
        Lengths of the axes.
    xp : module, optional
        Module of the array class: `numpy` or `cupy`; defaults to `cupy`.
    dtype : dtype, optional
        Data type. A bool is true for even numbers; a complex number has equal real and imaginary parts.
    order : {'C', 'F'}, optional
        Memory order.

    Returns
    -------
    array of `xp`

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.shaped_arange((2, 2)).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _counted(np.arange(1, _size(shape) + 1), shape, xp, dtype, order)


def shaped_reverse_arange(shape: Any, xp: Any = None, dtype: Any = np.float32) -> Any:
    """Return an array of decreasing whole numbers, the last of which is 1.

    Parameters
    ----------
    shape : tuple of ints
        Lengths of the axes.
    xp : module, optional
        Module of the array class: `numpy` or `cupy`; defaults to `cupy`.
    dtype : dtype, optional
        Data type, as for `shaped_arange`.

    Returns
    -------
    array of `xp`

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.shaped_reverse_arange((3,)).tolist()
    [3.0, 2.0, 1.0]
    """
    return _counted(np.arange(_size(shape), 0, -1), shape, xp, dtype, "C")


def shaped_linspace(start: Any, stop: Any, shape: Any, xp: Any = None, dtype: Any = np.float32) -> Any:
    """Return an array of evenly spaced numbers.

    Parameters
    ----------
    start, stop : int or float
        First and last number. Limits that the dtype cannot represent are moved into its range.
    shape : tuple of ints
        Lengths of the axes.
    xp : module, optional
        Module of the array class: `numpy` or `cupy`; defaults to `cupy`.
    dtype : dtype, optional
        Data type; a complex number has equal real and imaginary parts.

    Returns
    -------
    array of `xp`

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.shaped_linspace(0, 3, (2, 2)).tolist()
    [[0.0, 1.0], [2.0, 3.0]]
    """
    dtype = np.dtype(dtype)
    if dtype.kind in "bu":
        start = max(start, 0)
    if dtype.kind == "b":
        stop = min(stop, 1)
    values = np.linspace(start, stop, _size(shape))
    if dtype.kind == "c":
        values = values + values * 1j
    return _module(xp).array(values.astype(dtype).reshape(shape))


def shaped_random(
    shape: Any, xp: Any = None, dtype: Any = np.float32, scale: float = 10, seed: int = 0, order: str = "C"
) -> Any:
    """Return an array of random numbers, which are the same for `numpy` and `cupy` because NumPy draws them.

    Parameters
    ----------
    shape : tuple of ints
        Lengths of the axes.
    xp : module, optional
        Module of the array class: `numpy` or `cupy`; defaults to `cupy`.
    dtype : dtype, optional
        Data type; bools are true with probability 1/2.
    scale : float, optional
        Upper limit: the numbers, or their real and imaginary parts, are uniform between 0 and `scale`.
    seed : int, optional
        Seed of NumPy's generator.
    order : {'C', 'F'}, optional
        Memory order.

    Returns
    -------
    array of `xp`

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.testing.shaped_random((2, 3), dtype="i4", scale=1).tolist()
    [[0, 0, 0], [0, 0, 0]]
    """
    rng, dtype = np.random.RandomState(seed), np.dtype(dtype)
    shape = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    if dtype.kind == "b":
        values: Any = rng.randint(2, size=shape)
    elif dtype.kind == "c":
        values = (rng.rand(*shape) + 1j * rng.rand(*shape)) * scale
    else:
        values = rng.rand(*shape) * scale
    return _module(xp).asarray(values, dtype=dtype, order=order)


def shaped_sparse_random(*args: Any, **kwargs: Any) -> Any:
    """Raise an error: PyGPU has no sparse matrices.

    Parameters
    ----------
    *args, **kwargs : object
        Ignored.

    Raises
    ------
    NotImplementedError
        Always.
    """
    raise NotImplementedError(
        "shaped_sparse_random: PyGPU has no sparse matrices; draw one by scipy.sparse.random on the host"
    )


def generate_matrix(shape: Any, xp: Any = None, dtype: Any = np.float32, *, singular_values: Any = None) -> Any:
    """Return random matrices with given singular values.

    Parameters
    ----------
    shape : tuple of ints
        Lengths of the axes; the last two axes are the axes of a matrix.
    xp : module, optional
        Module of the array class: `numpy` or `cupy`; defaults to `cupy`.
    dtype : dtype, optional
        A real or complex floating-point type.
    singular_values : array_like
        Singular values, which broadcast to all matrices.

    Returns
    -------
    array of `xp`

    Raises
    ------
    TypeError
        If no singular values are given, or a type is wrong.
    ValueError
        For fewer than two axes or negative singular values.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> a = cupy.testing.generate_matrix((3, 3), dtype="f8", singular_values=[1, 2, 3])
    >>> bool(cupy.allclose(cupy.linalg.svd(a)[1], [3, 2, 1]))
    True
    """
    xp, dtype = _module(xp), np.dtype(dtype)
    if len(shape) <= 1:
        raise ValueError(f"generate_matrix: shape {shape} has no two axes for a matrix")
    if singular_values is None:
        raise TypeError("generate_matrix: pass the singular values, singular_values=[...]")
    values = xp.asarray(singular_values)
    if dtype.kind not in "fc" or values.dtype.kind == "c":
        raise TypeError(
            f"generate_matrix: no matrix of {dtype} with singular values of {values.dtype}; both are floats"
        )
    if (values < 0).any():
        raise ValueError("generate_matrix: singular values are not negative")
    random = xp.random.randn(*shape)
    if dtype.kind == "c":
        random = random + 1j * xp.random.randn(*shape)
    left, singular, right = xp.linalg.svd(random, full_matrices=False)
    values = xp.broadcast_to(values, singular.shape)
    return xp.matmul(left * values[..., None, :], right).astype(dtype)
