//! Sorting along an axis, and operations based on it.
//!
//! - [`radix_keys`] converts elements to unsigned integers with the same order.
//! - [`block_sort`] sorts rows that fit into one block, [`radix_sort`] longer ones by a radix sort.
//! - [`sort`] chooses between them.
//! - [`runs`] finds runs of equal elements in sorted data; [`unique`] sorts first and waits for the number of runs.
//! - [`search`] finds positions in sorted data, and counts and sums values per position.
//! - [`sort_input`] and [`lookback`] contain common code.

mod block_sort;
mod lookback;
mod radix_keys;
mod radix_sort;
mod runs;
mod search;
mod sort;
mod sort_input;
mod unique;

pub use radix_keys::has_order;
pub use search::{Counted, count, search, sum_runs};
pub use sort::{SortOutputs, Sorted, sort, sort_in_place};
pub use unique::{Unique, UniqueOutputs, unique};

use pygpu_codegen::variant_cache::KernelFamily;

/// The compiled kernels of this module.
static COMPILED: KernelFamily = KernelFamily::of_library(FAMILY);
const FAMILY: u16 = 32;
