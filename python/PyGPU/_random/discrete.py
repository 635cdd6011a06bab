"""Methods of `Generator` that draw from discrete distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.sampler_methods import SamplerMethods


class Discrete(SamplerMethods):
    """Methods of `Generator` that draw from discrete distributions.

    No two numbers are computed from the same words of the random stream.
    """

    def binomial(self, n: Any, p: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the binomial distribution.

        Parameters
        ----------
        n : number or array_like
            Number of trials, 0 or more.
        p : number or array_like
            Probability of a success.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).binomial(10, 0.5, size=3).shape
        (3,)
        """
        return self._sampled("binomial", (n, p), size, np.int64)

    def geometric(self, p: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the geometric distribution.

        Parameters
        ----------
        p : number or array_like
            Probability of a success, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).geometric(0.2, size=3).shape
        (3,)
        """
        return self._sampled("geometric", (p,), size, np.int64)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the hypergeometric distribution.

        Parameters
        ----------
        ngood : number or array_like
            Number of good elements in the population.
        nbad : number or array_like
            Number of bad elements in the population.
        nsample : number or array_like
            Number of elements in each sample.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).hypergeometric(9, 5, 4, size=3).shape
        (3,)
        """
        return self._sampled("hypergeometric", (ngood, nbad, nsample), size, np.int64)

    def logseries(self, p: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the logarithmic series distribution.

        Parameters
        ----------
        p : number or array_like
            Shape parameter, from 0 to below 1.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).logseries(0.5, size=3).shape
        (3,)
        """
        return self._sampled("logseries", (p,), size, np.int64)

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the negative binomial distribution.

        Parameters
        ----------
        n : number or array_like
            Number of successes, above 0.
        p : number or array_like
            Probability of a success, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).negative_binomial(3, 0.5, size=3).shape
        (3,)
        """
        return self._sampled("negative_binomial", (n, p), size, np.int64)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the Poisson distribution.

        Parameters
        ----------
        lam : number or array_like, optional
            Mean of the distribution, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).poisson(size=3).shape
        (3,)
        """
        return self._sampled("poisson", (lam,), size, np.int64)

    def zipf(self, a: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the Zipf distribution.

        Parameters
        ----------
        a : number or array_like
            Exponent of the distribution, above 1.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of int64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).zipf(2.5, size=3).shape
        (3,)
        """
        return self._sampled("zipf", (a,), size, np.int64)
