"""Report the progress of long operations by a bar of tqdm or by calls of a user's function."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

import numpy

if TYPE_CHECKING:
    from PyGPU import GPUArray

PIECE_BYTES = 16 << 20
"""Number of bytes of a piece; the progress of a copy is reported after each piece."""


class Silent:
    """Replacement of tqdm's progress bar that prints nothing."""

    def update(self, n: float = 1) -> None:
        """Advance the bar."""

    def set_description_str(self, text: str) -> None:
        """Set the description of the current step."""

    def close(self) -> None:
        """Close the bar."""


def bar(total: int, *, file: TextIO | None = None, **options: Any) -> Any:
    """Return a progress bar of tqdm, or a bar without output if tqdm is not installed.

    Parameters
    ----------
    total : int
        Count at which the bar is full.
    file : file, optional
        Output file; if it is no terminal, the bar has no output. Defaults to standard error, or to the notebook.
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
    """Return the axis along which a copy is divided (the axis with the largest stride), and the length of a piece."""
    axis = max(range(host.ndim), key=lambda axis: (host.shape[axis] > 1, abs(host.strides[axis])))
    return axis, max(1, PIECE_BYTES * host.shape[axis] // host.nbytes)


def upload(
    ary: Any, allocator: Any, device: Any, stream: Any, progress: bool | Callable[[int, int], object]
) -> GPUArray:
    """Copy an array to the device in pieces, like `to_gpu`, and report the progress after each piece.

    Parameters
    ----------
    ary : array_like
        Host data to upload.
    allocator : callable or None
        Allocator of the array. If given, the array is uploaded in one piece.
    device, stream
        Same as for `to_gpu`.
    progress : bool or callable
        True for a progress bar; or a function that is called with the numbers of copied bytes and of all bytes.

    Returns
    -------
    GPUArray
    """
    from PyGPU import _core

    host = numpy.asanyarray(ary)
    progress_bar = None if callable(progress) else bar(host.nbytes, desc="to_gpu", unit="B", unit_scale=True)
    completed = 0

    def report(nbytes: int) -> None:
        nonlocal completed
        completed += nbytes
        if progress_bar is not None:
            progress_bar.update(nbytes)
        elif callable(progress):
            progress(completed, host.nbytes)

    try:
        if allocator is not None or host.ndim == 0 or host.nbytes <= PIECE_BYTES:
            array = _core.to_gpu(host, allocator, device=device, stream=stream)
            report(host.nbytes)
            return array
        array = _core.empty_like(host, device=device)
        axis, step = _pieces(host)
        for start in range(0, host.shape[axis], step):
            piece = (*(slice(None),) * axis, slice(start, start + step))
            array[piece].set(host[piece], stream=stream)
            report(host[piece].nbytes)
        return array
    finally:
        if progress_bar is not None:
            progress_bar.close()
