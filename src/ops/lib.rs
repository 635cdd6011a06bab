//! Operations: kernels that are written out of an expression and run on arrays of any layout.
//!
//! - [`argument`] is what a user declares, [`text`] what the expression does with it;
//! - [`macros`] keeps a user's macros where they belong;
//! - [`plan`] finds the fewest axes that serve the arrays of a call, and what each of them is in the kernel;
//! - [`tiles`] says when arrays that lie across the others go through shared memory;
//! - [`generate`] writes the source for a plan;
//! - [`expression`] puts operations off, so that several are one kernel;
//! - [`elementwise`], [`reduce`] and [`scan`] put them on streams.
//! - [`select`] is selection by masks, [`product`] products of matrices;
//! - [`random`] makes random numbers, [`fft`] transforms by the vendors' libraries;
//! - [`solver`] gives matrices to the vendors' library of factorisations.
//!
//! Written once for all backends: whatever compiles device code runs it. Nothing knows Python.

pub mod argument;
pub mod axes;
pub mod elementwise;
pub mod expression;
pub mod fft;
mod generate;
pub mod join;
pub mod macros;
pub mod order;
pub mod plan;
pub mod product;
pub mod random;
pub mod reduce;
pub mod scan;
pub mod select;
pub mod solver;
pub mod text;
mod tiles;
pub mod ufunc;

pub use argument::{Argument, Role};
pub use elementwise::{Elementwise, Range};
pub use plan::Plan;
pub use reduce::{Ready, Reduce, Reduction};
pub use scan::{Scan, Scanning};
pub use text::Texts;
