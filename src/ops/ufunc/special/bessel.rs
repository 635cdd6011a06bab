//! Defines the Bessel functions.

use super::header::Header;
use super::shared_headers::POLYNOMIAL;
use super::{SpecialFunction, double, integers, real, single, small, special, xsf};
use crate::ufunc::UfuncEntry;

/// C++ functions that compute in float. The functions of xsf compute in double.
static FLOAT: Header = Header::of(include_str!("../../include/special/bessel_float.h"), &[&POLYNOMIAL]);
static DEBYE: Header = Header::of(include_str!("../../include/special/debye.h"), &[&xsf::SCIPY_IV, &xsf::JV, &xsf::YV]);
static MODIFIED: Header = Header::of(include_str!("../../include/special/bessel.h"), &[&xsf::SCIPY_IV]);

/// Table entries of the special functions that this file defines.
pub(super) static FUNCTIONS: &[SpecialFunction] = &[
    special!("i0" (x) "Compute the modified Bessel function of the first kind, of order 0."
        "``iv(0, x)``"
        [&FLOAT] &[small(None), integers(None), single("pygpu_special::i0({a})", 3), double("cyl_bessel_i0({a})", 7)];
        "[0.0, 1.0]" => "[1.0, 1.266066]"),
    special!("i0e" (x) "Compute the exponentially scaled modified Bessel function of the first kind, of order 0."
        "``exp(-abs(x)) * i0(x)``"
        [&xsf::I0, &FLOAT] &[small(None), integers(None), single("pygpu_special::i0e({a})", 3), double("pygpu_xsf::i0e({a})", 4)];
        "[0.0, 1.0]" => "[1.0, 0.46576]"),
    special!("i1" (x) "Compute the modified Bessel function of the first kind, of order 1."
        "``iv(1, x)``"
        [&FLOAT] &[small(None), integers(None), single("pygpu_special::i1({a})", 3), double("cyl_bessel_i1({a})", 7)];
        "[0.0, 1.0]" => "[0.0, 0.565159]"),
    special!("i1e" (x) "Compute the exponentially scaled modified Bessel function of the first kind, of order 1."
        "``exp(-abs(x)) * i1(x)``"
        [&xsf::I1, &FLOAT] &[small(None), integers(None), single("pygpu_special::i1e({a})", 3), double("pygpu_xsf::i1e({a})", 5)];
        "[0.0, 1.0]" => "[0.0, 0.20791]"),
    special!("k0" (x) "Compute the modified Bessel function of the second kind, of order 0."
        "``kv(0, x)``"
        [&xsf::K0, &FLOAT] &[small(None), integers(None), single("pygpu_special::k0({a})", 4), double("pygpu_xsf::k0({a})", 16)];
        "[1.0, 2.0]" => "[0.421024, 0.113894]"),
    special!("k0e" (x) "Compute the exponentially scaled modified Bessel function of the second kind, of order 0."
        "``exp(x) * k0(x)``"
        [&xsf::K0, &FLOAT] &[small(None), integers(None), single("pygpu_special::k0e({a})", 4), double("pygpu_xsf::k0e({a})", 16)];
        "[1.0, 2.0]" => "[1.144463, 0.841568]"),
    special!("k1" (x) "Compute the modified Bessel function of the second kind, of order 1."
        "``kv(1, x)``"
        [&xsf::K1, &FLOAT] &[small(None), integers(None), single("pygpu_special::k1({a})", 4), double("pygpu_xsf::k1({a})", 18)];
        "[1.0, 2.0]" => "[0.601907, 0.139866]"),
    special!("k1e" (x) "Compute the exponentially scaled modified Bessel function of the second kind, of order 1."
        "``exp(x) * k1(x)``"
        [&xsf::K1, &FLOAT] &[small(None), integers(None), single("pygpu_special::k1e({a})", 4), double("pygpu_xsf::k1e({a})", 17)];
        "[1.0, 2.0]" => "[1.636153, 1.033477]"),
    special!("j0" (x) "Compute the Bessel function of the first kind, of order 0."
        "``jv(0, x)``"
        [&xsf::J0, &FLOAT] &[small(None), integers(None), single("pygpu_special::j0({a})", 7), double("pygpu_xsf::j0({a})", 18)];
        "[0.0, 1.0]" => "[1.0, 0.765198]"),
    special!("j1" (x) "Compute the Bessel function of the first kind, of order 1."
        "``jv(1, x)``"
        [&xsf::J1, &FLOAT] &[small(None), integers(None), single("pygpu_special::j1({a})", 7), double("pygpu_xsf::j1({a})", 18)];
        "[0.0, 1.0]" => "[0.0, 0.440051]"),
    special!("y0" (x) "Compute the Bessel function of the second kind, of order 0."
        "``yv(0, x)``"
        [&xsf::J0, &FLOAT] &[small(None), integers(None), single("pygpu_special::y0({a})", 7), double("pygpu_xsf::y0({a})", 24)];
        "[1.0, 2.0]" => "[0.088257, 0.510376]"),
    special!("y1" (x) "Compute the Bessel function of the second kind, of order 1."
        "``yv(1, x)``"
        [&xsf::J1, &FLOAT] &[small(None), integers(None), single("pygpu_special::y1({a})", 7), double("pygpu_xsf::y1({a})", 34)];
        "[1.0, 2.0]" => "[-0.781213, -0.107032]"),
    special!("yn" (n, x) "Compute the Bessel function of the second kind, of integer order."
        "``yv(n, x)``"
        [&xsf::YN] &[small(None), integers(None), real("({a} > -2147483648.0 && {a} < 2147483648.0 ? ({T})pygpu_xsf::yn((int){a}, {b}) : ({T})NAN)", None, 90)];
        "2.0, [1.0, 2.0]" => "[-1.650683, -0.617408]"),
    special!("jv" (v, z) "Compute the Bessel function of the first kind, of real order."
        "a solution of ``z**2 * f'' + z * f' + (z**2 - v**2) * f = 0``"
        [&DEBYE] &[small(None), integers(None), real("pygpu_special::jv({a}, {b})", None, 240)];
        "0.5, [1.0, 2.0]" => "[0.671397, 0.513016]"),
    special!("yv" (v, z) "Compute the Bessel function of the second kind, of real order."
        "``(jv(v, z) * cos(pi * v) - jv(-v, z)) / sin(pi * v)``"
        [&DEBYE] &[small(None), integers(None), real("pygpu_special::yv({a}, {b})", None, 250)];
        "0.5, [1.0, 2.0]" => "[-0.431099, 0.234786]"),
    special!("iv" (v, z) "Compute the modified Bessel function of the first kind, of real order."
        "``1j**-v * jv(v, 1j * z)``"
        [&MODIFIED] &[small(None), integers(None), real("pygpu_special::iv({a}, {b})", None, 84)];
        "0.5, [1.0, 2.0]" => "[0.937675, 2.046237]"),
    special!("ive" (v, z) "Compute the exponentially scaled modified Bessel function of the first kind, of real order."
        "``exp(-abs(z)) * iv(v, z)``"
        [&MODIFIED] &[small(None), integers(None), real("pygpu_special::ive({a}, {b})", None, 97)];
        "0.5, [1.0, 2.0]" => "[0.344951, 0.276928]"),
    special!("kv" (v, z) "Compute the modified Bessel function of the second kind, of real order."
        "``pi / 2 * (iv(-v, z) - iv(v, z)) / sin(pi * v)``"
        [&MODIFIED] &[small(None), integers(None), real("pygpu_special::kv({a}, {b})", None, 66)];
        "0.5, [1.0, 2.0]" => "[0.461069, 0.119938]"),
    special!("kve" (v, z) "Compute the exponentially scaled modified Bessel function of the second kind, of real order."
        "``exp(z) * kv(v, z)``"
        [&MODIFIED] &[small(None), integers(None), real("pygpu_special::kve({a}, {b})", None, 62)];
        "0.5, [1.0, 2.0]" => "[1.253314, 0.886227]"),
];
