//! Defines the error function, the normal distribution, and related functions.

use super::header::Header;
use super::shared_headers::LOGARITHM;
use super::{SpecialFunction, double, integers, real, single, small, special, xsf};
use crate::ufunc::UfuncEntry;

static NORMAL: Header = Header::of(include_str!("../../include/special/normal_distribution.h"), &[&LOGARITHM]);
static ERROR: Header = Header::of(include_str!("../../include/special/error_functions.h"), &[&xsf::FADDEEVA]);

/// Table entries of the special functions that this file defines.
pub(super) static FUNCTIONS: &[SpecialFunction] = &[
    special!("erf" (x) "Compute the error function."
        "``2 / sqrt(pi)`` times the integral of ``exp(-t**2)`` from 0 to x"
        [] &[small(None), integers(None), real("erf({a})", None, 5)];
        "[0.0, 1.0]" => "[0.0, 0.842701]"),
    special!("erfc" (x) "Compute 1 - erf(x), accurate where the result is small."
        "``1 - erf(x)``"
        [] &[small(None), integers(None), single("erfcf({a})", 4), double("erfc({a})", 8)];
        "[0.0, 1.0]" => "[1.0, 0.157299]"),
    special!("erfcx" (x) "Compute the scaled complementary error function."
        "``exp(x**2) * erfc(x)``"
        [] &[small(None), integers(None), single("erfcxf({a})", 4), double("erfcx({a})", 4)];
        "[0.0, 1.0]" => "[1.0, 0.427584]"),
    special!("erfi" (x) "Compute the imaginary error function."
        "``-1j * erf(1j * x)``"
        [&ERROR] &[small(None), integers(None), real("pygpu_special::erfi({a})", None, 10)];
        "[0.0, 1.0]" => "[0.0, 1.650426]"),
    special!("dawsn" (x) "Compute Dawson's integral."
        "``exp(-x**2)`` times the integral of ``exp(t**2)`` from 0 to x"
        [&ERROR] &[small(None), integers(None), real("pygpu_special::dawsn({a})", None, 11)];
        "[0.0, 1.0]" => "[0.0, 0.53808]"),
    special!("erfinv" (y) "Return the inverse of the error function."
        "``erf(erfinv(y)) == y``"
        [] &[small(None), integers(None), single("erfinvf({a})", 4), double("erfinv({a})", 8)];
        "[0.0, 0.5]" => "[0.0, 0.476936]"),
    special!("erfcinv" (y) "Return the inverse of the complementary error function."
        "``erfc(erfcinv(y)) == y``"
        [] &[small(None), integers(None), single("erfcinvf({a})", 8), double("erfcinv({a})", 8)];
        "[0.25, 0.5]" => "[0.81342, 0.476936]"),
    special!("ndtr" (x) "Return the area under the standard normal density up to x."
        "``(1 + erf(x / sqrt(2))) / 2``"
        [] &[small(None), integers(None), single("normcdff({a})", 2), double("normcdf({a})", 2)];
        "[0.0, 1.96]" => "[0.5, 0.975002]"),
    special!("ndtri" (y) "Return the argument up to which the area under the standard normal density is y."
        "``ndtr(ndtri(y)) == y``"
        [] &[small(None), integers(None), single("normcdfinvf({a})", 7), double("normcdfinv({a})", 7)];
        "[0.5, 0.975]" => "[0.0, 1.959964]"),
    special!("log_ndtr" (x) "Compute the logarithm of `ndtr`, accurate in the tails."
        "``log(ndtr(x))``"
        [&NORMAL] &[small(None), integers(None), single("pygpu_special::log_ndtr<float>({a})", 4), double("pygpu_special::log_ndtr<double>({a})", 8)];
        "[-40.0, 0.0]" => "[-804.608442, -0.693147]"),
    special!("ndtri_exp" (y) "Return the inverse of `log_ndtr`."
        "``log_ndtr(ndtri_exp(y)) == y``"
        [&xsf::NDTRI_EXP] &[small(None), integers(None), real("pygpu_xsf::ndtri_exp({a})", None, 42)];
        "[-100.0, -0.5]" => "[-13.888476, 0.270288]"),
];
