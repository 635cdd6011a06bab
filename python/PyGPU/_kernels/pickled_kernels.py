"""Pickle generated kernels: a pickle contains the arguments that created the kernel, and each process creates it once.

Each task of Dask or Ray contains a separate pickle of the kernels that it uses. If the tasks in a process did not
share the kernels, each task would load them again.
"""

from __future__ import annotations

import functools
import pickle
from typing import Any

__all__ = ["derived", "reduced", "shared"]


def reduced(kernel: Any, base_class: type, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the `__reduce__` value of a kernel of PyGPU's class `base_class`, or of a derived class."""
    if type(kernel) is base_class and not kernel.__dict__:
        return shared, (pickle.dumps((base_class, arguments)),)
    return derived, (type(kernel), base_class, arguments), kernel.__dict__ or None


@functools.lru_cache(maxsize=128)
def shared(recipe: bytes) -> Any:
    """Return the kernel of these constructor arguments, which all unpickled copies share in this process."""
    base_class, arguments = pickle.loads(recipe)
    return base_class(*arguments)


def derived(cls: Any, base_class: Any, arguments: tuple[Any, ...]) -> Any:
    """Recreate a kernel of a derived class without calling its `__init__`, which may take other arguments."""
    kernel = cls.__new__(cls)
    base_class.__init__(kernel, *arguments)
    return kernel
