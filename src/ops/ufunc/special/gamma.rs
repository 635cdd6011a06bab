//! Defines gamma, beta and zeta functions.

use super::header::Header;
use super::shared_headers::LOGARITHM;
use super::{SpecialFunction, complex, double, integers, real, single, small, special, xsf};
use crate::ufunc::UfuncEntry;

static DIGAMMA_PARTS: Header =
    Header::of(include_str!("../../include/special/gamma/digamma.h"), &[&LOGARITHM, &xsf::DIGAMMA]);
static LOGGAMMA: Header = Header::of(include_str!("../../include/special/gamma/loggamma.h"), &[]);
static RGAMMA: Header = Header::of(include_str!("../../include/special/gamma/reciprocal_gamma.h"), &[&LOGARITHM]);
static GAMMASGN: Header = Header::of(include_str!("../../include/special/gamma/gamma.h"), &[]);
static LANCZOS: Header =
    Header::of(include_str!("../../include/special/gamma/lanczos.h"), &[&xsf::LANCZOS, &xsf::MULTIPLY_ADD]);
static GAMMAINC: Header =
    Header::of(include_str!("../../include/special/gamma/incomplete_gamma.h"), &[&LANCZOS, &xsf::IGAM]);
static ZETA: Header = Header::of(include_str!("../../include/special/gamma/zeta_float.h"), &[&xsf::ZETA]);
static BETA: Header = Header::of(include_str!("../../include/special/gamma/beta_function.h"), &[&LANCZOS, &xsf::BETA]);
static BINOM: Header = Header::of(include_str!("../../include/special/gamma/binom.h"), &[&BETA, &xsf::BINOM]);
pub(super) static BETAINC: Header = Header::of(
    include_str!("../../include/special/gamma/incomplete_beta_limits.h"),
    &[&xsf::INCBET, &xsf::INCBI, &xsf::NDTRI],
);
pub(super) static BETAINC_OF_MODERATE: Header =
    Header::of(include_str!("../../include/special/gamma/incomplete_beta.h"), &[&BETA, &BETAINC]);

