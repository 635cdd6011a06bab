"""Find the current streams of the other libraries that the program has imported."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

__all__ = ["LibraryStream", "current_streams", "library_of"]


class LibraryStream(NamedTuple):
    """Current stream of a library in the calling thread.

    Attributes
    ----------
    library : str
        Name of the library.
    handle : int
        The driver's handle; 0 for the legacy default stream.
    owner : object
        Object that keeps the stream alive; None for the default streams.
    """

    library: str
    handle: int
    owner: Any


def _of_torch(torch: Any, device: int) -> tuple[int, Any] | None:
    # If torch is not initialized, its `current_stream` would create a context on every device.
    if not torch.cuda.is_initialized():
        return None
    stream = torch.cuda.current_stream(device)
    return stream.cuda_stream, stream


def _of_cupy(cupy: Any, device: int) -> tuple[int, Any] | None:
    stream = cupy.cuda.get_current_stream(device)
    return stream.ptr, stream


def _of_numba(numba: Any, device: int) -> tuple[int, Any] | None:
    # A call of numba without a stream uses a default stream; numba has no other current stream.
    if "numba.cuda" not in sys.modules:
        return None
    return (2 if getattr(numba.config, "CUDA_PER_THREAD_DEFAULT_STREAM", 0) else 0), None


_QUERIES: dict[str, Callable[[Any, int], tuple[int, Any] | None]] = {
    "torch": _of_torch,
    "cupy": _of_cupy,
    "numba": _of_numba,
}
"""Function for each library that returns handle and owner of the current stream of a device."""


def current_streams(device: int) -> Iterator[LibraryStream]:
    """Yield the current stream of each library that the program has imported.

    Parameters
    ----------
    device : int
        Number of the device.

    Yields
    ------
    LibraryStream
        A library whose query fails, for example because it uses another backend, is omitted.
    """
    for name, query in _QUERIES.items():
        module = sys.modules.get(name)
        if module is None or getattr(module, "__name__", "").startswith("PyGPU"):
            continue  # After `as_cupy`, the module named `cupy` is part of PyGPU.
        try:
            stream = query(module, device)
        except Exception:  # A partly imported library may raise any error. The library is then omitted.
            continue
        if stream is not None:
            handle, owner = stream
            yield LibraryStream(name, 0 if handle == 1 else handle, owner)


def library_of(value: object) -> str | None:
    """Return the name of the library that defines the class of a value; None for other classes.

    Parameters
    ----------
    value : object
        The value.

    Returns
    -------
    str or None
    """
    for base in type(value).__mro__:
        root = base.__module__.partition(".")[0]
        if root in _QUERIES:
            return root
    return None
