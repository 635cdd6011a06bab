//! Contains small replacements for the vendors' mathematical libraries, which run on the simulated GPU in stream order.
//!
//! A single shared library replaces all of them. Each module implements one mathematical library: it exports the
//! functions that PyGPU calls, under the names of both vendors. The functions use the simplest correct loops. As in the
//! manuals, an invalid argument results in an error code.
#![allow(missing_docs, clippy::missing_safety_doc)]
// Functions and types have the names of the C headers.
#![allow(non_snake_case)]

pub mod blas;
pub mod faults;
pub mod fft;
pub mod lu;
pub mod rand;
pub mod solver;
pub mod stream_work;

/// Returns the number of handles, plans and other objects that were created and not destroyed.
#[unsafe(no_mangle)]
pub extern "C" fn sim_library_live() -> u64 {
    (blas::live() + fft::live() + solver::live()) as u64
}
