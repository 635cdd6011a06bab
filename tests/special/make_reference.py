"""Write tests/special/reference.json: exact values of special functions by mpmath, and SciPy's limits.

    python tests/special/make_reference.py

The script requires mpmath and SciPy. A row contains the operands and the value of a function at one point. The rows of
`exact` have values that mpmath computes with 50 digits. The rows of `limits` have SciPy's values at infinities, NaN,
zeros, poles and points outside of the domain.
"""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

TARGET = Path(__file__).parent / "reference.json"
COUNT = 24
Range = tuple[str, float, float]
LIMITS = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 5e-324, 1e-310, 1e300, -1e300, -2.0, 3.0]
WIDE: Range = ("both", 1e-8, 1e2)


def ndtr(x: Any) -> Any:
    """Return the area under the normal density.

    The function does not use erf alone, because that would lose digits by cancellation.
    """
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def inverse(function: Callable[[Any], Any], low: float, high: float) -> Callable[[Any], Any]:
    """Return the inverse of a monotonic function, computed by bisection and Newton's method."""

    def value(y: Any) -> Any:
        a, b = mpf(low), mpf(high)
        is_rising = function(b) > function(a)
        for _ in range(240):
            middle = (a + b) / 2 if a <= 0 or b / a < 4 else mpmath.sqrt(a * b)
            if (function(middle) < y) == is_rising:
                a = middle
            else:
                b = middle
        return (a + b) / 2

    return value


def gammainc(a: Any, x: Any) -> Any:
    """Return the regularized lower incomplete gamma function."""
    return mpmath.gammainc(a, 0, x, regularized=True)


def gammaincc(a: Any, x: Any) -> Any:
    """Return the regularized upper incomplete gamma function."""
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def betainc(a: Any, b: Any, x: Any) -> Any:
    """Return the regularized incomplete beta function."""
    return mpmath.betainc(a, b, 0, x, regularized=True)


def betaincc(a: Any, b: Any, x: Any) -> Any:
    """Return the complement of the incomplete beta function."""
    return mpmath.betainc(b, a, 0, 1 - x, regularized=True)


def boxcox(x: Any, power: Any) -> Any:
    """Return the Box-Cox transformation."""
    return mpmath.expm1(power * mpmath.log(x)) / power if power else mpmath.log(x)


def inv_boxcox1p(y: Any, power: Any) -> Any:
    """Return the inverse of the Box-Cox transformation of 1 + x."""
    return mpmath.expm1(mpmath.log1p(y * power) / power) if power else mpmath.expm1(y)


def stdtr(df: Any, t: Any) -> Any:
    """Return the distribution function of Student's t."""
    tail = betainc(df / 2, mpf(1) / 2, df / (df + t * t)) / 2
    return 1 - tail if t > 0 else tail


def kolmogorov(y: Any) -> Any:
    """Return the survival function of Kolmogorov's distribution."""
    return 1 - mpmath.sqrt(2 * mp.pi) / y * mpmath.nsum(
        lambda k: mpmath.exp(-((2 * k - 1) ** 2) * mp.pi**2 / (8 * y * y)), [1, 60]
    )


def smirnov(n: Any, d: Any) -> Any:
    """Return the survival function of the one-sided Kolmogorov-Smirnov statistic."""
    terms = (
        mpmath.binomial(n, j) * (d + j / n) ** (j - 1) * (1 - d - j / n) ** (n - j)
        for j in map(mpf, range(int(n) + 1))
        if d + j / n <= 1
    )
    return d * sum(terms)


def huber(delta: Any, r: Any) -> Any:
    """Return the Huber loss."""
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def agm(a: Any, b: Any) -> Any:
    """Return the arithmetic-geometric mean."""
    return mpmath.agm(a, b)


def jacobi(name: str, u: Any, m: Any) -> Any:
    """Return one of Jacobi's elliptic functions."""
    return mpmath.re(mpmath.ellipfun(name, u, m=m))


def amplitude(u: Any, m: Any) -> Any:
    """Return the amplitude of Jacobi's elliptic functions, for arguments below twice the quarter period."""
    sine, cosine = (jacobi(name, u, m) for name in ("sn", "cn"))
    angle = mpmath.atan2(sine, cosine)
    return angle + 2 * mp.pi * mpmath.nint((mp.pi * u / (2 * mpmath.ellipk(m)) - angle) / (2 * mp.pi))


def wright_bessel(a: Any, b: Any, x: Any) -> Any:
    """Return Wright's generalized Bessel function."""
    return sum(x**k * mpmath.rgamma(a * k + b) / mpmath.factorial(k) for k in range(600))


