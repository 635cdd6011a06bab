"""Progress of long operations: by tqdm if installed, or by a function of the caller."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import numpy

if TYPE_CHECKING:
    from PyGPU import GPUArray

PIECE = 16 << 20
"""Bytes after which a copy says how far it is."""


class Silent:
    """Bar without output."""

    def update(self, n: float = 1) -> None:
        """Advance the bar."""

    def set_description_str(self, text: str) -> None:
        """Set the description of the next step."""

    def close(self) -> None:
        """Close the bar."""


def bar(total: int, *, file: TextIO | None = None, **options: Any) -> Any:
    """Return a bar of tqdm, or a silent one if tqdm is not installed.

    Parameters
    ----------
    total : int
        Final count.
    file : file, optional
        Output file; the bar is silent if it is no terminal. Defaults to the standard error, or to the notebook.
    **options
        Options of tqdm.

    Returns
    -------
    tqdm or Silent
    """
    if file is not None and not file.isatty():
        return Silent()
    try:
        tqdm = importlib.import_module("tqdm.auto" if file is None else "tqdm").tqdm
    except ImportError:
        return Silent()
    return tqdm(total=total, file=file, **options)


def _pieces(host: numpy.ndarray[Any, Any]) -> tuple[int, int]:
    """Return the axis along which a copy is divided, that of the largest stride, and the length of a piece."""
    axis = max(range(host.ndim), key=lambda axis: (host.shape[axis] > 1, abs(host.strides[axis])))
    return axis, max(1, PIECE * host.shape[axis] // host.nbytes)


def upload(
    ary: Any, allocator: Any, device: Any, stream: Any, progress: bool | Callable[[int, int], object]
) -> GPUArray:
    """Upload as `to_gpu` in pieces, and report the progress after each.

    Parameters
    ----------
    ary : array_like
        Host data.
    allocator : callable or None
        If given, the array is a single piece.
    device, stream
        As in `to_gpu`.
    progress : bool or callable
        True for a bar; a function receives the number of copied bytes and the total.

    Returns
    -------
    GPUArray
    """
    from PyGPU import _core

    host = numpy.asanyarray(ary)
    shown = None if callable(progress) else bar(host.nbytes, desc="to_gpu", unit="B", unit_scale=True)
    done = 0

    def tell(nbytes: int) -> None:
        nonlocal done
        done += nbytes
        if shown is not None:
            shown.update(nbytes)
        elif callable(progress):
            progress(done, host.nbytes)

    try:
        if allocator is not None or host.ndim == 0 or host.nbytes <= PIECE:
            array = _core.to_gpu(host, allocator, device=device, stream=stream)
            tell(host.nbytes)
            return array
        array = _core.empty_like(host, device=device)
        axis, step = _pieces(host)
        for start in range(0, host.shape[axis], step):
            cut = (*(slice(None),) * axis, slice(start, start + step))
            array[cut].set(host[cut], stream=stream)
            tell(host[cut].nbytes)
        return array
    finally:
        if shown is not None:
            shown.close()
