"""Methods of a generator for floating-point distributions and counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.draws import Source


def is_scalar(argument: Any) -> bool:
    """Test whether the argument is a single number instead of an array."""
    return type(argument) in (int, float) or (not isinstance(argument, _core.GPUArray) and np.ndim(argument) == 0)


class Distributions:
    """Methods of a generator that draw from a distribution."""

    _source: Source

    @property
    def device(self) -> _core.Device:
        """Device of new arrays."""
        return self._source.device

    def _wrap(self, values: Any) -> _core.GPUArray:
        return _core.asarray(np.asarray(values), device=self.device, copy=False)

    @staticmethod
    def _check_out(out: Any, size: Any, dtype: Any) -> _core.GPUArray:
        if not isinstance(out, _core.GPUArray):
            raise TypeError(f"out is no GPUArray but a {type(out).__name__}")
        if out.dtype != dtype:
            raise TypeError(f"Supplied output array has the wrong type. Expected {np.dtype(dtype)}, got {out.dtype}")
        if size is not None and out.shape != np.broadcast_shapes(size):
            raise ValueError("size must match out.shape when used together")
        return out

    def _standard(
        self,
        name: str,
        distribution: str,
        size: Any,
        dtype: Any,
        out: _core.GPUArray | None,
    ) -> _core.GPUArray:
        host_generator = self._source.numpy_generator()
        if out is None:
            return (
                self._source.create(size, dtype, distribution)
                if host_generator is None
                else self._wrap(getattr(host_generator, name)(size, dtype))
            )
        target = self._check_out(out, size, dtype)
        if host_generator is None:
            self._source.draw(target, distribution)
        else:
            target[...] = getattr(host_generator, name)(target.shape, dtype)
        return target

    def _scaled(self, name: str, distribution: str, size: Any, parameters: tuple[Any, Any]) -> _core.GPUArray:
        """Draw from a distribution with location and scale, which may be arrays."""
        location, width = parameters
        if is_scalar(location) and is_scalar(width):
            return self._source.create(size, np.float64, distribution, scale=(float(location), float(width)))
        arrays = [
            parameter if isinstance(parameter, _core.GPUArray) else _core.asarray(parameter, device=self.device)
            for parameter in parameters
        ]
        shape = np.broadcast_shapes(arrays[0].shape, arrays[1].shape) if size is None else size
        drawn = self._source.create(shape, np.float64, distribution)
        drawn *= arrays[1]
        drawn += arrays[0]
        return drawn

    def random(self, size: Any = None, dtype: Any = np.float64, out: _core.GPUArray | None = None) -> _core.GPUArray:
        """Draw uniform numbers in [0, 1), with NumPy's bits.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape; defaults to a result without axes.
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
        """Draw exponentially distributed numbers of mean 1, by the logarithm.

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

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw uniform numbers from `low` (inclusive) to `high` (exclusive).

        Parameters
        ----------
        low, high : number or array_like, optional
        size : int or tuple of ints, optional
            The shape; by default that of `low` and `high`.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).uniform(-1, 1, 9) < 1).all())
        True
        """
        if (numpy_result := self._by_numpy("uniform", (low, high), size)) is not None:
            return numpy_result
        if is_scalar(low) and is_scalar(high) and not np.isfinite(float(high) - float(low)):
            raise OverflowError("high - low range exceeds valid bounds")
        width = high - low if is_scalar(low) == is_scalar(high) else np.subtract(high, low)
        return self._scaled("uniform", "uniform", size, (low, width))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw normally distributed numbers.

        Parameters
        ----------
        loc, scale : number or array_like, optional
            Mean and standard deviation.
        size : int or tuple of ints, optional
            The shape; by default that of `loc` and `scale`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).normal(10, 2, size=(2, 2)).shape
        (2, 2)
        """
        if (numpy_result := self._by_numpy("normal", (loc, scale), size)) is not None:
            return numpy_result
        if is_scalar(scale) and scale < 0:
            raise ValueError("scale < 0")
        return self._scaled("normal", "normal", size, (loc, scale))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw log-normally distributed numbers.

        Parameters
        ----------
        mean, sigma : number or array_like, optional
            Mean and standard deviation of the logarithm.
        size : int or tuple of ints, optional
            The shape; by default that of `mean` and `sigma`.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).lognormal(0, 1, 9) > 0).all())
        True
        """
        if (numpy_result := self._by_numpy("lognormal", (mean, sigma), size)) is not None:
            return numpy_result
        if is_scalar(sigma) and sigma < 0:
            raise ValueError("sigma < 0")
        drawn = self._scaled("normal", "normal", size, (mean, sigma))
        _core.exp(drawn, out=drawn)
        return drawn

    def exponential(self, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw exponentially distributed numbers.

        Parameters
        ----------
        scale : number or array_like, optional
            The mean.
        size : int or tuple of ints, optional
            The shape; by default that of `scale`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).exponential(2.0, 5).size
        5
        """
        if (numpy_result := self._by_numpy("exponential", (scale,), size)) is not None:
            return numpy_result
        if is_scalar(scale) and scale < 0:
            raise ValueError("scale < 0")
        return self._scaled("exponential", "exponential", size, (0.0, scale))

    def poisson(self, lam: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw Poisson-distributed counts with mean `lam`: 64-bit integers.

        Parameters
        ----------
        lam : number or array_like, optional
            The mean.
        size : int or tuple of ints, optional
            The shape; by default that of `lam`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).poisson(3.5, 5).dtype
        dtype('int64')
        """
        if (numpy_result := self._by_numpy("poisson", (lam,), size)) is not None:
            return numpy_result
        if is_scalar(lam):
            if not lam >= 0:
                raise ValueError("lam < 0 or lam is NaN")
            return self._source.create(size, np.int64, "poisson", scale=(float(lam), 0.0))
        lam_array = lam if isinstance(lam, _core.GPUArray) else _core.asarray(lam, device=self.device)
        means = _core.empty(lam_array.shape if size is None else size, np.float64, device=self.device)
        means[...] = lam_array
        self._source.draw(means, "poisson", means=means)
        return means.astype(np.int64)

    def _by_numpy(self, name: str, parameters: tuple[Any, ...], size: Any) -> _core.GPUArray | None:
        host_generator = self._source.numpy_generator()
        if host_generator is None:
            return None
        host_parameters = [
            parameter.get() if isinstance(parameter, _core.GPUArray) else parameter for parameter in parameters
        ]
        return self._wrap(getattr(host_generator, name)(*host_parameters, size))
