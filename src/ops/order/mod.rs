//! Sorting along an axis, and operations based on it.
//!
//! - [`keys`] converts elements to unsigned integers with the same order.
//! - [`rows`] sorts rows that fit into one block, [`sweep`] longer ones by a radix sort.
//! - [`sort`] chooses between them.
//! - [`runs`] finds runs of equal elements in sorted data; [`unique`] sorts first and waits for the number of runs.
//! - [`search`] finds positions in sorted data, and counts and sums values per position.
//! - [`task`] and [`warp`] contain common code.

mod keys;
mod rows;
mod runs;
mod search;
mod sort;
mod sweep;
mod task;
mod unique;
mod warp;

pub use keys::has_order;
pub use search::{Counted, count, search, sum_runs};
pub use sort::{Sorted, Wanted, sort, sort_in_place};
pub use unique::{Asked, Unique, unique};

use pygpu_codegen::store::Family;

/// The kernels of this module.
static COMPILED: Family = Family::of_library(FAMILY);
const FAMILY: u16 = 32;
