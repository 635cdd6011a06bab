"""Decorators that run a test with `numpy` and with `cupy`, and compare the results."""

from __future__ import annotations

import functools
import importlib
import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from PyGPU import _core
from PyGPU._cupy.functions.polynomials import poly1d
from PyGPU._cupy.testing import assertions as own, loops
from PyGPU._testing import assertions

__all__ = [
    "numpy_cupy_allclose", "numpy_cupy_array_almost_equal", "numpy_cupy_array_almost_equal_nulp",
    "numpy_cupy_array_equal", "numpy_cupy_array_less", "numpy_cupy_array_list_equal", "numpy_cupy_array_max_ulp",
    "numpy_cupy_equal", "numpy_cupy_raises",
]  # fmt: skip

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
_Check = Callable[[Any, Any], None]

# If NumPy's error is an instance of one of these classes, CuPy's error must be an instance, too, because programs catch
# these classes.
_ERRORS = (
    AttributeError, Exception, IndexError, TypeError, ValueError, NotImplementedError, DeprecationWarning,
    np.exceptions.AxisError, np.linalg.LinAlgError,
)  # fmt: skip


class _Names(NamedTuple):
    """Names of the parameters by which a test receives `numpy` or `cupy`, and the corresponding SciPy modules."""

    xp: str
    sparse: str | None
    scipy: str | None

    def given(self) -> list[str]:
        return [name for name in self if name is not None]

    def modules(self, is_device: bool) -> dict[str, Any]:
        """Return the modules that a run passes to the test: NumPy's and SciPy's, or `cupy` and its SciPy."""
        homes = ("PyGPU.cupy", None, "PyGPU.cupyx.scipy") if is_device else ("numpy", "scipy.sparse", "scipy")
        if self.sparse is not None and is_device:
            raise NotImplementedError(f"cupy.testing: sp_name={self.sparse!r}: PyGPU has no sparse matrices")
        pairs = zip(self, homes, strict=True)
        return {name: importlib.import_module(home) for name, home in pairs if name is not None and home is not None}


class _Outcome(NamedTuple):
    """Result or exception of one run of a test."""

    result: Any
    error: BaseException | None


def _outcome(test: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _Outcome:
    try:
        return _Outcome(test(*args, **kwargs), None)
    except BaseException as error:
        if not isinstance(error, (Exception, *loops.skip_classes())):
            raise
        if error.__traceback__ is None or error.__traceback__.tb_next is None:
            # The arguments do not match the parameters of the test, so that its body did not run.
            raise
        return _Outcome(None, error)


def _both(test: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], names: _Names) -> list[_Outcome]:
    """Run a test with `cupy` and with `numpy`, and return both outcomes."""
    return [_outcome(test, args, {**kwargs, **names.modules(is_device)}) for is_device in (True, False)]


def _check_errors(device: BaseException | None, host: BaseException | None, accepted: Any) -> None:
    """Raise an error unless both runs raised the same accepted exception or were skipped for the same reason."""
    skipped = loops.skip_classes()
    if isinstance(device, skipped) and isinstance(host, skipped):
        if type(device) is not type(host) or device.args != host.args:
            raise AssertionError(f"the tests with cupy and numpy were skipped differently: {device!r}, {host!r}")
        raise host
    accepted = Exception if accepted is True else accepted or ()
    if device is None and host is None:
        raise AssertionError("neither cupy nor numpy raised an error, and both must")
    if device is None or host is None:
        raised = host if device is None else device
        text = "".join(traceback.format_exception(raised))
        raise AssertionError(f"only {'numpy' if device is None else 'cupy'} raised an error\n\n{text}") from raised
    texts = "\n\n".join(
        f"{name}\n{''.join(traceback.format_exception(error))}" for name, error in (("cupy", device), ("numpy", host))
    )
    if any(isinstance(device, kind) != isinstance(host, kind) for kind in _ERRORS):
        raise AssertionError(f"the types of the errors differ\n\n{texts}") from device
    if not (isinstance(device, accepted) and isinstance(host, accepted)):
        raise AssertionError(f"both raised an error that is not accepted\n\n{texts}") from device


