//! Kernels of other libraries: not functions of HIP, but those that a user's `hipcc` library would have.

use crate::entry::{Call, export};

simulated_core::export_guests!(export, Call::device);
