//! Defines elementwise functions: their table, type promotion, and their kernels. The module also contains casts and
//! evenly spaced values.

mod aliases;
pub mod arange;
pub mod cast;
pub mod kernel;
mod kernel_cache;
pub mod promote;
pub mod special;
mod type_sets;
pub mod ufunc_table;

pub use aliases::ALIASES;
pub use arange::{Spacing, arange, linspace};
pub use cast::{CastSource, as_it_is, cast, is_castable};
pub use kernel::{LoopOperand, kernel, kernel_of};
pub use promote::{Casting, PromotionOperand, can_cast, can_cast_same_kind, resolve, resolve_to};
pub use ufunc_table::{HostEvaluation, Output, ScalarRule, TABLE, UfuncEntry, builtin_row, row};