def _pair(device: Any, host: Any) -> tuple[Any, Any]:
    """Convert the results with `cupy` and with `numpy` to arrays or scalars that can be compared."""
    if isinstance(device, _core.GPUArray) and isinstance(host, np.ndarray | np.generic):
        return device, host
    if isinstance(device, np.generic) and isinstance(host, np.generic):
        return device, host
    if isinstance(device, poly1d) and isinstance(host, np.poly1d):
        if device.variable != host.variable:
            raise AssertionError(f"the polynomial of cupy has the variable {device.variable}, of numpy {host.variable}")
        return device.coeffs, host.coeffs
    if np.isscalar(device) and np.isscalar(host):
        return _core.asarray(np.asarray(device)), np.array(host)
    raise AssertionError(f"cupy returned {type(device)} and numpy {type(host)}")


def _check_contiguity(device: Any, host: Any) -> None:
    """Raise an error if the result with `numpy` is contiguous and the result with `cupy` is not."""
    if not isinstance(host, np.ndarray):
        return
    for flag in ("c_contiguous", "f_contiguous"):
        if getattr(host.flags, flag) and not getattr(device.flags, flag):
            raise AssertionError(f"the result of cupy is not {flag}, that of numpy is")


def _is_dtype(value: Any) -> bool:
    return isinstance(value, np.dtype | str) or (isinstance(value, type) and issubclass(value, np.number))


def _mixes_signs(kwargs: dict[str, Any]) -> bool:
    """Return whether a test has unsigned and signed dtypes, so that the test may cast negative to unsigned numbers."""
    dtypes = [value for value in kwargs.values() if _is_dtype(value)]
    return any(dtype in loops.UNSIGNED for dtype in dtypes) and any(
        dtype in loops.FLOATS + loops.SIGNED for dtype in dtypes
    )


def _is_nonnegative(
    test: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], names: _Names
) -> list[np.ndarray[Any, Any]]:
    """Run a test with signed dtypes in place of unsigned ones, and return masks of the non-negative results.

    Only these elements are compared, because the conversion of a negative number to an unsigned dtype is undefined.
    """
    signed = {
        name: np.dtype(np.dtype(value).char.lower()).type if _is_dtype(value) and value in loops.UNSIGNED else value
        for name, value in kwargs.items()
    }
    outcome = _outcome(test, args, {**signed, **names.modules(True)})
    if outcome.error is not None:
        raise outcome.error
    return [np.asarray(assertions.on_host(result)) >= 0 for result in _sequence(outcome.result)]


def _sequence(result: Any) -> Any:
    return result if isinstance(result, tuple | list) else (result,)


def _comparing(
    check: _Check,
    names: _Names,
    type_check: bool = True,
    contiguous_check: bool = False,
    accept_error: Any = False,
) -> _Decorator:
    """Return a decorator that runs a test with `numpy` and with `cupy`, and compares both results by `check`."""

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> None:
            device, host = _both(test, args, kwargs, names)
            if device.error is not None or host.error is not None:
                _check_errors(device.error, host.error, accept_error)
                return
            if device.result is None or host.result is None:
                raise AssertionError("the test returns no result to compare")
            results = _sequence(device.result), _sequence(host.result)
            if len(results[0]) != len(results[1]):
                raise AssertionError(f"cupy returned {len(results[0])} results and numpy {len(results[1])}")
            pairs = [_pair(*pair) for pair in zip(*results, strict=True)]
            for on_device, on_host in pairs:
                if type_check and on_device.dtype != on_host.dtype:
                    raise AssertionError(f"the result of cupy has dtype {on_device.dtype}, of numpy {on_host.dtype}")
                if contiguous_check:
                    _check_contiguity(on_device, on_host)
                if on_device.shape != on_host.shape:
                    raise AssertionError(f"the result of cupy has shape {on_device.shape}, of numpy {on_host.shape}")
            defined: list[Any] = [None] * len(pairs)
            if _mixes_signs(kwargs) and any(on_device.dtype.type in loops.UNSIGNED for on_device, _ in pairs):
                defined = _is_nonnegative(test, args, kwargs, names)
            for (on_device, on_host), mask in zip(pairs, defined, strict=True):
                if mask is None or on_device.dtype.type not in loops.UNSIGNED:
                    check(on_device, on_host)
                elif on_device.shape:
                    check(assertions.on_host(on_device)[mask], on_host[mask])
                elif mask.all():
                    check(on_device, on_host)

        return loops.without_parameters(test, run, *names.given())

    return decorate


