"""CuPy's class of polynomials, `poly1d`, and the functions that accept its objects."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.public_lookup import own

__all__ = ["poly1d", "polyadd", "polymul", "polysub", "polyval", "roots"]


def _coefficients(operand: Any) -> Any:
    return operand.coeffs if isinstance(operand, poly1d) else operand


def _is_number(operand: object) -> bool:
    return bool(np.isscalar(operand))


class poly1d:
    """Polynomial with coefficients in a device array, highest power first.

    Parameters
    ----------
    c_or_r : array_like, poly1d or numpy.poly1d
        Coefficients; leading zeros are dropped.
    r : bool, optional
        Whether `c_or_r` contains the roots instead of the coefficients.
    variable : str, optional
        Name of the variable when the polynomial is printed; defaults to ``x``.

    Examples
    --------
    >>> from PyGPU import cupy
    >>> p = cupy.poly1d([1, 2, 3])
    >>> print(p)
       2
    1 x + 2 x + 3
    >>> int(p(2)), p.order
    (11, 2)
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d | np.poly1d):
            self._variable = c_or_r.variable if variable is None else variable
            self._coefficients = _core.asarray(c_or_r.coeffs)
            return
        values = own("poly")(c_or_r) if r else own("atleast_1d")(_core.asarray(c_or_r))
        if values.ndim > 1:
            raise ValueError(f"poly1d: the coefficients have one axis, not {values.ndim}")
        values = own("trim_zeros")(values, "f")
        self._coefficients = values if values.size else _core.zeros(1, values.dtype)
        self._variable = "x" if variable is None else variable

    @property
    def coeffs(self) -> _core.GPUArray:
        """Coefficients of the polynomial, highest power first."""
        return self._coefficients

    c = coef = coefficients = coeffs

    @property
    def variable(self) -> str:
        """Name of the variable."""
        return self._variable

    @property
    def order(self) -> int:
        """Highest power of the polynomial."""
        return self._coefficients.size - 1

    o = order

    @property
    def roots(self) -> _core.GPUArray:
        """Roots of the polynomial, in no specified order."""
        return roots(self._coefficients)

    r = roots

    def get(self, stream: Any = None, out: np.poly1d | None = None) -> np.poly1d:
        """Return the polynomial as a `numpy.poly1d`.

        Parameters
        ----------
        stream : Stream, optional
            Stream on which the coefficients are copied.
        out : numpy.poly1d, optional
            Polynomial that receives the coefficients.

        Examples
        --------
        >>> from PyGPU import cupy
        >>> cupy.poly1d([1, 2]).get()
        poly1d([1, 2])
        """
        values = self._coefficients.get(stream=stream)
        if out is None:
            return np.poly1d(values, variable=self._variable)
        out.coeffs[...] = values
        return out

    def set(self, polyin: np.poly1d, stream: Any = None) -> None:
        """Replace coefficients and variable by the coefficients and variable of a `numpy.poly1d`.

        Parameters
        ----------
        polyin : numpy.poly1d
            Polynomial in host memory.
        stream : Stream, optional
            Stream on which the coefficients are copied.

        Examples
        --------
        >>> import numpy as np
        >>> from PyGPU import cupy
        >>> p = cupy.poly1d([1, 2])
        >>> p.set(np.poly1d([3, 4]))
        >>> p.coeffs.tolist()
        [3, 4]
        """
        if not isinstance(polyin, np.poly1d):
            raise TypeError(f"poly1d.set takes a numpy.poly1d, not {type(polyin).__name__}")
        self._coefficients, self._variable = _core.asarray(polyin.coeffs), polyin.variable

    def deriv(self, m: int = 1) -> poly1d:
        """Return a derivative of the polynomial.

        Parameters
        ----------
        m : int, optional
            Order of the derivative.

        Examples
        --------
        >>> from PyGPU import cupy
        >>> cupy.poly1d([1, 2, 3]).deriv().coeffs.tolist()
        [2, 2]
        """
        return poly1d(own("polyder")(self._coefficients, m), variable=self._variable)

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """Return an antiderivative of the polynomial.

        Parameters
        ----------
        m : int, optional
            Number of integrations.
        k : float or sequence of floats, optional
            Constants of integration, one for each integration.

        Examples
        --------
        >>> from PyGPU import cupy
        >>> cupy.poly1d([2, 2]).integ().coeffs.tolist()
        [1.0, 2.0, 0.0]
        """
        return poly1d(own("polyint")(self._coefficients, m, k), variable=self._variable)

    def __call__(self, value: Any) -> Any:
        return polyval(self, value)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Any]:
        return iter(self._coefficients)

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __getitem__(self, power: int) -> Any:
        if not 0 <= power <= self.order:
            return self._coefficients.dtype.type(0)
        return self._coefficients[self.order - power]

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError(f"poly1d: the power {power} is negative; powers are 0 and above")
        if power > self.order:
            zeros = _core.zeros(power - self.order, self._coefficients.dtype)
            self._coefficients = own("concatenate")([zeros, self._coefficients])
        self._coefficients[self.order - power] = value

    def __pos__(self) -> poly1d:
        return self

    def __neg__(self) -> poly1d:
        return poly1d(-self._coefficients)

    def __add__(self, other: Any) -> Any:
        return polyadd(self, other)

    def __radd__(self, other: Any) -> Any:
        if isinstance(other, _core.GPUArray):
            return other + self._coefficients  # as in NumPy, the result of `array + polynomial` is an array
        return polyadd(other, self)

    def __sub__(self, other: Any) -> Any:
        return polysub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return other - self._coefficients if isinstance(other, _core.GPUArray) else polysub(other, self)

    def __mul__(self, other: Any) -> Any:
        return poly1d(self._coefficients * other) if _is_number(other) else polymul(self, other)

    def __rmul__(self, other: Any) -> Any:
        if isinstance(other, _core.GPUArray):
            return other * self._coefficients
        return poly1d(other * self._coefficients) if _is_number(other) else polymul(other, self)

    def __truediv__(self, other: Any) -> Any:
        if _is_number(other):
            return poly1d(self._coefficients / other)
        return tuple(poly1d(part) for part in own("polydiv")(self._coefficients, _coefficients(other)))

    def __pow__(self, exponent: Any) -> poly1d:
        if not _is_number(exponent) or int(exponent) != exponent or exponent < 0:
            raise ValueError(f"poly1d: the exponent {exponent!r} is not an integer of 0 or above")
        result = poly1d(_core.ones(1, np.int64))
        for _ in range(exponent):
            result = polymul(result, self)
        return result

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self.coeffs.shape == other.coeffs.shape and bool((self.coeffs == other.coeffs).all())

    def __ne__(self, other: object) -> Any:
        return not self == other if isinstance(other, poly1d) else NotImplemented

    # The DLPack methods let `cupy.asarray` read the coefficients.
    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._coefficients.__dlpack__(**kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._coefficients.__dlpack_device__()


def _combining(name: str) -> Callable[[Any, Any], Any]:
    """Wrap `PyGPU.polyadd`, `polysub` or `polymul` so that it also accepts and returns `poly1d` objects."""

    def combine(a1: Any, a2: Any) -> Any:
        result = own(name)(_array_of(name, a1), _array_of(name, a2))
        return poly1d(result) if isinstance(a1, poly1d) or isinstance(a2, poly1d) else result

    combine.__name__ = combine.__qualname__ = name
    combine.__doc__ = f"Combine two polynomials, as `PyGPU.{name}`; the result is a `poly1d` if either operand is one."
    return combine


def _array_of(name: str, operand: Any) -> Any:
    values = _coefficients(operand)
    if isinstance(values, _core.GPUArray) and values.ndim > 1:
        raise ValueError(f"{name}: the coefficients have one axis, not {values.ndim}")
    return values if isinstance(values, _core.GPUArray) else _core.asarray(values)


polyadd, polysub, polymul = map(_combining, ("polyadd", "polysub", "polymul"))


def polyval(p: Any, x: Any) -> Any:
    """Compute the values of a polynomial at `x`; if `x` is a `poly1d`, compose the polynomials.

    Parameters
    ----------
    p : array_like or poly1d
        Coefficients of the polynomial, highest power first.
    x : array_like or poly1d
        Numbers, or a polynomial.

    Returns
    -------
    GPUArray or poly1d

    Examples
    --------
    >>> from PyGPU import cupy
    >>> cupy.polyval(cupy.poly1d([1, 0]), cupy.arange(3)).tolist()
    [0, 1, 2]
    """
    coefficients = _coefficients(p)
    if np.isscalar(coefficients) or getattr(coefficients, "ndim", 1) == 0:
        raise TypeError(f"polyval: the coefficients have one axis, and {p!r} has none")
    if getattr(coefficients, "ndim", 1) > 1:
        raise ValueError(f"polyval: the coefficients have one axis, not {coefficients.ndim}")
    if not isinstance(x, poly1d):
        return own("polyval")(coefficients, _core.asarray(x))
    steps = (coefficients[index : index + 1] for index in range(coefficients.size))
    return functools.reduce(lambda total, coefficient: total * x + coefficient, steps, poly1d([0]))


def roots(p: Any) -> _core.GPUArray:
    """Compute the roots of a polynomial. The host waits for the roots, because real roots are returned as real numbers.

    Parameters
    ----------
    p : array_like or poly1d
        Coefficients of the polynomial, highest power first.

    Returns
    -------
    GPUArray

    Examples
    --------
    >>> from PyGPU import cupy
    >>> sorted(cupy.roots(cupy.poly1d([1, -3, 2])).tolist())
    [1.0, 2.0]
    """
    result: _core.GPUArray = own("roots")(_coefficients(p))
    is_real = result.dtype.kind == "c" and not own("iscomplexobj")(_coefficients(p))
    is_real = is_real and bool((result.imag == 0).all())
    return result.real.copy() if is_real else result
