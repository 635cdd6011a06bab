"""The function `load`, and the dictionary that it returns for a file with several arrays."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._cupy.public_lookup import own

__all__ = ["load"]


class _Archive(dict[str, _core.GPUArray]):
    """Dictionary that maps the names of a file's arrays to the arrays, and works as a context manager."""

    @property
    def files(self) -> list[str]:
        """Names of the arrays."""
        return list(self)

    def close(self) -> None:
        """Do nothing, because `load` has already closed the file."""

    def __enter__(self) -> _Archive:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()


def load(file: Any, mmap_mode: str | None = None, allow_pickle: bool | None = None) -> Any:
    """Load an array, or all arrays of an archive, from a file that `save`, `savez` or `ndarray.dump` wrote.

    Parameters
    ----------
    file : str, path or file object
        The file.
    mmap_mode : str, optional
        Mode of NumPy's memory map, through which NumPy reads the file.
    allow_pickle : bool, optional
        Whether pickled objects are loaded. Loading a pickle can execute any code.

    Returns
    -------
    GPUArray or dict
        The array; for an archive, a dict of its arrays, which can be used in a ``with`` block.

    Examples
    --------
    >>> import io
    >>> from PyGPU import cupy
    >>> file = io.BytesIO()
    >>> cupy.savez(file, a=cupy.arange(3))
    >>> _ = file.seek(0)
    >>> with cupy.load(file) as arrays:
    ...     arrays["a"].tolist()
    [0, 1, 2]
    """
    result = own("load")(file, mmap_mode, bool(allow_pickle))
    return _Archive(result) if isinstance(result, dict) else result
