//! With `PYGPU_CHECK_STREAMS=1`, finds pairs of uses of a memory block that no synchronization orders.
//!
//! [`HazardTracker`](crate::hazards::HazardTracker) orders the work that PyGPU enqueues. This module observes other
//! work on a block: work of other libraries on a stream to which the block was handed over, and kernels that received
//! the block's address. At later uses of the block, and at its release, [`stream_order_probe`] tests whether such work
//! is pending and not ordered before the later use.
//!
//! The check changes the timing of the program, and never its order: no stream waits because of the check. While it is
//! off, its cost is part of the load by which [`stream_captures`](crate::capture) detects active captures.

mod external_uses;
mod findings;
mod stream_order_probe;

pub(crate) use external_uses::{check_release, check_use, end_hand_over, end_launch, forget};
pub use external_uses::{hand_over, launch_address, suspect};
pub use findings::{Finding, FindingKind, take};
pub(crate) use stream_order_probe::note_own_work;
pub use stream_order_probe::{is_unordered, prepare};

use std::any::Any;
use std::sync::Arc;

use crate::stream_captures;
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_base::settings::{self, Variable};

/// Description of the position in the program at which memory was passed to code outside PyGPU. The Python layer
/// creates it.
pub type Origin = Arc<dyn Any + Send + Sync>;

/// Returns whether the check of streams is on. The first call reads the setting.
#[inline]
pub fn is_on() -> bool {
    static IS_ON: ForkSafeOnce<bool> = ForkSafeOnce::new();
    *IS_ON.get().unwrap_or_else(|| {
        let settings = settings::get();
        IS_ON.get_or_init(|| {
            let is_on = settings.is_on(Variable::CHECK_STREAMS, false);
            if is_on {
                stream_captures::observe_all_work();
            }
            is_on
        })
    })
}
