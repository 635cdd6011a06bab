"""Pickles of kernels that are made of a few lines: the lines, from which each process makes a kernel once.

A task of Dask or Ray brings the kernels that its function names in a pickle of its own: were each made anew, each task
would load them again.
"""

from __future__ import annotations

import functools
import pickle
from typing import Any

__all__: list[str] = []


def reduced(kernel: Any, own: type, given: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what `__reduce__` gives of a kernel of our class `own`, or of one that derives from it."""
    if type(kernel) is own and not kernel.__dict__:
        return shared, (pickle.dumps((own, given)),)
    return derived, (type(kernel), own, given), kernel.__dict__ or None


@functools.lru_cache(maxsize=128)
def shared(recipe: bytes) -> Any:
    """Return the one kernel of this process that was made of these arguments."""
    own, given = pickle.loads(recipe)
    return own(*given)


def derived(cls: Any, own: Any, given: tuple[Any, ...]) -> Any:
    """Return a kernel of a derived class, whose `__init__` may take other arguments."""
    kernel = cls.__new__(cls)
    own.__init__(kernel, *given)
    return kernel
