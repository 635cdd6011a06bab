//! Order: sorting along an axis, and what is found by it.
//!
//! - [`keys`] makes elements whole numbers that lie in their order;
//! - [`rows`] sorts rows that one block has room for, [`sweep`] longer ones;
//! - [`sort`] chooses;
//! - [`runs`] finds equal elements in sorted ones, [`unique`] sorts before and waits for their number;
//! - [`search`] finds places in sorted elements, and counts and adds up what belongs to each;
//! - [`task`] and [`warp`] are what they have in common.

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

/// The kernels of this folder.
static COMPILED: Family = Family::of_library(FAMILY);
const FAMILY: u16 = 32;
