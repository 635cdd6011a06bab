"""Functions that read arrays from files and strings, and write them to files, by NumPy on the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from PyGPU import _core
from PyGPU._names.public import public

if TYPE_CHECKING:
    from PyGPU.typing import DeviceLike


def _uploaded(host_array: Any, device: DeviceLike) -> _core.GPUArray:
    return _core.asarray(host_array, device=device, copy=True)


def _on_host(array: Any) -> Any:
    return array.get() if isinstance(array, _core.GPUArray) else array


@public("Making arrays")
def frombuffer(buffer: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> _core.GPUArray:
    """Create an array from the bytes of a buffer.

    Parameters
    ----------
    buffer : object
        Object with the buffer protocol.
    *args, **kwargs
        Arguments of `numpy.frombuffer`: `dtype`, `count`, `offset`.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.frombuffer(b"ab", "uint8").tolist()
    [97, 98]
    """
    return _uploaded(np.frombuffer(buffer, *args, **kwargs), device)


@public("Files")
def fromfile(file: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> _core.GPUArray:
    """Create an array from the bytes of a file.

    Parameters
    ----------
    file : file, str or Path
        File to read.
    *args, **kwargs
        Arguments of `numpy.fromfile`: `dtype`, `count`, `sep`, `offset`.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import tempfile, PyGPU
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(b"ab")
    ...     file.flush()
    ...     PyGPU.fromfile(file.name, "uint8").tolist()
    [97, 98]
    """
    return _uploaded(np.fromfile(file, *args, **kwargs), device)


@public("Making arrays")
def fromiter(iter: Any, dtype: Any, count: int = -1, *, device: DeviceLike = None) -> _core.GPUArray:
    """Create an array from the values of an iterator.

    Parameters
    ----------
    iter : iterable
        Iterable of numbers.
    dtype : dtype-like
        Type of the elements.
    count : int, optional
        Number of values to take from the iterator; defaults to all values.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fromiter((i * i for i in range(3)), "int64").tolist()
    [0, 1, 4]
    """
    return _uploaded(np.fromiter(iter, dtype, count), device)


@public("Making arrays")
def fromstring(string: str, *args: Any, device: DeviceLike = None, **kwargs: Any) -> _core.GPUArray:
    """Create an array from the numbers in a string.

    Parameters
    ----------
    string : str
        String to parse.
    *args, **kwargs
        Arguments of `numpy.fromstring`: `dtype`, `count`, `sep`.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.fromstring("1 2", sep=" ").tolist()
    [1.0, 2.0]
    """
    return _uploaded(np.fromstring(string, *args, **kwargs), device)


@public("Files")
def loadtxt(fname: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> _core.GPUArray:
    """Create an array from a text file with one row per line.

    Parameters
    ----------
    fname : file, str, Path or iterable of lines
        File to read.
    *args, **kwargs
        Further arguments of `numpy.loadtxt`.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.loadtxt(["1 2", "3 4"]).tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    return _uploaded(np.loadtxt(fname, *args, **kwargs), device)


@public("Files")
def genfromtxt(fname: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> _core.GPUArray:
    """Create an array from a text file with one row per line, in which values may be missing.

    Parameters
    ----------
    fname : file, str, Path or iterable of lines
        File to read.
    *args, **kwargs
        Further arguments of `numpy.genfromtxt`.
    device : int, str or Device, optional
        Device of the array; defaults to the thread's current device.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.genfromtxt(["1,", "3,4"], delimiter=",", filling_values=0).tolist()
    [[1.0, 0.0], [3.0, 4.0]]
    """
    return _uploaded(np.genfromtxt(fname, *args, **kwargs), device)


@public("Files")
def load(file: Any, *args: Any, device: DeviceLike = None, **kwargs: Any) -> _core.GPUArray | dict[str, _core.GPUArray]:
    """Read arrays from a file that `save`, `savez` or NumPy wrote.

    Parameters
    ----------
    file : file, str or Path
        File to read.
    *args, **kwargs
        Further arguments of `numpy.load`.
    device : int, str or Device, optional
        Device of the arrays; defaults to the thread's current device.

    Returns
    -------
    GPUArray, or dict of GPUArray
        The array; for a file of several arrays, a dict that maps their names to the arrays.

    Examples
    --------
    >>> import io, PyGPU
    >>> file = io.BytesIO()
    >>> PyGPU.save(file, PyGPU.arange(3))
    >>> _ = file.seek(0)
    >>> PyGPU.load(file).tolist()
    [0, 1, 2]
    """
    loaded = np.load(file, *args, **kwargs)
    if isinstance(loaded, np.ndarray):
        return _uploaded(loaded, device)
    if isinstance(loaded, _core.GPUArray):  # the file contains a pickled GPUArray, written by `a.dump(file)`
        return loaded if device is None else loaded.copy(device=device)
    with loaded:
        return {name: _uploaded(loaded[name], device) for name in loaded.files}


@public("Files")
def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Write an array to a file in NumPy's format; the host waits for the values.

    Parameters
    ----------
    file : file, str or Path
        File to write.
    arr : GPUArray
        The array.
    allow_pickle : bool, optional
        Accepted for compatibility with NumPy; it has no effect, because device arrays contain no Python objects.

    Examples
    --------
    >>> import io, PyGPU
    >>> PyGPU.save(io.BytesIO(), PyGPU.arange(3))
    """
    np.save(file, _on_host(arr), allow_pickle)


@public("Files")
def savetxt(fname: Any, X: Any, *args: Any, **kwargs: Any) -> None:
    """Write an array to a text file with one row per line; the host waits for the values.

    Parameters
    ----------
    fname : file, str or Path
        File to write.
    X : GPUArray
        Array with one or two axes.
    *args, **kwargs
        Further arguments of `numpy.savetxt`.

    Examples
    --------
    >>> import io, PyGPU
    >>> PyGPU.savetxt(io.StringIO(), PyGPU.arange(3))
    """
    np.savetxt(fname, _on_host(X), *args, **kwargs)


@public("Files")
def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to one file; the host waits for the values.

    Parameters
    ----------
    file : file, str or Path
        File to write.
    *args : GPUArray
        Arrays, stored under the names ``arr_0``, ``arr_1`` and so on.
    **kwds : GPUArray
        Arrays, stored under the names of the keywords.

    Examples
    --------
    >>> import io, PyGPU
    >>> PyGPU.savez(io.BytesIO(), x=PyGPU.arange(3))
    """
    np.savez(file, *map(_on_host, args), **{name: _on_host(value) for name, value in kwds.items()})


@public("Files")
def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to one compressed file; the host waits for the values.

    Parameters
    ----------
    file : file, str or Path
        File to write.
    *args : GPUArray
        Arrays, stored under the names ``arr_0``, ``arr_1`` and so on.
    **kwds : GPUArray
        Arrays, stored under the names of the keywords.

    Examples
    --------
    >>> import io, PyGPU
    >>> PyGPU.savez_compressed(io.BytesIO(), x=PyGPU.arange(3))
    """
    np.savez_compressed(file, *map(_on_host, args), **{name: _on_host(value) for name, value in kwds.items()})