def _tolerance(tolerance: Any, dtype: np.dtype[Any]) -> float:
    if not isinstance(tolerance, dict):
        return float(tolerance)
    if dtype.type not in tolerance and "default" not in tolerance:
        raise TypeError(f"numpy_cupy_allclose: no tolerance for {dtype}; add it, or 'default', to {tolerance}")
    value: float = tolerance[dtype.type if dtype.type in tolerance else "default"]
    return value


def numpy_cupy_allclose(
    rtol: Any = 1e-7,
    atol: Any = 0,
    err_msg: str = "",
    verbose: bool = True,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: str | None = None,
    scipy_name: str | None = None,
    contiguous_check: bool = True,
) -> _Decorator:
    """Return a decorator that requires the results of `numpy` and `cupy` to be close, as `numpy.allclose`.

    Parameters
    ----------
    rtol, atol : float or dict, optional
        Relative and absolute tolerance; a dict maps each dtype, and ``'default'``, to a tolerance.
    err_msg : str, optional
        Text that precedes the differences.
    verbose : bool, optional
        Whether the message contains the values.
    name : str, optional
        Parameter of the test that receives the module.
    type_check : bool, optional
        Whether the dtypes of both results must be equal.
    accept_error : bool, type or tuple of types, optional
        Exceptions that both runs may raise; True accepts every exception.
    sp_name, scipy_name : str, optional
        Parameters of the test that receive `scipy.sparse` and `scipy`, or their counterparts.
    contiguous_check : bool, optional
        Whether the result of `cupy` must be contiguous if the result of `numpy` is contiguous.

    Returns
    -------
    function

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.numpy_cupy_allclose(rtol=1e-6)
    ... def test_sum(xp):
    ...     return xp.arange(4).sum()
    >>> test_sum()
    """
    for tolerance in (rtol, atol):
        if isinstance(tolerance, dict) and not type_check:
            raise TypeError("numpy_cupy_allclose: tolerances by dtype need type_check=True")
        for key in tolerance if isinstance(tolerance, dict) else ():
            if type(key) is not type and key != "default":
                raise TypeError(
                    f"numpy_cupy_allclose: {key!r} is neither a dtype's class, as numpy.float32, nor 'default'"
                )

    def check(device: Any, host: Any) -> None:
        tolerances = _tolerance(rtol, device.dtype), _tolerance(atol, device.dtype)
        assertions.assert_allclose(device, host, *tolerances, err_msg=err_msg, verbose=verbose)

    return _comparing(check, _Names(name, sp_name, scipy_name), type_check, contiguous_check, accept_error)


def numpy_cupy_array_almost_equal(
    decimal: float = 6,
    err_msg: str = "",
    verbose: bool = True,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: str | None = None,
    scipy_name: str | None = None,
) -> _Decorator:
    """Return a decorator that requires the results of `numpy` and `cupy` to agree to a number of decimals.

    Parameters
    ----------
    decimal : int, optional
        Number of decimals.
    err_msg, verbose, name, type_check, accept_error, sp_name, scipy_name : object, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """

    def check(device: Any, host: Any) -> None:
        assertions.assert_array_almost_equal(device, host, decimal, err_msg=err_msg, verbose=verbose)

    return _comparing(check, _Names(name, sp_name, scipy_name), type_check, accept_error=accept_error)


def numpy_cupy_array_almost_equal_nulp(
    nulp: float = 1,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: str | None = None,
    scipy_name: str | None = None,
) -> _Decorator:
    """Return a decorator that limits the difference of results of `numpy` and `cupy` to a number of spacings.

    Parameters
    ----------
    nulp : int, optional
        Maximum difference, in spacings between adjacent floating-point numbers.
    name, type_check, accept_error, sp_name, scipy_name : object, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """

    def check(device: Any, host: Any) -> None:
        assertions.assert_array_almost_equal_nulp(device, host, nulp)

    return _comparing(check, _Names(name, sp_name, scipy_name), type_check, accept_error=accept_error)


def numpy_cupy_array_max_ulp(
    maxulp: float = 1,
    dtype: Any = None,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: str | None = None,
    scipy_name: str | None = None,
) -> _Decorator:
    """Return a decorator that limits the difference of results of `numpy` and `cupy` in units in the last place.

    Parameters
    ----------
    maxulp : int, optional
        Maximum difference, in units in the last place.
    dtype : dtype, optional
        Data type to which both results are converted.
    name, type_check, accept_error, sp_name, scipy_name : object, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """

    def check(device: Any, host: Any) -> None:
        assertions.assert_array_max_ulp(device, host, maxulp, dtype)

    return _comparing(check, _Names(name, sp_name, scipy_name), type_check, accept_error=accept_error)


