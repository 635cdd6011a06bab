//! Implements operations on arrays of any layout by kernels that are generated from expressions.
//!
//! - [`kernel_argument`] describes an argument that a user declares; [`user_source_analysis`] analyzes how the user's
//!   expression uses the arguments.
//! - [`user_macros`] limits a user's macros to the user's source.
//! - [`elementwise_plan`] finds the loop nest with the fewest axes for the arrays of a call, and an access pattern for
//!   each array.
//! - [`tile_plan`] decides when a kernel reads transposed operands through shared memory.
//! - [`kernel_source`] generates the source of the kernel for a plan.
//! - [`fusion`] defers operations, so that several are fused into one kernel.
//! - [`elementwise_kernel`], [`reduction_kernel`] and [`scan_kernel`] launch the kernels.
//! - [`selection`] implements selection by masks, [`product`] matrix products.
//! - [`join`] concatenates arrays; [`triangle`] copies triangles of matrices.
//! - [`random`] generates random numbers; [`fft`] calls the vendors' FFT libraries.
//! - [`linalg`] calls the vendors' libraries for matrix factorizations.
//!
//! One implementation serves all backends with a device compiler. This crate does not depend on Python.

pub mod elementwise_kernel;
pub mod elementwise_plan;
pub mod fft;
pub mod fusion;
mod idle_handles;
pub mod join;
pub mod kernel_argument;
mod kernel_source;
pub mod library_objects;
pub mod linalg;
pub mod product;
pub mod random;
pub mod reduction_kernel;
pub mod reductions;
pub mod scan_kernel;
pub mod selection;
pub mod sorting;
mod tile_plan;
pub mod triangle;
pub mod ufunc;
pub mod user_macros;
pub mod user_source_analysis;

pub use elementwise_kernel::{Elementwise, IndexRange};
pub use elementwise_plan::ElementPlan;
pub use kernel_argument::{Argument, ArgumentRole};
pub use reduction_kernel::{Ready, Reduce, ReductionSpec};
pub use scan_kernel::{Scan, Scanning};
pub use user_source_analysis::Texts;
