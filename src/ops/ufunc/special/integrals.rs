//! Defines elliptic and exponential integrals.

use super::header::Header;
use super::shared_headers::POLYNOMIAL;
use super::{SpecialFunction, as_complex, complex, double, integers, real, single, small, special, xsf};
use crate::ufunc::UfuncEntry;

/// C++ functions that compute in float.
static EXPONENTIAL: Header = Header::of(include_str!("../../include/special/exponential_integral.h"), &[&POLYNOMIAL]);
static LAMBERTW: Header = Header::of(include_str!("../../include/special/lambertw.h"), &[]);
static SICI_PARTS: Header = Header::of(include_str!("../../include/special/sici.h"), &[&xsf::SICI]);
static SHICHI_PARTS: Header = Header::of(include_str!("../../include/special/shichi.h"), &[&xsf::SHICHI]);

static HYP1F1: Header = Header::of(include_str!("../../include/special/hyp1f1.h"), &[&xsf::MATHEMATICS]);
static SPHERICAL: Header = Header::of(include_str!("../../include/special/spherical.h"), &[]);
static ELLIPJ: Header = Header::of(include_str!("../../include/special/ellipj.h"), &[&xsf::ELLPJ]);
static LPMV: Header = Header::of(include_str!("../../include/special/lpmv.h"), &[&xsf::SPECFUN]);