/// Table entries of the special functions that this file defines.
pub(super) static FUNCTIONS: &[SpecialFunction] = &[
    special!("gamma" (z) "Compute the gamma function; (z - 1)! for positive integers."
        "the integral of ``t**(z - 1) * exp(-t)`` from 0 to infinity"
        [&LOGGAMMA] &[small(None), integers(None), real("tgamma({a})", None, 20), complex("pygpu_special::gamma({a})", 40)];
        "[0.5, 5.0]" => "[1.772454, 24.0]"),
    special!("gammaln" (x) "Compute the logarithm of the absolute value of the gamma function."
        "``log(abs(gamma(x)))``"
        [] &[small(None), integers(None), single("({a} == -INFINITY ? {a} : lgammaf({a}))", 5), double("({a} == -INFINITY ? {a} : lgamma({a}))", 8)];
        "[0.5, 100.0]" => "[0.572365, 359.134205]"),
    special!("loggamma" (z) "Compute the principal branch of the logarithm of the gamma function; NaN for negative numbers."
        "``log(gamma(z))``"
        [&LOGGAMMA] &[small(None), integers(None), real("({a} < 0 ? ({T})NAN : lgamma({a}))", None, 11), complex("pygpu_special::loggamma({a})", 40)];
        "[0.5, 100.0]" => "[0.572365, 359.134205]"),
    special!("gammasgn" (x) "Return the sign of the gamma function; NaN at negative integers."
        "``sign(gamma(x))``"
        [&GAMMASGN] &[small(None), integers(None), real("pygpu_special::gammasgn({a})", None, 10)];
        "[-0.5, 1.5]" => "[-1.0, 1.0]"),
    special!("rgamma" (z) "Compute the reciprocal of the gamma function."
        "``1 / gamma(z)``"
        [&LOGGAMMA, &RGAMMA] &[small(None), integers(None), single("({a} <= 0 && {a} == floor({a}) ? ({T})0 : 1 / tgamma({a}))", 12), double("pygpu_special::rgamma({a})", 8), complex("pygpu_special::rgamma({a})", 40)];
        "[0.0, 5.0]" => "[0.0, 0.041667]"),
    special!("digamma" (z) "Compute the logarithmic derivative of the gamma function."
        "``gamma'(z) / gamma(z)``"
        [&DIGAMMA_PARTS] &[small(None), integers(None), single("pygpu_special::digamma({a})", 12), double("pygpu_special::digamma({a})", 8)];
        "[1.0, 10.0]" => "[-0.577216, 2.251753]"),
    special!("psi" (z) "Compute the logarithmic derivative of the gamma function; the same as `digamma`."
        "``gamma'(z) / gamma(z)``"
        [&DIGAMMA_PARTS] &[small(None), integers(None), single("pygpu_special::digamma({a})", 12), double("pygpu_special::digamma({a})", 8)];
        "[1.0, 10.0]" => "[-0.577216, 2.251753]"),
    special!("_zeta" (x, q) "Compute the Hurwitz zeta function."
        "the sum of ``(k + q)**-x`` over k from 0"
        [&ZETA] &[small(None), integers(None), single("pygpu_special::zeta({a}, {b})", 27), double("pygpu_xsf::zeta({a}, {b})", 27)];
        "[2.0], 1.0" => "[1.644934]"),
    special!("_riemann_zeta" (x) "Compute the Riemann zeta function."
        "the sum of ``k**-x`` over k from 1"
        [&xsf::ZETAC] &[small(None), integers(None), real("pygpu_xsf::riemann_zeta({a})", None, 54)];
        "[2.0, 4.0]" => "[1.644934, 1.082323]"),
    special!("zetac" (x) "Compute the Riemann zeta function minus 1."
        "the sum of ``k**-x`` over k from 2"
        [&xsf::ZETAC] &[small(None), integers(None), real("pygpu_xsf::zetac({a})", None, 54)];
        "[2.0, 4.0]" => "[0.644934, 0.082323]"),
    special!("gammainc" (a, x) "Compute the regularized lower incomplete gamma function."
        "the integral of ``t**(a - 1) * exp(-t)`` from 0 to x, divided by ``gamma(a)``"
        [&GAMMAINC] &[small(None), integers(None), real("pygpu_special::gammainc<{T}>({a}, {b})", None, 121)];
        "0.5, [0.5, 2.0]" => "[0.682689, 0.9545]"),
    special!("gammaincc" (a, x) "Compute the regularized upper incomplete gamma function."
        "``1 - gammainc(a, x)``"
        [&GAMMAINC] &[small(None), integers(None), real("pygpu_special::gammaincc<{T}>({a}, {b})", None, 112)];
        "0.5, [0.5, 2.0]" => "[0.317311, 0.0455]"),
    special!("gammaincinv" (a, y) "Return the x at which `gammainc(a, x)` is y."
        "``gammainc(a, gammaincinv(a, y)) == y``"
        [&xsf::IGAMI] &[small(None), integers(None), real("pygpu_xsf::igami({a}, {b})", None, 194)];
        "0.5, [0.1, 0.5]" => "[0.007895, 0.227468]"),
    special!("gammainccinv" (a, y) "Return the x at which `gammaincc(a, x)` is y."
        "``gammaincc(a, gammainccinv(a, y)) == y``"
        [&xsf::IGAMI] &[small(None), integers(None), real("pygpu_xsf::igamci({a}, {b})", None, 191)];
        "0.5, [0.1, 0.5]" => "[1.352772, 0.227468]"),
    special!("poch" (z, m) "Compute the Pochhammer symbol, a ratio of gamma functions."
        "``gamma(z + m) / gamma(z)``"
        [&xsf::POCH] &[small(None), integers(None), real("pygpu_xsf::poch({a}, {b})", None, 26)];
        "[1.0, 2.0], 3.0" => "[6.0, 24.0]"),
    special!("beta" (a, b) "Compute the beta function."
        "``gamma(a) * gamma(b) / gamma(a + b)``"
        [&BETA] &[small(None), integers(None), real("pygpu_special::beta({a}, {b})", None, 47)];
        "[1.0, 2.0], 3.0" => "[0.333333, 0.083333]"),
    special!("betaln" (a, b) "Compute the logarithm of the absolute value of the beta function."
        "``log(abs(beta(a, b)))``"
        [&BETA] &[small(None), integers(None), real("pygpu_special::betaln({a}, {b})", None, 59)];
        "[1.0, 2.0], 3.0" => "[-1.098612, -2.484907]"),
    special!("betainc" (a, b, x) "Compute the regularized incomplete beta function."
        "the integral of ``t**(a - 1) * (1 - t)**(b - 1)`` from 0 to x, divided by ``beta(a, b)``"
        [&BETAINC_OF_MODERATE] &[small(None), integers(None), real("pygpu_special::betainc<{T}>({a}, {b}, {c})", None, 95)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.261719, 0.6875]"),
    special!("betaincc" (a, b, x) "Compute the complement of the regularized incomplete beta function."
        "``1 - betainc(a, b, x)``"
        [&BETAINC_OF_MODERATE] &[small(None), integers(None), real("pygpu_special::betaincc<{T}>({a}, {b}, {c})", None, 90)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.738281, 0.3125]"),
    special!("betaincinv" (a, b, y) "Return the x at which `betainc(a, b, x)` is y."
        "``betainc(a, b, betaincinv(a, b, y)) == y``"
        [&BETAINC] &[small(None), integers(None), real("pygpu_special::betaincinv({a}, {b}, {c})", None, 132)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.243022, 0.385728]"),
    special!("betainccinv" (a, b, y) "Return the x at which `betaincc(a, b, x)` is y."
        "``betaincc(a, b, betainccinv(a, b, y)) == y``"
        [&BETAINC] &[small(None), integers(None), real("pygpu_special::betainccinv({a}, {b}, {c})", None, 130)];
        "2.0, 3.0, [0.25, 0.5]" => "[0.543678, 0.385728]"),
    special!("binom" (n, k) "Compute the binomial coefficient of two real numbers."
        "``gamma(n + 1) / (gamma(k + 1) * gamma(n - k + 1))``"
        [&BINOM] &[small(None), integers(None), real("pygpu_special::binom({a}, {b})", None, 81)];
        "[4.0, 5.0], 2.0" => "[6.0, 10.0]"),
];
