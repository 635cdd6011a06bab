//! Order: sorting along an axis, and what is found by it.
//!
//! - [`keys`] makes elements whole numbers that lie in their order;
//! - [`rows`] sorts rows that one block has room for, [`sweep`] longer ones;
//! - [`sort`] chooses;
//! - [`runs`] finds equal elements in sorted ones;
//! - [`task`] and [`warp`] are what they have in common.

mod keys;
mod rows;
mod runs;
mod sort;
mod sweep;
mod task;
mod warp;

pub use keys::has_order;
pub use runs::{Runs, runs};
pub use sort::{Sorted, Wanted, sort, sort_in_place};

use crate::codegen::store::Family;

/// The kernels of this folder.
static COMPILED: Family = Family::of_library(FAMILY);
const FAMILY: u16 = 32;