def numpy_cupy_array_equal(
    err_msg: str = "",
    verbose: bool = True,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: str | None = None,
    scipy_name: str | None = None,
    strides_check: bool = False,
) -> _Decorator:
    """Return a decorator that requires equal results of `numpy` and `cupy`.

    Parameters
    ----------
    err_msg, verbose, name, type_check, accept_error, sp_name, scipy_name : object, optional
        As for `numpy_cupy_allclose`.
    strides_check : bool, optional
        Whether the strides of both results must be equal.

    Returns
    -------
    function

    Examples
    --------
    >>> from PyGPU import cupy
    >>> @cupy.testing.for_all_dtypes()
    ... @cupy.testing.numpy_cupy_array_equal()
    ... def test_reversed(xp, dtype):
    ...     return cupy.testing.shaped_arange((3,), xp, dtype)[::-1]
    >>> test_reversed()
    """
    check = functools.partial(own.assert_array_equal, err_msg=err_msg, verbose=verbose, strides_check=strides_check)
    return _comparing(check, _Names(name, sp_name, scipy_name), type_check, accept_error=accept_error)


def numpy_cupy_array_list_equal(
    err_msg: str = "", verbose: bool = True, name: str = "xp", sp_name: str | None = None, scipy_name: str | None = None
) -> _Decorator:
    """Return a decorator that requires `numpy` and `cupy` to return equal lists of arrays; deprecated in CuPy.

    Parameters
    ----------
    err_msg, verbose, name, sp_name, scipy_name : object, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """
    warnings.warn("numpy_cupy_array_list_equal: use numpy_cupy_array_equal", DeprecationWarning, stacklevel=2)
    check = functools.partial(own.assert_array_equal, err_msg=err_msg, verbose=verbose)
    return _comparing(check, _Names(name, sp_name, scipy_name), type_check=False)


def numpy_cupy_array_less(
    err_msg: str = "",
    verbose: bool = True,
    name: str = "xp",
    type_check: bool = True,
    accept_error: Any = False,
    sp_name: str | None = None,
    scipy_name: str | None = None,
) -> _Decorator:
    """Return a decorator that requires each element of `cupy`'s result to be less than the element of `numpy`'s result.

    Parameters
    ----------
    err_msg, verbose, name, type_check, accept_error, sp_name, scipy_name : object, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """
    check = functools.partial(assertions.assert_array_less, err_msg=err_msg, verbose=verbose)
    return _comparing(check, _Names(name, sp_name, scipy_name), type_check, accept_error=accept_error)


def numpy_cupy_equal(name: str = "xp", sp_name: str | None = None, scipy_name: str | None = None) -> _Decorator:
    """Return a decorator that runs a test with `numpy` and with `cupy` and requires equal results.

    Parameters
    ----------
    name, sp_name, scipy_name : str, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """
    names = _Names(name, sp_name, scipy_name)

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> None:
            device, host = _both(test, args, kwargs, names)
            if device.error is not None or host.error is not None:
                _check_errors(device.error, host.error, accepted=False)
            elif device.result != host.result:
                raise AssertionError(f"cupy returned {device.result}, numpy {host.result}")

        return loops.without_parameters(test, run, *names.given())

    return decorate


def numpy_cupy_raises(
    name: str = "xp", sp_name: str | None = None, scipy_name: str | None = None, accept_error: Any = Exception
) -> _Decorator:
    """Return a decorator that requires a test to raise an error with `numpy` and with `cupy`; deprecated in CuPy.

    Parameters
    ----------
    name, sp_name, scipy_name, accept_error : object, optional
        As for `numpy_cupy_allclose`.

    Returns
    -------
    function
    """
    warnings.warn("numpy_cupy_raises: use pytest.raises", DeprecationWarning, stacklevel=2)
    names = _Names(name, sp_name, scipy_name)

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> None:
            device, host = _both(test, args, kwargs, names)
            _check_errors(device.error, host.error, accept_error)

        return loops.without_parameters(test, run, *names.given())

    return decorate
