"""Define the status objects that `cuda*` calls return, and convert exceptions to status objects.

Functions whose names start with `cuda` return a `cudaError_t` and never raise for a device error. Internally, errors
are exceptions: `status_of` and `value_of` convert them to a status and store it as the thread's last error. Errors in
the type or value of an argument (`TypeError`, `ValueError`) are never converted.
"""

from __future__ import annotations

import numbers
import operator
import threading
from collections.abc import Callable
from typing import ClassVar, ParamSpec, SupportsIndex, TypeVar

from PyGPU import _core

__all__ = [
    "cudaError_t",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaPeekAtLastError",
]

_P = ParamSpec("_P")
_T = TypeVar("_T")

# CUDA's error numbers for errors that checks of this package detect.
INVALID_VALUE = 1
MEMORY_ALLOCATION = 2
INITIALIZATION_ERROR = 3
INVALID_PITCH_VALUE = 12
INVALID_MEMCPY_DIRECTION = 21
NO_DEVICE = 100
INVALID_DEVICE = 101
INVALID_RESOURCE_HANDLE = 400
NOT_READY = 600
NOT_SUPPORTED = 801


class Status:
    """Status code; it equals the integer of the same value, and is true for an error."""

    __slots__ = ("_code",)
    _kind: ClassVar[str] = "Status"

    def __init__(self, code: SupportsIndex) -> None:
        self._code = operator.index(code)

    def as_int(self) -> int:
        """Return the code as an int; 0 is success."""
        return self._code

    def __int__(self) -> int:
        return self._code

    def __index__(self) -> int:
        return self._code

    def __bool__(self) -> bool:
        return self._code != 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type(self)):
            return self._code == other._code
        if isinstance(other, numbers.Integral):
            return self._code == int(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._code)

    def __repr__(self) -> str:
        return f"<{self._kind}: code={self._code}>"


class cudaError_t(Status):
    """Status of a `cuda*` call.

    Parameters
    ----------
    code : int
        Number of the error; 0 is success. Any integer is accepted, even if no driver defines the number.

    Notes
    -----
    The status is **true if it is an error**, so that `if err:` reads as "if it failed". The status equals another
    `cudaError_t` and any integer of the same value, and hashes like that integer. It never equals an `nvmlReturn_t`.

    Raises
    ------
    TypeError
        If `code` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.cudaError_t(1)
    >>> err, err == 1, bool(err), PyGPU.cudaGetErrorName(err)
    (<cudaError: code=1>, True, True, 'cudaErrorInvalidValue')
    """

    __slots__ = ()
    _kind = "cudaError"


class nvmlReturn_t(Status):
    """Status of an `nvml*` call.

    Parameters
    ----------
    code : int
        NVML's number; 0 is success. 3 is "not supported", which every call returns if NVML is not available.

    Notes
    -----
    The status is **true if it is an error**. It equals integers of the same value and never equals a `cudaError_t`.

    Raises
    ------
    TypeError
        If `code` is not an integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.nvmlReturn_t(3)
    <nvmlReturn: code=3>
    """

    __slots__ = ()
    _kind = "nvmlReturn"


SUCCESS = cudaError_t(0)
"""Status of every successful call; the object is shared, because statuses are immutable."""


