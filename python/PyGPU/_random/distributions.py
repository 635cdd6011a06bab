"""Methods of `Generator` that draw uniform, normal, exponential and gamma-distributed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._arguments.argument_errors import output_error
from PyGPU._random.continuous import Continuous
from PyGPU._random.discrete import Discrete
from PyGPU._random.multivariate import Multivariate
from PyGPU._random.parameters import as_float64, check, is_scalar, prepared, shape_of_size

_NUMBERS = (int, float)


class Distributions(Continuous, Discrete, Multivariate):
    """Methods of `Generator` that draw uniform, normal, exponential and gamma-distributed numbers."""

    @staticmethod
    def _check_out(out: Any, size: Any, dtype: Any) -> _core.GPUArray:
        if not isinstance(out, _core.GPUArray):
            raise output_error(out)
        if out.dtype != dtype:
            raise TypeError(f"Supplied output array has the wrong type. Expected {np.dtype(dtype)}, got {out.dtype}")
        if size is not None and out.shape != shape_of_size(size):
            raise ValueError("size must match out.shape when used together")
        return out

    def _standard(
        self, name: str, distribution: str, size: Any, dtype: Any, out: _core.GPUArray | None
    ) -> _core.GPUArray:
        if out is None:
            return self._source.create(size, dtype, distribution)
        target = self._check_out(out, size, dtype)
        self._source.draw(target, distribution)
        return target

    def _scaled(
        self, name: str, distribution: str, size: Any, checked: tuple[Any, ...], scale: tuple[Any, Any]
    ) -> _core.GPUArray:
        """Draw from a distribution with location and scale, which may be arrays."""
        location, width = scale
        if type(location) in _NUMBERS and type(width) in _NUMBERS and 0 < width < np.inf:
            # A finite positive scale is valid for each distribution that calls this method, so no check is needed.
            return self._source.create(size, np.float64, distribution, scale=(float(location), float(width)))
        shape, _ = prepared(name, checked, size, self.device) if _any_array(checked) else (size, check(name, *checked))
        if is_scalar(location) and is_scalar(width):
            return self._source.create(shape, np.float64, distribution, scale=(float(location), float(width)))
        drawn = self._source.create(shape, np.float64, distribution)
        for parameter, function in ((width, _core.multiply), (location, _core.add)):
            values = float(parameter) if is_scalar(parameter) else as_float64(parameter)
            if isinstance(values, np.ndarray):
                values = _core.asarray(values, device=self.device)
            function(drawn, values, out=drawn)
        return drawn

    def random(self, size: Any = None, dtype: Any = np.float64, out: _core.GPUArray | None = None) -> _core.GPUArray:
        """Draw uniform numbers in [0, 1), which are bitwise equal to NumPy's.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.
        dtype : data-type, optional
            float64 or float32.
        out : GPUArray, optional
            Output array.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).random((2, 3)).shape
        (2, 3)
        """
        return self._standard("random", "uniform", size, dtype, out)

    def standard_normal(
        self, size: Any = None, dtype: Any = np.float64, out: _core.GPUArray | None = None
    ) -> _core.GPUArray:
        """Draw standard normal numbers by the Box-Muller method.

        Parameters
        ----------
        size, dtype, out : optional
            As in `random`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).standard_normal(4, dtype="float32").dtype
        dtype('float32')
        """
        return self._standard("standard_normal", "normal", size, dtype, out)

    def standard_exponential(
        self,
        size: Any = None,
        dtype: Any = np.float64,
        method: str = "zig",
        out: _core.GPUArray | None = None,
    ) -> _core.GPUArray:
        """Draw exponentially distributed numbers of mean 1, as the negative logarithm of uniform numbers.

        Parameters
        ----------
        size, dtype, out : optional
            As in `random`.
        method : {'zig', 'inv'}, optional
            Accepted for compatibility with NumPy.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).standard_exponential(9) >= 0).all())
        True
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"method is 'zig' or 'inv', not {method!r}")
        return self._standard("standard_exponential", "exponential", size, dtype, out)

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = np.float64, out: _core.GPUArray | None = None
    ) -> _core.GPUArray:
        """Draw from the gamma distribution with scale 1.

        Parameters
        ----------
        shape : number or array_like
            Shape parameter, 0 or more.
        size, dtype, out : optional
            As in `random`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).standard_gamma([0.5, 2.0], dtype="float32").shape
        (2,)
        """
        check("standard_gamma", 1.0, dtype=dtype)
        if out is not None:
            size = self._check_out(out, size, dtype).shape
        result_shape, parameters = prepared("standard_gamma", (shape,), size, self.device)
        result = _core.empty(result_shape, dtype, device=self.device) if out is None else out
        self._source.sample(result, "standard_gamma", *parameters)
        return result

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw uniform numbers from `low` (inclusive) to `high` (exclusive).

        Parameters
        ----------
        low, high : number or array_like, optional
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of `low` and `high`.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).uniform(-1, 1, 9) < 1).all())
        True
        """
        if type(low) in _NUMBERS and type(high) in _NUMBERS:
            return self._scaled("uniform", "uniform", size, (low, high), (float(low), float(high) - float(low)))
        bounds = [as_float64(bound) for bound in (low, high)]
        with np.errstate(all="ignore"):
            width = bounds[1] - bounds[0]
        return self._scaled("uniform", "uniform", size, (low, high), (bounds[0], width))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw normally distributed numbers.

        Parameters
        ----------
        loc, scale : number or array_like, optional
            Mean and standard deviation.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of `loc` and `scale`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).normal(10, 2, size=(2, 2)).shape
        (2, 2)
        """
        return self._scaled("normal", "normal", size, (loc, scale), (loc, scale))

    def exponential(self, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw exponentially distributed numbers.

        Parameters
        ----------
        scale : number or array_like, optional
            Mean of the distribution.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the shape of `scale`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).exponential(2.0, 5).size
        5
        """
        return self._scaled("exponential", "exponential", size, (scale,), (0.0, scale))


def _any_array(arguments: tuple[Any, ...]) -> bool:
    return not all(is_scalar(argument) for argument in arguments)
