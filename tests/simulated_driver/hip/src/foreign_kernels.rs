//! Exports functions that launch kernels of other libraries. HIP has no such functions; they simulate a user's library
//! that `hipcc` has compiled.

use crate::entry::{Call, export};

simulated_core::export_foreign_kernels!(export, Call::device);
