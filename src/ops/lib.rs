//! Operations: kernels generated from expressions, for arrays of any layout.
//!
//! - [`argument`] is a user's declaration; [`text`] analyzes how the expression uses it.
//! - [`macros`] limits a user's macros to the user's source.
//! - [`plan`] finds the loop nest with the fewest axes for the arrays of a call, and an access pattern for each array.
//! - [`tiles`] decides when transposed operands go through shared memory.
//! - [`generate`] generates the source for a plan.
//! - [`expression`] defers operations, so that several are fused into one kernel.
//! - [`elementwise`], [`reduce`] and [`scan`] launch the kernels.
//! - [`select`] implements selection by masks, [`product`] matrix products.
//! - [`random`] generates random numbers; [`fft`] calls the vendors' FFT libraries.
//! - [`solver`] calls the vendors' libraries for matrix factorizations.
//!
//! One implementation serves all backends with a device compiler. Nothing here depends on Python.

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