def sph_legendre_p(n: Any, m: Any, theta: Any) -> Any:
    """Return the associated Legendre function that is normalized on the sphere."""
    return mpmath.re(mpmath.spherharm(int(n), int(m), theta, 0))


def spherical_yn(n: Any, x: Any) -> Any:
    """Return the spherical Bessel function of the second kind."""
    return sqrt(mp.pi / (2 * x)) * mpmath.bessely(n + mpf(1) / 2, x)


log, exp, sqrt, gamma = mpmath.log, mpmath.exp, mpmath.sqrt, mpmath.gamma
POSITIVE: Range = ("log", 1e-8, 1e2)
UNIT: Range = ("line", 1e-3, 0.999)
FUNCTIONS: dict[str, tuple[Callable[..., Any], tuple[Range, ...]]] = {
    "erf": (mpmath.erf, (WIDE,)),
    "erfc": (mpmath.erfc, (("line", -5, 26),)),
    "erfcx": (lambda x: exp(x * x) * mpmath.erfc(x), (("line", -5, 60),)),
    "erfi": (mpmath.erfi, (("both", 1e-8, 26),)),
    "dawsn": (lambda x: sqrt(mp.pi) / 2 * exp(-x * x) * mpmath.erfi(x), (("both", 1e-8, 200),)),
    "erfinv": (mpmath.erfinv, (("both", 1e-9, 0.999),)),
    "erfcinv": (inverse(mpmath.erfc, -8, 27), (("log", 1e-200, 1.9),)),
    "ndtr": (ndtr, (("line", -37, 8),)),
    "ndtri": (inverse(ndtr, -38, 9), (("log", 1e-200, 0.999),)),
    "log_ndtr": (lambda x: log(ndtr(x)), (("line", -100, 8),)),
    "ndtri_exp": (inverse(lambda x: log(ndtr(x)), -60, 9), (("minus", 1e-6, 1000),)),
    "gamma": (gamma, (("line", -20.7, 100),)),
    "gammaln": (lambda x: mpmath.re(mpmath.loggamma(x)), (("log", 1e-8, 1e8),)),
    "loggamma": (mpmath.loggamma, (("log", 1e-8, 1e8),)),
    "gammasgn": (lambda x: mpmath.sign(gamma(x)), (("line", -20.7, 20),)),
    "rgamma": (mpmath.rgamma, (("line", -20.7, 100),)),
    "digamma": (mpmath.digamma, (("line", -20.7, 100),)),
    "psi": (mpmath.digamma, (("log", 1e-8, 1e8),)),
    "_zeta": (mpmath.zeta, (("line", 1.1, 40), ("log", 0.1, 100))),
    "zetac": (lambda x: mpmath.zeta(x) - 1, (("line", -30.3, 40),)),
    "_riemann_zeta": (mpmath.zeta, (("line", -30.3, 40),)),
    "gammainc": (gammainc, (("log", 0.1, 500), ("log", 0.1, 500))),
    "gammaincc": (gammaincc, (("log", 0.1, 500), ("log", 0.1, 500))),
    "gammaincinv": (lambda a, y: inverse(lambda x: gammainc(a, x), 1e-60, 2000)(y), (("log", 0.5, 100), UNIT)),
    "gammainccinv": (lambda a, y: inverse(lambda x: gammaincc(a, x), 1e-60, 2000)(y), (("log", 0.5, 100), UNIT)),
    "poch": (mpmath.rf, (("line", 0.1, 20), ("line", -5.3, 10))),
    "beta": (mpmath.beta, (("log", 0.01, 80), ("log", 0.01, 80))),
    "betaln": (lambda a, b: log(mpmath.beta(a, b)), (("log", 0.01, 1e6), ("log", 0.01, 80))),
    "betainc": (betainc, (("log", 0.1, 100), ("log", 0.1, 100), UNIT)),
    "betaincc": (betaincc, (("log", 0.1, 100), ("log", 0.1, 100), UNIT)),
    "betaincinv": (
        lambda a, b, y: inverse(lambda x: betainc(a, b, x), 1e-80, 1)(y),
        (("log", 0.5, 20), ("log", 0.5, 20), UNIT),
    ),
    "betainccinv": (
        lambda a, b, y: inverse(lambda x: betaincc(a, b, x), 1e-80, 1)(y),
        (("log", 0.5, 20), ("log", 0.5, 20), UNIT),
    ),
    "binom": (mpmath.binomial, (("line", 0.3, 100), ("line", 0.2, 60))),
    "entr": (lambda x: -x * log(x), (POSITIVE,)),
    "rel_entr": (lambda x, y: x * log(x / y), (POSITIVE, POSITIVE)),
    "kl_div": (lambda x, y: x * log(x / y) - x + y, (("log", 1e-8, 1), ("line", 2, 100))),
    "huber": (huber, (POSITIVE, WIDE)),
    "pseudo_huber": (lambda d, r: d * d * (sqrt(1 + (r / d) ** 2) - 1), (POSITIVE, WIDE)),
    "xlogy": (lambda x, y: x * log(y), (WIDE, POSITIVE)),
    "xlog1py": (lambda x, y: x * mpmath.log1p(y), (WIDE, POSITIVE)),
    "expit": (lambda x: 1 / (1 + exp(-x)), (WIDE,)),
    "logit": (lambda x: log(x / (1 - x)), (("log", 1e-20, 0.999),)),
    "log_expit": (lambda x: -mpmath.log1p(exp(-x)), (WIDE,)),
    "cbrt": (lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), (WIDE,)),
    "round": (lambda x: mpmath.nint(x), (WIDE,)),
    "exp2": (lambda x: mpf(2) ** x, (WIDE,)),
    "exp10": (lambda x: mpf(10) ** x, (WIDE,)),
    "expm1": (mpmath.expm1, (WIDE,)),
    "log1p": (mpmath.log1p, (POSITIVE,)),
    "log1pmx": (lambda x: mpmath.log1p(x) - x, (("log", 1e-8, 100),)),
    "cosm1": (lambda x: mpmath.cos(x) - 1, (("both", 1e-8, 1.5),)),
    "exprel": (lambda x: mpmath.expm1(x) / x, (WIDE,)),
    "sinc": (lambda x: mpmath.sin(mp.pi * x) / (mp.pi * x), (("line", 0.01, 9.7),)),
    "sindg": (lambda x: mpmath.sin(mp.pi * x / 180), (("line", -700.3, 700.1),)),
    "cosdg": (lambda x: mpmath.cos(mp.pi * x / 180), (("line", -700.3, 700.1),)),
    "tandg": (lambda x: mpmath.tan(mp.pi * x / 180), (("line", -700.3, 700.1),)),
    "cotdg": (lambda x: mpmath.cot(mp.pi * x / 180), (("line", -700.3, 700.1),)),
    "radian": (
        lambda d, m, s: (d + m / 60 + s / 3600) * mp.pi / 180,
        (("line", 0, 360), ("line", 0, 60), ("line", 0, 60)),
    ),
    "boxcox": (boxcox, (POSITIVE, ("both", 1e-3, 5))),
    "boxcox1p": (lambda x, p: mpmath.expm1(p * mpmath.log1p(x)) / p, (POSITIVE, ("both", 1e-3, 5))),
    "inv_boxcox": (lambda y, p: exp(mpmath.log1p(y * p) / p), (("line", 0, 10), ("log", 1e-3, 5))),
    "inv_boxcox1p": (inv_boxcox1p, (("log", 1e-5, 10), ("log", 1e-3, 5))),
    **{f"i{n}": (lambda x, n=n: mpmath.besseli(n, x), (("both", 1e-3, 600),)) for n in (0, 1)},
    **{f"i{n}e": (lambda x, n=n: mpmath.besseli(n, x) * exp(-abs(x)), (("both", 1e-3, 600),)) for n in (0, 1)},
    **{f"k{n}": (lambda x, n=n: mpmath.besselk(n, x), (("log", 1e-3, 600),)) for n in (0, 1)},
    **{f"k{n}e": (lambda x, n=n: mpmath.besselk(n, x) * exp(x), (("log", 1e-3, 600),)) for n in (0, 1)},
    **{f"j{n}": (lambda x, n=n: mpmath.besselj(n, x), (("line", 0.1, 20),)) for n in (0, 1)},
    **{f"y{n}": (lambda x, n=n: mpmath.bessely(n, x), (("log", 1e-3, 20),)) for n in (0, 1)},
    "jv": (mpmath.besselj, (("line", 0, 20), ("line", 0.1, 20))),
    "yv": (mpmath.bessely, (("line", 0, 20), ("line", 0.1, 20))),
    "yn": (mpmath.bessely, (("whole", 0, 20), ("line", 0.1, 20))),
    "iv": (mpmath.besseli, (("line", 0, 60), ("log", 0.1, 200))),
    "ive": (lambda v, x: mpmath.besseli(v, x) * exp(-x), (("line", 0, 20), ("log", 0.1, 1e5))),
    "kv": (mpmath.besselk, (("line", 0, 60), ("log", 0.1, 200))),
    "kve": (lambda v, x: mpmath.besselk(v, x) * exp(x), (("line", 0, 20), ("log", 0.1, 1e5))),
    "agm": (agm, (POSITIVE, POSITIVE)),
    "ellipk": (mpmath.ellipk, (("line", -20, 0.99),)),
    "ellipkm1": (lambda p: mpmath.ellipk(1 - p), (("log", 1e-30, 20),)),
    "ellipe": (mpmath.ellipe, (("line", -20, 1),)),
    "exp1": (mpmath.e1, (("log", 1e-8, 600),)),
    "expi": (mpmath.ei, (("both", 1e-3, 600),)),
    "lpmv": (
        lambda m, v, x: mpmath.legenp(v, m, x, type=2),
        (("whole", 0, 5), ("line", 0.3, 20), ("line", -0.9, 0.95)),
    ),
    "ellipkinc": (mpmath.ellipf, (("line", -7, 7), ("line", -20, 0.99))),
    "ellipeinc": (mpmath.ellipe, (("line", -7, 7), ("line", -20, 0.99))),
    "_ellipj_sn_cn": (
        lambda u, m: (jacobi("sn", u, m), jacobi("cn", u, m)),
        (("line", -3, 3), ("line", -5, 0.99)),
    ),
    "_ellipj_dn_ph": (
        lambda u, m: (jacobi("dn", u, m), amplitude(u, m)),
        (("line", -3, 3), ("line", -5, 0.99)),
    ),
    "hyp1f1": (mpmath.hyp1f1, (("line", -30.3, 40), ("line", 0.3, 60), ("line", -90, 90))),
    "wright_bessel": (wright_bessel, (("log", 1e-3, 8), ("log", 1e-3, 20), ("log", 1e-3, 100))),
    "_sph_legendre_p": (sph_legendre_p, (("whole", 0, 40), ("whole", -6, 6), ("line", 0.01, 3.1))),
    "_spherical_yn": (spherical_yn, (("whole", 0, 30), ("line", 0.1, 20))),
    "_spherical_yn_d": (
        lambda n, x: n / x * spherical_yn(n, x) - spherical_yn(n + 1, x),
        (("whole", 0, 30), ("line", 0.1, 20)),
    ),
    "expn": (mpmath.expint, (("whole", 0, 60), ("log", 1e-2, 100))),
    "sici": (lambda x: (mpmath.si(x), mpmath.ci(x)), (("log", 1e-3, 50),)),
    "shichi": (lambda x: (mpmath.shi(x), mpmath.chi(x)), (("log", 1e-3, 500),)),
    "spence": (lambda z: mpmath.polylog(2, 1 - z), (("log", 1e-8, 100),)),
    "chdtr": (lambda v, x: gammainc(v / 2, x / 2), (("log", 1, 100), ("log", 0.1, 200))),
    "chdtrc": (lambda v, x: gammaincc(v / 2, x / 2), (("log", 1, 100), ("log", 0.1, 200))),
    "chdtri": (lambda v, p: inverse(lambda x: gammaincc(v / 2, x / 2), 1e-60, 2000)(p), (("log", 1, 100), UNIT)),
    "fdtr": (
        lambda n, d, x: betainc(n / 2, d / 2, n * x / (d + n * x)),
        (("log", 1, 50), ("log", 1, 50), ("log", 0.1, 20)),
    ),
    "fdtrc": (
        lambda n, d, x: betainc(d / 2, n / 2, d / (d + n * x)),
        (("log", 1, 50), ("log", 1, 50), ("log", 0.1, 20)),
    ),
    "fdtri": (
        lambda n, d, p: inverse(lambda x: betainc(n / 2, d / 2, n * x / (d + n * x)), 1e-60, 1e9)(p),
        (("log", 1, 50), ("log", 1, 50), UNIT),
    ),
    "stdtr": (stdtr, (("log", 1, 50), ("both", 1e-3, 50))),
    "stdtrit": (lambda df, p: inverse(lambda t: stdtr(df, t), -2000, 2000)(p), (("log", 1, 50), UNIT)),
    "bdtr": (lambda k, n, p: betainc(n - k, k + 1, 1 - p), (("whole", 0, 20), ("whole", 30, 60), UNIT)),
    "bdtrc": (lambda k, n, p: betainc(k + 1, n - k, p), (("whole", 0, 20), ("whole", 30, 60), UNIT)),
    "pdtr": (lambda k, m: gammaincc(k + 1, m), (("whole", 0, 60), ("log", 0.1, 100))),
    "pdtrc": (lambda k, m: gammainc(k + 1, m), (("whole", 0, 60), ("log", 0.1, 100))),
    "nbdtr": (lambda k, n, p: betainc(n, k + 1, p), (("whole", 0, 20), ("whole", 1, 20), UNIT)),
    "nbdtrc": (lambda k, n, p: betainc(k + 1, n, 1 - p), (("whole", 0, 20), ("whole", 1, 20), UNIT)),
    "bdtri": (
        lambda k, n, y: inverse(lambda p: betainc(n - k, k + 1, 1 - p), 1e-9, 1 - mpf(10) ** -20)(y),
        (("whole", 0, 20), ("whole", 30, 60), UNIT),
    ),
    "pdtri": (lambda k, y: inverse(lambda m: gammaincc(k + 1, m), 1e-9, 1e4)(y), (("whole", 0, 60), UNIT)),
    "nbdtri": (
        lambda k, n, y: inverse(lambda p: betainc(n, k + 1, p), 1e-60, 1 - mpf(10) ** -20)(y),
        (("whole", 0, 20), ("whole", 1, 20), UNIT),
    ),
    "btdtri": (
        lambda a, b, p: inverse(lambda x: betainc(a, b, x), 1e-80, 1)(p),
        (("log", 0.5, 20), ("log", 0.5, 20), UNIT),
    ),
    "btdtr": (betainc, (("log", 0.1, 100), ("log", 0.1, 100), UNIT)),
    "gdtr": (lambda a, b, x: gammainc(b, a * x), (("log", 0.1, 10), ("log", 0.1, 50), ("log", 0.1, 10))),
    "gdtrc": (lambda a, b, x: gammaincc(b, a * x), (("log", 0.1, 10), ("log", 0.1, 50), ("log", 0.1, 10))),
    "smirnov": (smirnov, (("whole", 2, 200), ("log", 1e-3, 0.9))),
    "kolmogorov": (kolmogorov, (("line", 0.3, 2.5),)),
}


