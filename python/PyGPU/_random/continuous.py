"""Methods of `Generator` that draw from continuous distributions."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.sampler_methods import SamplerMethods


class Continuous(SamplerMethods):
    """Methods of `Generator` that draw from continuous distributions.

    No two numbers are computed from the same words of the random stream.
    """

    def standard_cauchy(self, size: Any = None) -> _core.GPUArray:
        """Draw from the standard Cauchy distribution.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).standard_cauchy(size=3).shape
        (3,)
        """
        return self._sampled("standard_cauchy", (), size, np.float64)

    def standard_t(self, df: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the Student's t distribution.

        Parameters
        ----------
        df : number or array_like
            Number of degrees of freedom, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).standard_t(5, size=3).shape
        (3,)
        """
        return self._sampled("standard_t", (df,), size, np.float64)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the gamma distribution.

        Parameters
        ----------
        shape : number or array_like
            Shape parameter, 0 or more.
        scale : number or array_like, optional
            Scale parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).gamma(2.0, size=3).shape
        (3,)
        """
        return self._sampled("gamma", (shape, scale), size, np.float64)

    def beta(self, a: Any, b: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the beta distribution.

        Parameters
        ----------
        a : number or array_like
            Shape parameter alpha, above 0.
        b : number or array_like
            Shape parameter beta, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).beta(2, 3, size=3).shape
        (3,)
        """
        return self._sampled("beta", (a, b), size, np.float64)

    def chisquare(self, df: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the chi-square distribution.

        Parameters
        ----------
        df : number or array_like
            Number of degrees of freedom, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).chisquare(3, size=3).shape
        (3,)
        """
        return self._sampled("chisquare", (df,), size, np.float64)

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the F distribution.

        Parameters
        ----------
        dfnum : number or array_like
            Number of degrees of freedom in the numerator, above 0.
        dfden : number or array_like
            Number of degrees of freedom in the denominator, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).f(2, 9, size=3).shape
        (3,)
        """
        return self._sampled("f", (dfnum, dfden), size, np.float64)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the noncentral chi-square distribution.

        Parameters
        ----------
        df : number or array_like
            Number of degrees of freedom, above 0.
        nonc : number or array_like
            Noncentrality parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).noncentral_chisquare(3, 1.5, size=3).shape
        (3,)
        """
        return self._sampled("noncentral_chisquare", (df, nonc), size, np.float64)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the noncentral F distribution.

        Parameters
        ----------
        dfnum : number or array_like
            Number of degrees of freedom in the numerator, above 0.
        dfden : number or array_like
            Number of degrees of freedom in the denominator, above 0.
        nonc : number or array_like
            Noncentrality parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).noncentral_f(2, 9, 1.5, size=3).shape
        (3,)
        """
        return self._sampled("noncentral_f", (dfnum, dfden, nonc), size, np.float64)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the Gumbel distribution.

        Parameters
        ----------
        loc : number or array_like, optional
            Mode of the distribution.
        scale : number or array_like, optional
            Scale parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).gumbel(size=3).shape
        (3,)
        """
        return self._sampled("gumbel", (loc, scale), size, np.float64)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the Laplace distribution.

        Parameters
        ----------
        loc : number or array_like, optional
            Position of the distribution's peak.
        scale : number or array_like, optional
            Scale parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).laplace(size=3).shape
        (3,)
        """
        return self._sampled("laplace", (loc, scale), size, np.float64)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the logistic distribution.

        Parameters
        ----------
        loc : number or array_like, optional
            Mean.
        scale : number or array_like, optional
            Scale parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).logistic(size=3).shape
        (3,)
        """
        return self._sampled("logistic", (loc, scale), size, np.float64)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the log-normal distribution.

        Parameters
        ----------
        mean : number or array_like, optional
            Mean of the numbers' logarithm.
        sigma : number or array_like, optional
            Standard deviation of the numbers' logarithm, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).lognormal(size=3).shape
        (3,)
        """
        return self._sampled("lognormal", (mean, sigma), size, np.float64)

    def pareto(self, a: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the Pareto II distribution.

        Parameters
        ----------
        a : number or array_like
            Shape parameter, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).pareto(3, size=3).shape
        (3,)
        """
        return self._sampled("pareto", (a,), size, np.float64)

    def power(self, a: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the power distribution on [0, 1] with exponent `a - 1`.

        Parameters
        ----------
        a : number or array_like
            Exponent plus 1, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).power(3, size=3).shape
        (3,)
        """
        return self._sampled("power", (a,), size, np.float64, "power_distribution")

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from the Rayleigh distribution.

        Parameters
        ----------
        scale : number or array_like, optional
            Mode of the distribution, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).rayleigh(size=3).shape
        (3,)
        """
        return self._sampled("rayleigh", (scale,), size, np.float64)

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the triangular distribution.

        Parameters
        ----------
        left : number or array_like
            Lower limit of the numbers.
        mode : number or array_like
            Position of the distribution's peak.
        right : number or array_like
            Upper limit of the numbers, above `left`.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).triangular(-1, 0, 1, size=3).shape
        (3,)
        """
        return self._sampled("triangular", (left, mode, right), size, np.float64)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the von Mises distribution on [-pi, pi].

        Parameters
        ----------
        mu : number or array_like
            Mode of the distribution, an angle in radians.
        kappa : number or array_like
            Concentration parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).vonmises(0, 2, size=3).shape
        (3,)
        """
        return self._sampled("vonmises", (mu, kappa), size, np.float64)

    def wald(self, mean: Any, scale: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the Wald (inverse Gaussian) distribution.

        Parameters
        ----------
        mean : number or array_like
            Mean of the distribution, above 0.
        scale : number or array_like
            Scale parameter, above 0.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).wald(1, 2, size=3).shape
        (3,)
        """
        return self._sampled("wald", (mean, scale), size, np.float64)

    def weibull(self, a: Any, size: Any = None) -> _core.GPUArray:
        """Draw from the Weibull distribution.

        Parameters
        ----------
        a : number or array_like
            Shape parameter, 0 or more.
        size : int or tuple of ints, optional
            Shape of the result; defaults to the broadcast shape of the other parameters.

        Returns
        -------
        GPUArray
            Array of float64.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).weibull(1.5, size=3).shape
        (3,)
        """
        return self._sampled("weibull", (a,), size, np.float64)
