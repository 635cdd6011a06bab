//! Products of matrices and vectors, of every type and layout: own kernels, which need no library; large ones of floats by the vendor's.
//!
//! - [`operands`] says what lies where, whatever has axes for rows and columns;
//! - [`plan`] chooses: tiles, an element for each thread, or a vector's way;
//! - [`table`] has a row for each function;
//! - [`source`] writes the kernel for it, [`run`] puts it on a stream;
//! - [`library`] asks the vendor's library where that is quicker, to which a product is what [`matrices`] says.

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

/// The kernels of this folder.
static COMPILED: Family = Family::of_library(FAMILY);
const FAMILY: u16 = 34;
