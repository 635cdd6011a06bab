"""Pickles of generated kernels: each contains the source lines, from which a process creates the kernel once.

Each task of Dask or Ray carries the kernels of its function in a separate pickle. Without sharing, each task would
load them again.
"""

from __future__ import annotations

import functools
import pickle
from typing import Any

__all__: list[str] = []


def reduced(kernel: Any, base_class: type, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the `__reduce__` value of a kernel of PyGPU's class `own`, or of a derived class."""
    if type(kernel) is base_class and not kernel.__dict__:
        return shared, (pickle.dumps((base_class, arguments)),)
    return derived, (type(kernel), base_class, arguments), kernel.__dict__ or None


@functools.lru_cache(maxsize=128)
def shared(recipe: bytes) -> Any:
    """Return the single kernel of this process for these arguments."""
    base_class, arguments = pickle.loads(recipe)
    return base_class(*arguments)


def derived(cls: Any, base_class: Any, arguments: tuple[Any, ...]) -> Any:
    """Return a kernel of a derived class, whose `__init__` may take other arguments."""
    kernel = cls.__new__(cls)
    base_class.__init__(kernel, *arguments)
    return kernel
