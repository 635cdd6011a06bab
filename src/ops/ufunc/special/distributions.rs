//! Defines the distribution functions of probability distributions.

use super::header::Header;
use super::{SpecialFunction, integers, real, small, special, xsf};
use crate::ufunc::UfuncEntry;

static SMIRNOV: Header = Header::of(include_str!("../../include/special/smirnov.h"), &[]);
static INTEGERS: Header = Header::of(include_str!("../../include/special/distributions.h"), &[&xsf::BDTR, &xsf::NBDTR]);

/// Table entries of the special functions that this file defines.
pub(super) static FUNCTIONS: &[SpecialFunction] = &[
    special!("chdtr" (v, x) "Compute the distribution function of the chi-square distribution."
        "``gammainc(v / 2, x / 2)``"
        [&xsf::CHDTR] &[small(None), integers(None), real("pygpu_xsf::chdtr({a}, {b})", None, 104)];
        "2.0, [1.0, 2.0]" => "[0.393469, 0.632121]"),
    special!("chdtrc" (v, x) "Compute the survival function of the chi-square distribution."
        "``gammaincc(v / 2, x / 2)``"
        [&xsf::CHDTR] &[small(None), integers(None), real("pygpu_xsf::chdtrc({a}, {b})", None, 112)];
        "2.0, [1.0, 2.0]" => "[0.606531, 0.367879]"),
    special!("chdtri" (v, p) "Return the x at which `chdtrc(v, x)` is p."
        "``chdtrc(v, chdtri(v, p)) == p``"
        [&xsf::CHDTR] &[small(None), integers(None), real("pygpu_xsf::chdtri({a}, {b})", None, 171)];
        "2.0, [0.1, 0.5]" => "[4.60517, 1.386294]"),
    special!("fdtr" (dfn, dfd, x) "Compute the distribution function of the F distribution."
        "``betainc(dfn / 2, dfd / 2, dfn * x / (dfd + dfn * x))``"
        [&xsf::FDTR] &[small(None), integers(None), real("pygpu_xsf::fdtr({a}, {b}, {c})", None, 89)];
        "2.0, 4.0, [1.0, 2.0]" => "[0.555556, 0.75]"),
    special!("fdtrc" (dfn, dfd, x) "Compute the survival function of the F distribution."
        "``1 - fdtr(dfn, dfd, x)``"
        [&xsf::FDTR] &[small(None), integers(None), real("pygpu_xsf::fdtrc({a}, {b}, {c})", None, 94)];
        "2.0, 4.0, [1.0, 2.0]" => "[0.444444, 0.25]"),
    special!("fdtri" (dfn, dfd, p) "Return the x at which `fdtr(dfn, dfd, x)` is p."
        "``fdtr(dfn, dfd, fdtri(dfn, dfd, p)) == p``"
        [&xsf::FDTR] &[small(None), integers(None), real("({c} == 0 && {a} > 0 && {b} > 0 ? ({T})0 : ({T})pygpu_xsf::fdtri({a}, {b}, {c}))", None, 140)];
        "2.0, 4.0, [0.25, 0.5]" => "[0.309401, 0.828427]"),
    special!("stdtr" (df, t) "Compute the distribution function of Student's t distribution."
        "``1 - betainc(df / 2, 1 / 2, df / (df + t**2)) / 2`` for positive t"
        [&super::gamma::BETAINC] &[small(None), integers(None), real("pygpu_special::stdtr({a}, {b})", None, 90)];
        "3.0, [0.0, 2.0]" => "[0.5, 0.930337]"),
    special!("stdtrit" (df, p) "Return the t at which `stdtr(df, t)` is p."
        "``stdtr(df, stdtrit(df, p)) == p``"
        [&super::gamma::BETAINC] &[small(None), integers(None), real("pygpu_special::stdtrit({a}, {b})", None, 139)];
        "3.0, [0.5, 0.9]" => "[0.0, 1.637744]"),
    special!("bdtr" (k, n, p) "Compute the distribution function of the binomial distribution."
        "the sum of ``binom(n, j) * p**j * (1 - p)**(n - j)`` for j up to k"
        [&INTEGERS] &[small(None), integers(None), real("pygpu_special::bdtr({a}, {b}, {c})", None, 91)];
        "1.0, 4.0, [0.25, 0.5]" => "[0.738281, 0.3125]"),
    special!("bdtrc" (k, n, p) "Compute the survival function of the binomial distribution."
        "``1 - bdtr(k, n, p)``"
        [&INTEGERS] &[small(None), integers(None), real("pygpu_special::bdtrc({a}, {b}, {c})", None, 94)];
        "1.0, 4.0, [0.25, 0.5]" => "[0.261719, 0.6875]"),
    special!("bdtri" (k, n, y) "Return the p at which `bdtr(k, n, p)` is y."
        "``bdtr(k, n, bdtri(k, n, y)) == y``"
        [&INTEGERS] &[small(None), integers(None), real("pygpu_special::bdtri({a}, {b}, {c})", None, 140)];
        "1.0, 4.0, [0.25, 0.5]" => "[0.543678, 0.385728]"),
    special!("pdtr" (k, m) "Compute the distribution function of the Poisson distribution."
        "``gammaincc(floor(k) + 1, m)``"
        [&xsf::PDTR] &[small(None), integers(None), real("pygpu_xsf::pdtr({a}, {b})", None, 99)];
        "[1.0, 2.0], 1.5" => "[0.557825, 0.808847]"),
    special!("pdtrc" (k, m) "Compute the survival function of the Poisson distribution."
        "``gammainc(floor(k) + 1, m)``"
        [&xsf::PDTR] &[small(None), integers(None), real("pygpu_xsf::pdtrc({a}, {b})", None, 114)];
        "[1.0, 2.0], 1.5" => "[0.442175, 0.191153]"),
    special!("pdtri" (k, y) "Return the m at which `pdtr(k, m)` is y."
        "``pdtr(k, pdtri(k, y)) == y``"
        [&xsf::PDTR] &[small(None), integers(None), real("({a} == {a} ? ({T})pygpu_xsf::pdtri((int){a}, {b}) : ({T}){a})", None, 171)];
        "[1.0, 2.0], 0.5" => "[1.678347, 2.67406]"),
    special!("nbdtr" (k, n, p) "Compute the distribution function of the negative binomial distribution."
        "``betainc(n, k + 1, p)``"
        [&INTEGERS] &[small(None), integers(None), real("pygpu_special::nbdtr({a}, {b}, {c})", None, 97)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.103516, 0.5]"),
    special!("nbdtrc" (k, n, p) "Compute the survival function of the negative binomial distribution."
        "``betainc(k + 1, n, 1 - p)``"
        [&INTEGERS] &[small(None), integers(None), real("pygpu_special::nbdtrc({a}, {b}, {c})", None, 99)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.896484, 0.5]"),
    special!("nbdtri" (k, n, y) "Return the p at which `nbdtr(k, n, p)` is y."
        "``nbdtr(k, n, nbdtri(k, n, y)) == y``"
        [&INTEGERS] &[small(None), integers(None), real("pygpu_special::nbdtri({a}, {b}, {c})", None, 140)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.359436, 0.5]"),
    special!("btdtr" (a, b, x) "Compute the distribution function of the beta distribution; the same as `betainc`."
        "``betainc(a, b, x)``"
        [&super::gamma::BETAINC_OF_MODERATE] &[small(None), integers(None), real("pygpu_special::betainc<{T}>({a}, {b}, {c})", None, 102)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.261719, 0.6875]"),
    special!("btdtri" (a, b, p) "Return the x at which `btdtr(a, b, x)` is p; the same as `betaincinv`."
        "``btdtr(a, b, btdtri(a, b, p)) == p``"
        [&super::gamma::BETAINC] &[small(None), integers(None), real("pygpu_special::betaincinv({a}, {b}, {c})", None, 139)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.243022, 0.385728]"),
    special!("gdtr" (a, b, x) "Compute the distribution function of the gamma distribution."
        "``gammainc(b, a * x)``"
        [&xsf::GDTR] &[small(None), integers(None), real("pygpu_xsf::gdtr({a}, {b}, {c})", None, 108)];
        "1.0, 2.0, [1.0, 2.0]" => "[0.264241, 0.593994]"),
    special!("gdtrc" (a, b, x) "Compute the survival function of the gamma distribution."
        "``gammaincc(b, a * x)``"
        [&xsf::GDTR] &[small(None), integers(None), real("pygpu_xsf::gdtrc({a}, {b}, {c})", None, 108)];
        "1.0, 2.0, [1.0, 2.0]" => "[0.735759, 0.406006]"),
    special!("kolmogorov" (y) "Compute the survival function of Kolmogorov's distribution."
        "``2`` times the sum of ``(-1)**(k - 1) * exp(-2 * k**2 * y**2)`` over k from 1"
        [&xsf::KOLMOGOROV] &[small(None), integers(None), real("pygpu_xsf::kolmogorov({a})", None, 12)];
        "[0.5, 1.0]" => "[0.963945, 0.27]"),
    special!("smirnov" (n, d) "Compute the survival function of the one-sided Kolmogorov-Smirnov statistic."
        "``d`` times the sum of ``binom(n, j) * (d + j / n)**(j - 1) * (1 - d - j / n)**(n - j)``"
        [&SMIRNOV] &[small(None), integers(None), real("pygpu_special::smirnov({a}, {b})", None, 19)];
        "10.0, [0.2, 0.4]" => "[0.396762, 0.029495]"),
];
