//! Small replacements for the vendors' mathematical libraries, which work on the simulated GPU in stream order.
//!
//! One library under all names: each module has a library's functions under both vendors' names, as far as PyGPU
//! calls them. They compute with the simplest correct loops, and are as strict as the manuals: an invalid argument is
//! an error code.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Names of the C headers.
#![allow(non_snake_case)]

pub mod blas;
pub mod faults;
pub mod fft;
pub mod lu;
pub mod queue;
pub mod rand;
pub mod solver;
