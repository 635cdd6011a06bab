//! Small stand-ins for the vendors' libraries of mathematics, which work on the simulated GPU in the order of its streams.
//!
//! One library under the names of all: a module has a library's functions under both vendors' names, as far as PyGPU calls them.
//! They compute by the shortest loops that are right, and are as strict as the manuals: a wrong argument is a code.
#![allow(missing_docs, clippy::missing_safety_doc)]
// The headers' names are C's.
#![allow(non_snake_case)]

pub mod blas;
pub mod faults;
pub mod fft;
pub mod lu;
pub mod queue;
pub mod rand;
pub mod solver;