def draw(source: random.Random, of: Range, place: int) -> float:
    """Draw a number from a range, and round it to float32. If `place` is 0 or 1, return the lower or upper end of the
    range."""
    kind, low, high = of
    share = place if place < 2 else source.random()
    number = low + (high - low) * share if kind in ("line", "whole") else low * (high / low) ** share
    if kind == "whole":
        return float(round(number))
    if kind == "minus" or (kind == "both" and source.random() < 0.5):
        number = -number
    return number if not 1e-37 < abs(number) < 1e37 else float(np.float32(number))


def exact(name: str) -> list[list[Any]]:
    """Return points in the domain of a function, with the function's exact values."""
    function, ranges = FUNCTIONS[name]
    source, rows = random.Random(name), []
    for place in range(COUNT):
        operands = [draw(source, one, place) for one in ranges]
        try:
            value = function(*map(mpf, operands))
        except (ValueError, ZeroDivisionError, mpmath.NoConvergence):
            continue
        values = [float(one) for one in (value if isinstance(value, tuple) else (value,))]
        rows.append([*operands, *values])
    return rows


def limits(name: str) -> list[list[Any]]:
    """Return SciPy's values of a function at the limits of its domain."""
    from scipy import special

    function = getattr(special, name, None) or getattr(special._ufuncs, name, None)
    if not isinstance(function, np.ufunc):
        return []
    rows: list[list[Any]] = []
    count = len(FUNCTIONS[name][1])
    if "dd" not in "".join(function.types) and count > 1:  # The first operand of this special function is an integer.
        return []
    chosen = LIMITS if count == 1 else [*LIMITS[:7], 0.5] if count == 2 else [math.nan, math.inf, 0.0, 0.5, -1.0]
    if name == "hyp1f1":  # SciPy's hyp1f1 never returns for infinite operands.
        chosen = [one for one in chosen if not math.isinf(one)]
    for operands in itertools.product(chosen, repeat=count):
        values = function(*operands)
        rows.append([*operands, *map(float, values if isinstance(values, tuple) else (values,))])
    return rows


def main() -> None:
    """Write reference.json."""
    mp.dps = 50
    found = {}
    for name in FUNCTIONS:
        found[name] = {"exact": exact(name), "limits": limits(name)}
        print(name, len(found[name]["exact"]), len(found[name]["limits"]), flush=True)
    lines = [f'"{name}": {json.dumps(rows)}' for name, rows in found.items()]
    TARGET.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
