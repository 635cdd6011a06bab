//! Implements sorting along an axis, and operations based on it.
//!
//! - [`radix_keys`] converts elements to unsigned integers with the same order.
//! - [`block_sort`] sorts rows that fit into one block of threads; [`radix_sort`] sorts longer rows.
//! - [`sort`] chooses between them.
//! - [`equal_runs`] finds runs of equal elements in sorted data; [`unique`] sorts an array, finds the runs, and waits
//!   for their number.
//! - [`search`] finds the positions of values in sorted data, and counts or sums values per position.
//! - [`sort_input`] and [`decoupled_lookback`] contain code that these modules share.

mod block_sort;
mod decoupled_lookback;
mod equal_runs;
mod radix_keys;
mod radix_sort;
mod search;
mod sort;
mod sort_input;
mod unique;

pub use radix_keys::has_order;
pub use search::{Counted, count, search, sum_runs};
pub use sort::{SortOutputs, Sorted, sort, sort_in_place};
pub use unique::{Unique, UniqueOutputs, unique};

use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};

/// The compiled kernels of this module.
static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Sorting);
