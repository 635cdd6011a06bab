"""CuPy's decorator `fuse`, which makes a function defer and fuse its operations on arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from PyGPU._fusion.mode import fusion

__all__ = ["Fusion", "fuse"]


class Fusion:
    """Function whose operations on arrays are deferred and fused.

    Parameters
    ----------
    func : callable
        The function to call.
    name : str, optional
        Accepted for compatibility with CuPy; it has no effect, because PyGPU names fused kernels itself.
    """

    def __init__(self, func: Callable[..., Any], name: str | None = None) -> None:
        self.func = func
        self.name = name or getattr(func, "__name__", "fused")
        self._call = fusion("auto")(func)
        functools.update_wrapper(self, func)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._call(*args, **kwargs)

    def clear_cache(self) -> None:
        """Do nothing, because all functions of the process share the cache of fused kernels."""

    def __repr__(self) -> str:
        return f"<Fusion '{self.name}'>"


def fuse(*args: Any, **kwargs: Any) -> Any:
    """Decorate a function so that its operations on arrays are deferred and fused.

    Parameters
    ----------
    kernel_name : str, optional
        Name of the kernel, accepted for compatibility with CuPy; it has no effect.

    Returns
    -------
    callable
        The decorated function, or a decorator if `fuse` is called with a name or without arguments. The function is not
        translated, so it may contain any Python code.

    Raises
    ------
    TypeError
        If an argument is neither a function nor a name, or if the function is a generator or a coroutine.

    See Also
    --------
    PyGPU.fusion : deferral and fusion for a part of a program.

    Examples
    --------
    >>> import PyGPU
    >>> from PyGPU import cupy
    >>> @cupy.fuse(kernel_name='squared_difference')
    ... def squared_difference(x, y):
    ...     return (x - y) * (x - y)
    >>> squared_difference(PyGPU.arange(4.0), 1).tolist()
    [1.0, 0.0, 1.0, 4.0]
    """
    if len(args) == 1 and not kwargs and callable(args[0]):
        return Fusion(args[0])

    def with_name(kernel_name: str | None = None) -> Callable[[Callable[..., Any]], Fusion]:
        return lambda func: Fusion(func, kernel_name)

    return with_name(*args, **kwargs)
