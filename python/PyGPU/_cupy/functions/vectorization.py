"""CuPy's class `vectorize`, which calls a function for single elements once with whole arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.public_lookup import own

__all__ = ["vectorize"]


class vectorize:
    """Convert a function that accepts single elements to a function that accepts whole arrays.

    Parameters
    ----------
    pyfunc : function
        Function of numbers that returns a number, or a tuple of numbers.
    otypes : str or list of dtypes, optional
        Data types of the results.
    doc : str, optional
        Docstring; defaults to the docstring of `pyfunc`.
    excluded : None
        Not supported, as in CuPy.
    cache : bool
        Not supported, as in CuPy.
    signature : None
        Not supported, as in CuPy.

    Raises
    ------
    NotImplementedError
        For a parameter that is not supported.
    TypeError
        At a call, if the function depends on the value of an element, by ``if``, ``while``, ``and`` or ``range``.

    Notes
    -----
    `pyfunc` is called once with arrays of the broadcast shape, so that its arithmetic is deferred and fused. CuPy
    translates the text of the function instead, and therefore accepts branches: write `cupy.where`, or a
    `cupy.ElementwiseKernel`.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> f = cupy.vectorize(lambda x, y: 2 * x + y)
    >>> f(cupy.arange(3), 1).tolist()
    [1, 3, 5]
    """

    def __init__(
        self,
        pyfunc: Callable[..., Any],
        otypes: str | Sequence[Any] | None = None,
        doc: str | None = None,
        excluded: Any = None,
        cache: bool = False,
        signature: Any = None,
    ) -> None:
        for name, value in (("excluded", excluded), ("cache", cache), ("signature", signature)):
            if value:
                raise NotImplementedError(f"vectorize: {name}={value!r} is not supported, as in CuPy; omit it")
        self.pyfunc, self.otypes = pyfunc, None if otypes is None else [np.dtype(dtype) for dtype in otypes]
        functools.update_wrapper(self, pyfunc)
        self.__doc__ = pyfunc.__doc__ if doc is None else doc

    def __call__(self, *args: Any) -> Any:
        # `pyfunc` receives copies, because it may change its parameters in place, for example by `x += 1`.
        arrays = [own("array")(operand) for operand in own("broadcast_arrays")(*map(_core.asarray, args))]
        try:
            results = self.pyfunc(*arrays)
        except (TypeError, ValueError) as error:
            if not _is_about_truth(error):
                raise
            raise TypeError(
                f"vectorize: {getattr(self.pyfunc, '__name__', self.pyfunc)} depends on the value of an element, and "
                "is called with whole arrays: write cupy.where(condition, x, y) or a cupy.ElementwiseKernel"
            ) from error
        is_tuple = isinstance(results, tuple)
        shape = arrays[0].shape if arrays else ()
        outputs = [_core.asarray(result) for result in (results if is_tuple else (results,))]
        outputs = [
            result if result.shape == shape else own("array")(_core.broadcast_to(result, shape)) for result in outputs
        ]
        if self.otypes is not None:
            if len(self.otypes) != len(outputs):
                raise ValueError(f"vectorize: otypes has {len(self.otypes)} types for {len(outputs)} results")
            outputs = [result.astype(dtype, copy=False) for result, dtype in zip(outputs, self.otypes, strict=True)]
        return tuple(outputs) if is_tuple else outputs[0]


def _is_about_truth(error: Exception) -> bool:
    """Return whether an error occurred because an array was used as a condition or converted to a Python number."""
    text = str(error)
    return "truth value" in text or "ambiguous" in text or "scalar" in text or "integer" in text
