//! Who else has a block: other libraries until they give it back, and whoever was told the address.

use std::sync::atomic::Ordering;

use super::Allocation;
use crate::order::Access;
use pygpu_base::error::Result;
use pygpu_base::flush::{self, Cause};
use pygpu_device::stream::Stream;

impl Allocation {
    /// Says that somebody else has the address from now on, and that nobody will tell when that ends.
    pub fn expose(&self) {
        self.exposed.escape(|| self.flush_exposed());
    }

    /// Says that another library has the block until [`Self::take_back`].
    #[inline]
    pub fn give_out(&self) {
        self.exports.fetch_add(1, Ordering::Relaxed);
        self.flush_exposed();
    }

    /// Launches the operations that were queued while only PyGPU could reach the block, after a change of that: each operation that is
    /// queued sees the change, or is launched here. Whether none of them is left.
    #[inline]
    fn flush_exposed(&self) -> bool {
        !flush::is_used() || self.flush_exposed_now()
    }

    #[cold]
    fn flush_exposed_now(&self) -> bool {
        flush::await_push();
        if !flush::is_any() || self.device().is_cpu() {
            return true;
        }
        self.flush(Access::Write, Cause::Values);
        self.pending_before(Access::Write).is_none() // some are left in a function that a driver's stream calls
    }

    /// Says that another library, which worked on `consumer`, has no hand in the block any more: what it put there comes before
    /// later uses and the free. A stream that nobody named, or that may be gone, cannot be asked: the free waits for the
    /// device.
    ///
    /// # Errors
    /// The driver's.
    #[inline]
    pub fn take_back(&self, access: Access, consumer: Option<&Stream>) -> Result<()> {
        self.exports.fetch_sub(1, Ordering::Relaxed);
        match consumer {
            _ if self.device().is_cpu() || !self.is_alive() => Ok(()),
            Some(stream) if !stream.is_foreign() => self.order.note(access, stream),
            _ => {
                self.expose();
                Ok(())
            }
        }
    }

    /// How many exports were not given back yet.
    pub fn exports(&self) -> u32 {
        self.exports.load(Ordering::Relaxed)
    }

    /// Says that somebody else can have the address from now on.
    #[inline]
    pub fn publish(&self) {
        self.published.escape(|| self.flush_exposed());
    }

    /// Whether nobody but PyGPU can reach the block now.
    #[inline]
    pub fn is_private(&self) -> bool {
        self.is_own() && !self.published.is_begun() && !self.exposed.is_begun() && self.exports() == 0
    }
}
