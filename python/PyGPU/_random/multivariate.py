"""Methods of `Generator` that draw from distributions of vectors.

The components of the vectors are drawn one after another, in an order that does not depend on the backend.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.parameters import check, on_host, result_shape, shape_of_size, spread
from PyGPU._random.sampler_methods import SamplerMethods


class Multivariate(SamplerMethods):
    """Methods of `Generator` that draw from distributions of vectors."""

    def _column(self, sampler: str, dtype: Any, shape: tuple[int, ...], *arguments: Any) -> _core.GPUArray:
        """Draw the same component of all vectors; the caller has checked the parameters."""
        result = _core.empty(shape, dtype, device=self.device)
        self._source.sample(result, sampler, *(spread(argument, shape, self.device) for argument in arguments))
        return result

    def dirichlet(self, alpha: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the Dirichlet distribution.

        Parameters
        ----------
        alpha : array_like
            Concentration parameters, above 0; the host waits for a device array.
        size : int or tuple of ints, optional
            Shape of the result without the last axis; defaults to one vector.

        Returns
        -------
        GPUArray
            Vectors of float64 along the last axis, whose sum is 1.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).dirichlet([1, 2, 3], size=4).shape
        (4, 3)
        """
        alpha = on_host(alpha)
        check("dirichlet", alpha)
        alpha = np.asarray(alpha, np.float64)
        shape = shape_of_size(size)
        result = _core.empty((*shape, alpha.size), np.float64, device=self.device)
        if alpha.size and alpha.max() < 0.1:
            self._break_stick(result, alpha)
            return result
        total: Any = None
        for index, parameter in enumerate(alpha):
            part = self._column("standard_gamma", np.float64, shape, float(parameter))
            result[..., index] = part
            total = part if total is None else total + part
        if total is not None:
            result /= total[..., None]
        return result

    def _break_stick(self, result: _core.GPUArray, alpha: Any) -> None:
        """Draw from a Dirichlet distribution with small parameters by the stick-breaking method.

        Each component is a beta-distributed share of the rest.
        """
        shape = result.shape[:-1]
        rests = alpha[::-1].cumsum()[::-1]
        rest: Any = _core.ones(shape, np.float64, device=self.device)
        for index in range(alpha.size - 1):
            share = self._column("beta", np.float64, shape, float(alpha[index]), float(rests[index + 1]))
            result[..., index] = rest * share
            rest = rest * (1.0 - share)
        result[..., alpha.size - 1] = rest

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the multinomial distribution.

        Parameters
        ----------
        n : int or array_like of ints
            Number of experiments.
        pvals : array_like
            Probabilities along the last axis; the host waits for a device array.
        size : int or tuple of ints, optional
            Shape of the result without the last axis; defaults to the broadcast shape of `n` and of `pvals` without its
            last axis.

        Returns
        -------
        GPUArray
            Counts of int64 along the last axis, whose sum is `n`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).multinomial(20, [0.5, 0.5], size=3).sum(-1).tolist()
        [20, 20, 20]
        """
        n, pvals = on_host(n), np.asarray(on_host(pvals))
        batch = np.broadcast_shapes(np.shape(n), pvals.shape[:-1])
        check("multinomial", n, pvals, size=(0, *batch))
        shape = result_shape(size, batch)
        chances = pvals.astype(np.float64)
        counts = _core.empty((*shape, chances.shape[-1]), np.int64, device=self.device)
        left: Any = int(n) if np.ndim(n) == 0 else np.asarray(n, np.int64)
        rest = np.ones(chances.shape[:-1])
        for index in range(chances.shape[-1] - 1):
            with np.errstate(divide="ignore", invalid="ignore"):
                chance = np.where(rest > 0, np.clip(chances[..., index] / rest, 0.0, 1.0), 0.0)
            column = self._column("binomial", np.int64, shape, left, chance)
            counts[..., index] = column
            left = (_core.asarray(left, device=self.device) if isinstance(left, np.ndarray) else left) - column
            rest = rest - chances[..., index]
        counts[..., chances.shape[-1] - 1] = (
            _core.asarray(left, device=self.device) if isinstance(left, np.ndarray) else left
        )
        return counts

    def multivariate_hypergeometric(
        self, colors: Any, nsample: int, size: Any = None, method: str = "marginals"
    ) -> _core.GPUArray:
        """Draw from the multivariate hypergeometric distribution.

        Parameters
        ----------
        colors : sequence of ints
            Number of elements of each color; the host waits for a device array.
        nsample : int
            Number of elements drawn.
        size : int or tuple of ints, optional
            Shape of the result without the last axis; defaults to one vector.
        method : {'marginals', 'count'}, optional
            NumPy's algorithm; it has no effect, because PyGPU has one algorithm.

        Returns
        -------
        GPUArray
            Counts of int64 along the last axis, whose sum is `nsample`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).multivariate_hypergeometric([9, 5, 3], 4, size=2).sum(-1).tolist()
        [4, 4]
        """
        colors = on_host(colors)
        check("multivariate_hypergeometric", colors, nsample, size=(0,), method=method)
        amounts = np.asarray(colors, np.int64)
        shape = shape_of_size(size)
        counts = _core.empty((*shape, amounts.size), np.int64, device=self.device)
        left: Any = int(nsample)
        for index in range(amounts.size - 1):
            others = int(amounts[index + 1 :].sum())
            column = self._column("hypergeometric", np.int64, shape, int(amounts[index]), others, left)
            counts[..., index] = column
            left = left - column
        if amounts.size:
            counts[..., amounts.size - 1] = left
        return counts

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
    ) -> _core.GPUArray:
        """Draw from the multivariate normal distribution.

        Parameters
        ----------
        mean : array_like
            Mean of the drawn vectors; the host waits for a device array.
        cov : array_like
            Covariance matrix, which the host factorizes.
        size : int or tuple of ints, optional
            Shape of the result without the last axis; defaults to one vector.
        check_valid : {'warn', 'raise', 'ignore'}, optional
            Reaction to a matrix that is not positive semidefinite: a warning, an error or no reaction.
        tol : float, optional
            Tolerance of the check that `check_valid` selects.
        method : {'svd', 'eigh', 'cholesky'}, optional
            Factorization of the covariance matrix.

        Returns
        -------
        GPUArray
            Vectors of float64 along the last axis.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).multivariate_normal([0, 1], [[2, 1], [1, 2]], size=3).shape
        (3, 2)
        """
        mean, cov = np.asarray(on_host(mean)), np.asarray(on_host(cov))
        check("multivariate_normal", mean, cov, check_valid=check_valid, tol=tol, method=method)
        factor = _factor(cov.astype(np.float64), method)
        shape = shape_of_size(size)
        normal = self._source.create((*shape, mean.size), np.float64, "normal")
        result = _core.empty((*shape, mean.size), np.float64, device=self.device)
        result[...] = _core.asarray(mean.astype(np.float64), device=self.device)
        columns = _core.asarray(np.ascontiguousarray(factor.T), device=self.device)
        for index in range(mean.size):
            result += normal[..., index : index + 1] * columns[index]
        return result


def _factor(cov: Any, method: str) -> Any:
    """Return a matrix whose product with its own transpose is the given covariance matrix."""
    if method == "cholesky":
        return np.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = np.linalg.eigh(cov)
        return vectors * np.sqrt(np.abs(values))
    vectors, values, _ = np.linalg.svd(cov)
    return vectors * np.sqrt(values)
