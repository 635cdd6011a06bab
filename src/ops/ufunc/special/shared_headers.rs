//! Defines the C++ headers of PyGPU that several groups of functions use.

use super::header::Header;
use super::xsf;

/// C++ template that evaluates polynomials of float or double.
pub static POLYNOMIAL: Header = Header::of(include_str!("../../include/special/polynomial.h"), &[&xsf::MULTIPLY_ADD]);
/// C++ templates of logarithms without branches.
pub static LOGARITHM: Header = Header::of(include_str!("../../include/special/logarithm.h"), &[&POLYNOMIAL]);
