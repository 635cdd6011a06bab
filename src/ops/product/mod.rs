//! Products of matrices and vectors of every type and layout: by PyGPU's kernels, and large float products by the
//! vendor's BLAS.
//!
//! - [`operands`] describes the operands in terms of rows, an inner axis and batches.
//! - [`plan`] chooses the kernel: tiles, one element per thread, or matrix-vector.
//! - [`table`] contains an entry for each function.
//! - [`source`] generates the kernel, [`run`] launches it.
//! - [`library`] calls the vendor's BLAS if that is faster; [`matrices`] converts a product to its form.

mod library;
mod matrices;
mod operands;
mod plan;
mod run;
mod source;
pub mod table;

pub use library::{way, with_blas, workspace_of};
pub use operands::Product;
pub use run::run;
pub use table::Named;

use pygpu_codegen::store::Family;

/// The kernels of this module.
static COMPILED: Family = Family::of_library(FAMILY);
const FAMILY: u16 = 34;
