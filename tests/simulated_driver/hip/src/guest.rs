//! The kernels of somebody else: not HIP's functions, but what a `hipcc` library of the user's would offer.

use crate::entry::{Call, export};

simulated_core::export_guests!(export, Call::device);
