//! Products of matrices and vectors of every type and layout. PyGPU's kernels compute them, except large float
//! products, for which the vendor's BLAS is called.
//!
//! - [`operands`] describes the operands in terms of rows, an inner axis and batches.
//! - [`plan`] chooses the kernel: tiles, one element per thread, or matrix-vector.
//! - [`product_table`] contains an entry for each function.
//! - [`source`] generates the kernel, [`launch`] launches it.
//! - [`vendor_gemm`] calls the vendor's BLAS if that is faster; [`gemm_layout`] describes a product in the terms of
//!   BLAS.

mod gemm_layout;
mod launch;
mod operands;
mod plan;
pub mod product_table;
mod source;
mod vendor_gemm;

pub use launch::run;
pub use operands::Product;
pub use product_table::ProductFunction;
pub use vendor_gemm::{destroy_handles, way, with_blas, workspace_of};

use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};

/// The compiled kernels of this module.
static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Products);
