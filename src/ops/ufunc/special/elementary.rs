//! Defines special functions of information theory, logistic functions, functions of angles, and powers.

use super::header::Header;
use super::shared_headers::LOGARITHM;
use super::{SpecialFunction, complex, double, integers, real, single, small, special, xsf};
use crate::ufunc::UfuncEntry;

static ELEMENTARY: Header = Header::of(include_str!("../../include/special/elementary.h"), &[&LOGARITHM]);
static SINC: Header = Header::of(include_str!("../special.h"), &[]);
static ARITHMETIC: Header = Header::of(include_str!("../arithmetic.h"), &[]);

/// Table entries of the special functions that this file defines.
pub(super) static FUNCTIONS: &[SpecialFunction] = &[
    special!("entr" (x) "Compute the elementwise entropy."
        "``-x * log(x)``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::entr<{T}>({a})", None, 2)];
        "[0.25, 0.5]" => "[0.346574, 0.346574]"),
    special!("rel_entr" (x, y) "Compute the elementwise relative entropy."
        "``x * log(x / y)``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::rel_entr<{T}>({a}, {b})", None, 5)];
        "[0.5, 1.0], 2.0" => "[-0.693147, -0.693147]"),
    special!("kl_div" (x, y) "Compute the elementwise Kullback-Leibler divergence."
        "``x * log(x / y) - x + y``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::kl_div<{T}>({a}, {b})", None, 4)];
        "[0.5, 1.0], 2.0" => "[0.806853, 0.306853]"),
    special!("huber" (delta, r) "Compute the Huber loss: quadratic up to delta, then linear."
        "``r**2 / 2`` or ``delta * (abs(r) - delta / 2)``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::huber<{T}>({a}, {b})", None, 3)];
        "1.0, [0.5, 3.0]" => "[0.125, 2.5]"),
    special!("pseudo_huber" (delta, r) "Compute the smooth approximation of the Huber loss."
        "``delta**2 * (sqrt(1 + (r / delta)**2) - 1)``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::pseudo_huber<{T}>({a}, {b})", None, 3)];
        "1.0, [0.5, 3.0]" => "[0.118034, 2.162278]"),
    special!("xlogy" (x, y) "Compute x * log(y); 0 where x is 0."
        "``x * log(y)``"
        [&ELEMENTARY, &ARITHMETIC] &[small(None), integers(None), real("pygpu_special::xlogy<{T}>({a}, {b})", None, 2), complex("{a} == {T}(0) && {b} == {b} ? {T}(0) : {a} * pygpu_op::complex_log({b})", 40)];
        "[0.0, 2.0], [0.0, 3.0]" => "[0.0, 2.197225]"),
    special!("xlog1py" (x, y) "Compute x * log1p(y); 0 where x is 0."
        "``x * log1p(y)``"
        [&ELEMENTARY, &ARITHMETIC] &[small(None), integers(None), real("pygpu_special::xlog1py<{T}>({a}, {b})", None, 3), complex("{a} == {T}(0) && {b} == {b} ? {T}(0) : {a} * pygpu_op::complex_log1p({b})", 40)];
        "[0.0, 2.0], [-1.0, 3.0]" => "[0.0, 2.772589]"),
    special!("expit" (x) "Compute the logistic function."
        "``1 / (1 + exp(-x))``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::expit<{T}>({a})", None, 2)];
        "[0.0, 2.0]" => "[0.5, 0.880797]"),
    special!("logit" (x) "Compute the inverse of the logistic function."
        "``log(x / (1 - x))``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::logit<{T}>({a})", None, 4)];
        "[0.25, 0.5]" => "[-1.098612, 0.0]"),
    special!("log_expit" (x) "Compute the logarithm of the logistic function, accurate in the tails."
        "``log(expit(x))``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::log_expit<{T}>({a})", None, 2)];
        "[-100.0, 0.0]" => "[-100.0, -0.693147]"),
    special!("cbrt" (x) "Compute the cube root."
        "``x**(1 / 3)``"
        [] &[small(None), integers(None), real("cbrt({a})", None, 2)];
        "[-8.0, 27.0]" => "[-2.0, 3.0]"),
    special!("round" (x) "Round to the nearest integer; of two equally near integers, to the even one."
        "``floor(x + 1 / 2)``, apart from ties"
        [] &[small(None), integers(None), real("rint({a})", None, 0)];
        "[0.5, 1.6]" => "[0.0, 2.0]"),
    special!("exp2" (x) "Compute 2**x."
        "``2**x``"
        [] &[small(None), integers(None), real("exp2({a})", None, 2)];
        "[-1.0, 3.0]" => "[0.5, 8.0]"),
    special!("exp10" (x) "Compute 10**x."
        "``10**x``"
        [] &[small(None), integers(None), real("exp10({a})", None, 2)];
        "[-1.0, 2.0]" => "[0.1, 100.0]"),
    special!("expm1" (x) "Compute exp(x) - 1, accurate near 0."
        "``exp(x) - 1``"
        [&ARITHMETIC] &[small(None), integers(None), real("expm1({a})", None, 2), complex("pygpu_op::complex_expm1({a})", 40)];
        "[0.0, 1e-3]" => "[0.0, 0.001001]"),
    special!("log1p" (x) "Compute log(1 + x), accurate near 0."
        "``log(1 + x)``"
        [&ARITHMETIC, &LOGARITHM] &[small(None), integers(None), single("log1p({a})", 2), double("pygpu_special::log1p_of_double({a})", 3), complex("pygpu_op::complex_log1p({a})", 40)];
        "[0.0, 1.0]" => "[0.0, 0.693147]"),
    special!("log1pmx" (x) "Compute log(1 + x) - x, accurate near 0."
        "``log(1 + x) - x``"
        [&xsf::UNITY] &[small(None), integers(None), real("pygpu_xsf::log1pmx({a})", None, 4)];
        "[0.0, 1.0]" => "[0.0, -0.306853]"),
    special!("cosm1" (x) "Compute cos(x) - 1, accurate near 0."
        "``cos(x) - 1``"
        [&xsf::UNITY] &[small(None), integers(None), real("pygpu_xsf::cosm1({a})", None, 6)];
        "[0.0, 1.0]" => "[0.0, -0.459698]"),
    special!("exprel" (x) "Compute (exp(x) - 1) / x, accurate near 0."
        "``(exp(x) - 1) / x``"
        [&ELEMENTARY] &[small(None), integers(None), real("pygpu_special::exprel<double>({a})", None, 3)];
        "[0.0, 1.0]" => "[1.0, 1.718282]"),
    special!("sinc" (x) "Compute sin(pi x) / (pi x); 1 at 0."
        "``sin(pi * x) / (pi * x)``"
        [&SINC] &[small(None), integers(None), single("pygpu_op::sinc<float>({a})", 4), double("pygpu_op::sinc<double>({a})", 10)];
        "[0.0, 0.5]" => "[1.0, 0.63662]"),
    special!("sindg" (x) "Compute the sine of an angle in degrees."
        "``sin(pi * x / 180)``"
        [&xsf::SINDG] &[small(None), integers(None), real("pygpu_xsf::sindg({a})", None, 4)];
        "[30.0, 90.0]" => "[0.5, 1.0]"),
    special!("cosdg" (x) "Compute the cosine of an angle in degrees."
        "``cos(pi * x / 180)``"
        [&xsf::SINDG] &[small(None), integers(None), real("pygpu_xsf::cosdg({a})", None, 3)];
        "[60.0, 180.0]" => "[0.5, -1.0]"),
    special!("tandg" (x) "Compute the tangent of an angle in degrees."
        "``tan(pi * x / 180)``"
        [&xsf::TANDG] &[small(None), integers(None), real("pygpu_xsf::tandg({a})", None, 9)];
        "[0.0, 45.0]" => "[0.0, 1.0]"),
    special!("cotdg" (x) "Compute the cotangent of an angle in degrees."
        "``1 / tan(pi * x / 180)``"
        [&xsf::TANDG] &[small(None), integers(None), real("pygpu_xsf::cotdg({a})", None, 9)];
        "[45.0, 135.0]" => "[1.0, -1.0]"),
    special!("radian" (d, m, s) "Convert degrees, minutes and seconds to radians."
        "``(d + m / 60 + s / 3600) * pi / 180``"
        [&xsf::SINDG] &[small(None), integers(None), real("pygpu_xsf::radian({a}, {b}, {c})", None, 2)];
        "[90.0, 180.0], 30.0, 0.0" => "[1.579523, 3.150319]"),
    special!("boxcox" (x, lmbda) "Compute the Box-Cox transformation."
        "``(x**lmbda - 1) / lmbda``, or ``log(x)`` if lmbda is 0"
        [&xsf::BOXCOX] &[small(None), integers(None), real("pygpu_xsf::boxcox({a}, {b})", None, 9)];
        "[1.0, 4.0], 0.5" => "[0.0, 2.0]"),
    special!("boxcox1p" (x, lmbda) "Compute the Box-Cox transformation of 1 + x."
        "``((1 + x)**lmbda - 1) / lmbda``, or ``log1p(x)`` if lmbda is 0"
        [&xsf::BOXCOX] &[small(None), integers(None), real("pygpu_xsf::boxcox1p({a}, {b})", None, 14)];
        "[0.0, 3.0], 0.5" => "[0.0, 2.0]"),
    special!("inv_boxcox" (y, lmbda) "Compute the inverse of the Box-Cox transformation."
        "``(y * lmbda + 1)**(1 / lmbda)``, or ``exp(y)`` if lmbda is 0"
        [&xsf::BOXCOX] &[small(None), integers(None), real("pygpu_xsf::inv_boxcox({a}, {b})", None, 12)];
        "[0.0, 2.0], 0.5" => "[1.0, 4.0]"),
    special!("inv_boxcox1p" (y, lmbda) "Compute the inverse of the transformation `boxcox1p`."
        "``(y * lmbda + 1)**(1 / lmbda) - 1``, or ``expm1(y)`` if lmbda is 0"
        [&xsf::BOXCOX] &[small(None), integers(None), real("pygpu_xsf::inv_boxcox1p({a}, {b})", None, 10)];
        "[0.0, 2.0], 0.5" => "[0.0, 3.0]"),
];
