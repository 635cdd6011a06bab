"""How far something is that takes long: by tqdm where it is installed, or by a function of the caller's."""

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
    """A bar that nobody sees."""

    def update(self, n: float = 1) -> None:
        """Go on."""

    def set_description_str(self, text: str) -> None:
        """Say what comes next."""

    def close(self) -> None:
        """End."""


def bar(total: int, *, file: TextIO | None = None, **options: Any) -> Any:
    """Return a bar of tqdm, or one that nobody sees where that is not installed.

    Parameters
    ----------
    total : int
        What it counts to.
    file : file, optional
        Where; the bar is silent if that is no terminal. The standard error by default, whatever it is, or the notebook.
    **options
        Those of tqdm.

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
    """Return the axis along which a copy is cut, that of the longest steps, and the length of a piece."""
    axis = max(range(host.ndim), key=lambda axis: (host.shape[axis] > 1, abs(host.strides[axis])))
    return axis, max(1, PIECE * host.shape[axis] // host.nbytes)


def upload(
    ary: Any, allocator: Any, device: Any, stream: Any, progress: bool | Callable[[int, int], object]
) -> GPUArray:
    """Do `to_gpu` in pieces, and say after each how far it is.

    Parameters
    ----------
    ary : array_like
        Host data.
    allocator : callable or None
        With one the array is a single piece.
    device, stream
        As in `to_gpu`.
    progress : bool or callable
        True for a bar; a function is given the bytes that are there, and those of all.

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
