//! Exports functions that launch kernels of other libraries. They are not functions of HIP, but functions that a user's
//! library compiled by `hipcc` would have.

use crate::entry::{Call, export};

simulated_core::export_guests!(export, Call::device);