/// Table entries of the special functions that this file defines.
pub(super) static FUNCTIONS: &[SpecialFunction] = &[
    special!("agm" (a, b) "Compute the arithmetic-geometric mean."
        "the limit of ``a, b = (a + b) / 2, sqrt(a * b)``"
        [&xsf::AGM] &[small(None), integers(None), real("pygpu_xsf::agm({a}, {b})", None, 28)];
        "[1.0, 2.0], 8.0" => "[3.615756, 4.486057]"),
    special!("ellipk" (m) "Compute the complete elliptic integral of the first kind."
        "the integral of ``(1 - m * sin(t)**2)**-0.5`` from 0 to ``pi / 2``"
        [&xsf::ELLPK] &[small(None), integers(None), real("pygpu_xsf::ellpk(1 - (double){a})", None, 7)];
        "[0.0, 0.5]" => "[1.570796, 1.854075]"),
    special!("ellipkm1" (p) "Compute the complete elliptic integral of the first kind for m = 1 - p, accurate near m = 1."
        "``ellipk(1 - p)``"
        [&xsf::ELLPK] &[small(None), integers(None), real("pygpu_xsf::ellpk({a})", None, 8)];
        "[0.5, 1.0]" => "[1.854075, 1.570796]"),
    special!("ellipe" (m) "Compute the complete elliptic integral of the second kind."
        "the integral of ``sqrt(1 - m * sin(t)**2)`` from 0 to ``pi / 2``"
        [&xsf::ELLPE] &[small(None), integers(None), real("pygpu_xsf::ellpe({a})", None, 5)];
        "[0.0, 0.5]" => "[1.570796, 1.350644]"),
    special!("ellipkinc" (phi, m) "Compute the incomplete elliptic integral of the first kind."
        "the integral of ``(1 - m * sin(t)**2)**-0.5`` from 0 to phi"
        [&xsf::ELLIK] &[small(None), integers(None), real("pygpu_xsf::ellik({a}, {b})", None, 60)];
        "[0.5, 1.0], 0.5" => "[0.510467, 1.083217]"),
    special!("ellipeinc" (phi, m) "Compute the incomplete elliptic integral of the second kind."
        "the integral of ``sqrt(1 - m * sin(t)**2)`` from 0 to phi"
        [&xsf::ELLIE] &[small(None), integers(None), real("pygpu_xsf::ellie({a}, {b})", None, 80)];
        "[0.5, 1.0], 0.5" => "[0.489911, 0.92733]"),
    special!("_ellipj_sn_cn" (u, m) "Compute Jacobi's elliptic functions sn and cn."
        "the sine and the cosine of the amplitude"
        [&ELLIPJ] &[small(Some("pygpu_special::ellipj<1>({a}, {b})")), integers(Some("pygpu_special::ellipj<1>({a}, {b})")), real("pygpu_special::ellipj<0>({a}, {b})", Some("pygpu_special::ellipj<1>({a}, {b})"), 60)];
        "[0.0, 0.5], 0.5" => "[[0.0, 0.47075], [1.0, 0.882266]]"),
    special!("_ellipj_dn_ph" (u, m) "Compute Jacobi's elliptic function dn, and the amplitude."
        "the derivative of the amplitude, and the angle phi with ``ellipkinc(phi, m) == u``"
        [&ELLIPJ] &[small(Some("pygpu_special::ellipj<3>({a}, {b})")), integers(Some("pygpu_special::ellipj<3>({a}, {b})")), real("pygpu_special::ellipj<2>({a}, {b})", Some("pygpu_special::ellipj<3>({a}, {b})"), 60)];
        "[0.0, 0.5], 0.5" => "[[1.0, 0.942972], [0.0, 0.490141]]"),
    special!("exp1" (x) "Compute the exponential integral E1."
        "the integral of ``exp(-t) / t`` from x to infinity"
        [&xsf::EXPINT, &EXPONENTIAL] &[small(None), integers(None), single("pygpu_special::exp1({a})", 4), double("pygpu_xsf::exp1({a})", 13)];
        "[1.0, 2.0]" => "[0.219384, 0.048901]"),
    special!("expi" (x) "Compute the exponential integral Ei."
        "the integral of ``exp(t) / t`` from minus infinity to x"
        [&xsf::EXPINT] &[small(None), integers(None), real("pygpu_xsf::expi({a})", None, 16)];
        "[1.0, 2.0]" => "[1.895118, 4.954234]"),
    special!("expn" (n, x) "Compute the exponential integral of an integer order."
        "the integral of ``exp(-x * t) / t**n`` from 1 to infinity"
        [&xsf::EXPN] &[small(None), integers(None), real("({a} > -1 && {a} < 2147483648.0 ? ({T})pygpu_xsf::expn((int){a}, {b}) : ({T})NAN)", None, 43)];
        "2.0, [1.0, 2.0]" => "[0.148496, 0.037534]"),
    special!("sici" (x) "Compute the sine and the cosine integral."
        "the integral of ``sin(t) / t`` from 0, and that of ``cos(t) / t`` from infinity"
        [&SICI_PARTS] &[small(Some("pygpu_special::sici<1>({a})")), integers(Some("pygpu_special::sici<1>({a})")), real("pygpu_special::sici<0>({a})", Some("pygpu_special::sici<1>({a})"), 21)];
        "[1.0, 2.0]" => "[[0.946083, 1.605413], [0.337404, 0.422981]]"),
    special!("shichi" (x) "Compute the hyperbolic sine and cosine integral."
        "the integral of ``sinh(t) / t`` from 0, and that of ``(cosh(t) - 1) / t`` plus ``log(x)`` and Euler's constant"
        [&SHICHI_PARTS] &[small(Some("pygpu_special::shichi<1>({a})")), integers(Some("pygpu_special::shichi<1>({a})")), real("pygpu_special::shichi<0>({a})", Some("pygpu_special::shichi<1>({a})"), 29)];
        "[1.0, 2.0]" => "[[1.057251, 2.501567], [0.837867, 2.452667]]"),
    special!("spence" (z) "Compute Spence's function, the dilogarithm of 1 - z."
        "the integral of ``log(t) / (1 - t)`` from 1 to z"
        [&xsf::SPENCE] &[small(None), integers(None), real("pygpu_xsf::spence({a})", None, 6)];
        "[1.0, 2.0]" => "[0.0, -0.822467]"),
    special!("lpmv" (m, v, x) "Compute the associated Legendre function of an integer order and a real degree."
        "a solution of ``(1 - x**2) * f'' - 2 * x * f' + (v * (v + 1) - m**2 / (1 - x**2)) * f = 0``, with Condon and Shortley's sign"
        [&LPMV] &[small(None), integers(None), real("pygpu_special::lpmv({a}, {b}, {c})", None, 60)];
        "1.0, 2.0, [0.0, 0.5]" => "[0.0, -1.299038]"),
    special!("hyp1f1" (a, b, x) "Compute the confluent hypergeometric function of the first kind."
        "the sum of ``poch(a, k) / poch(b, k) * x**k / k!`` over k from 0"
        [&HYP1F1] &[small(None), integers(None), real("pygpu_special::hyp1f1({a}, {b}, {c})", None, 200)];
        "1.0, 2.0, [-1.0, 1.0]" => "[0.632121, 1.718282]"),
    special!("wright_bessel" (a, b, x) "Compute Wright's generalized Bessel function; NaN for negative operands."
        "the sum of ``x**k / (k! * gamma(a * k + b))`` over k from 0"
        [&xsf::WRIGHT_BESSEL] &[small(None), integers(None), real("pygpu_xsf::wright_bessel_t({a}, {b}, {c})", None, 200)];
        "1.0, 1.0, [0.5, 2.5]" => "[1.566083, 5.571622]"),
    special!("_sph_legendre_p" (n, m, theta) "Compute the associated Legendre function that is normalized on the sphere."
        "``sqrt((2 * n + 1) / (4 * pi) * (n - m)! / (n + m)!) * lpmv(m, n, cos(theta))``"
        [&SPHERICAL] &[small(None), integers(None), real("pygpu_special::sph_legendre_p({a}, {b}, {c})", None, 60)];
        "1.0, 0.0, [0.0, 1.0]" => "[0.488603, 0.263993]"),
    special!("_spherical_yn" (n, x) "Compute the spherical Bessel function of the second kind."
        "``sqrt(pi / (2 * x)) * yv(n + 1 / 2, x)``"
        [&SPHERICAL] &[small(None), integers(None), real("pygpu_special::spherical_yn<0>({a}, {b})", None, 40)];
        "1.0, [1.0, 2.0]" => "[-1.381773, -0.350612]"),
    special!("_spherical_yn_d" (n, x) "Compute the derivative of the spherical Bessel function of the second kind."
        "the derivative of ``sqrt(pi / (2 * x)) * yv(n + 1 / 2, x)``"
        [&SPHERICAL] &[small(None), integers(None), real("pygpu_special::spherical_yn<1>({a}, {b})", None, 40)];
        "0.0, [1.0, 2.0]" => "[1.381773, 0.350612]"),
    special!("_lambertw" (z, k, tol) "Compute a branch of Lambert's function."
        "``w * exp(w) == z``"
        [&LAMBERTW] &[as_complex(), complex("pygpu_special::lambertw({a}, {b})", 120)];
        "[1.0, 2.0], 0.0, 0.0" => "[(0.567143+0j), (0.852606+0j)]"),
];