class StatusError(Exception):
    """Error that a check of this package raises; a `cuda*` call converts it to the returned status."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class _Thread(threading.local):
    """Per-thread state: the error that `cudaGetLastError` returns."""

    last: cudaError_t = SUCCESS


_thread = _Thread()


def _code_of(error: Exception) -> int:
    """Return the status number of an exception that `value_of` has caught."""
    # An OutOfMemoryError is a CudaError, but has an error number only if the driver reported the error.
    if isinstance(error, MemoryError):
        return MEMORY_ALLOCATION
    if isinstance(error, StatusError | _core.CudaError):
        return int(error.code)
    if isinstance(error, _core.NotSupportedError):
        return NOT_SUPPORTED
    # A RuntimeError means that no backend can be opened, or that the process was forked after a backend was opened.
    return INITIALIZATION_ERROR


def value_of(default: _T, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> tuple[_T, cudaError_t]:
    """Call a function, and return its value and a status; after a device error, return `default` and its status."""
    try:
        return function(*args, **kwargs), SUCCESS
    except RecursionError:
        raise
    except (MemoryError, RuntimeError, StatusError, _core.CudaError) as error:
        status = cudaError_t(_code_of(error))
    _thread.last = status
    return default, status


def status_of(function: Callable[_P, object], *args: _P.args, **kwargs: _P.kwargs) -> cudaError_t:
    """Call a function, and return its status; a device error is stored as the thread's last error."""
    return value_of(None, function, *args, **kwargs)[1]


def _entry(error: cudaError_t | SupportsIndex) -> tuple[str, str]:
    if isinstance(error, nvmlReturn_t):
        raise TypeError("error must be a cudaError_t or an int, not an nvmlReturn_t: NVML's numbers mean other errors")
    # The error table is imported at its first use, because it is large and rarely needed.
    from PyGPU._pybindgpu.error_table import CUDA_ERRORS, HIP_ERRORS, UNRECOGNIZED

    code = operator.index(error)
    # Numbers outside of `HIP_ERRORS` have the same meaning on all backends, so no backend is opened for them.
    if code in HIP_ERRORS and value_of("", _core.backend_name)[0] == "hip":
        return HIP_ERRORS[code]
    return CUDA_ERRORS.get(code, (UNRECOGNIZED, UNRECOGNIZED))


def cudaGetErrorName(error: cudaError_t | SupportsIndex) -> str:
    """Return the runtime's name of an error.

    Parameters
    ----------
    error : cudaError_t or int
        Status, or its number.

    Returns
    -------
    str
        Name such as ``"cudaErrorInvalidValue"``; ``"unrecognized error code"`` for a number that CUDA does not define.
        On the HIP backend, a number that HIP and CUDA use for different errors has HIP's name.

    Raises
    ------
    TypeError
        If `error` is neither a `cudaError_t` nor an integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaGetErrorName(2)
    'cudaErrorMemoryAllocation'
    """
    return _entry(error)[0]


def cudaGetErrorString(error: cudaError_t | SupportsIndex) -> str:
    """Return the runtime's one-line text of an error.

    Parameters
    ----------
    error : cudaError_t or int
        Status, or its number.

    Returns
    -------
    str
        Text such as ``"invalid argument"``; ``"unrecognized error code"`` for a number that CUDA does not define.

    Raises
    ------
    TypeError
        If `error` is neither a `cudaError_t` nor an integer.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.cudaGetErrorString(PyGPU.cudaError_t(1))
    'invalid argument'
    """
    return _entry(error)[1]


def cudaPeekAtLastError() -> cudaError_t:
    """Return the last error of this thread's `cuda*` calls without clearing it.

    Returns
    -------
    cudaError_t
        Success if no `cuda*` call of this thread has failed since the last call of `cudaGetLastError`.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.cudaSetDevice(-1)
    >>> PyGPU.cudaPeekAtLastError() == err, PyGPU.cudaPeekAtLastError() == err
    (True, True)
    >>> err = PyGPU.cudaGetLastError()
    """
    return _thread.last


def cudaGetLastError() -> cudaError_t:
    """Return the last error of this thread's `cuda*` calls and clear it.

    Returns
    -------
    cudaError_t
        Success if no `cuda*` call of this thread has failed since the last call of this function.

    Examples
    --------
    >>> import PyGPU
    >>> err = PyGPU.cudaSetDevice(-1)
    >>> PyGPU.cudaGetLastError() == err
    True
    >>> PyGPU.cudaGetLastError()
    <cudaError: code=0>
    """
    status = _thread.last
    _thread.last = SUCCESS
    return status
