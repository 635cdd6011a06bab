//! Small blocks that the default stream keeps: taken and given back without a call of a driver.
//!
//! Why apart from how all blocks are made and freed: whoever calls a driver leaves Python's lock before, which costs as much as all else
//! about a small block.

use super::{Allocation, Origin, Place};
use crate::pool::Source;
use crate::{capture, plugged, pool};
use pygpu_backend as backend;
use pygpu_device::stream::Stream;

impl Allocation {
    /// A block that the stream has kept, which is there without a call of a driver; `None` where one has to be asked.
    #[inline]
    pub fn kept(bytes: usize, stream: &Stream) -> Option<Self> {
        if bytes == 0 || plugged::is_in_use() || capture::is_any() {
            return None;
        }
        let epoch = stream.device().epoch();
        let address = pool::take_kept(bytes, stream)?;
        Some(Self::with(Place::new(address, Source::Recyclable), bytes, epoch, Origin::Own, stream.clone()))
    }

    /// Ends the block where that needs no call of a driver: its stream keeps it. Nothing is left of it then.
    #[inline]
    pub fn end_without_driver(&mut self) -> bool {
        let is_recyclable = self.is_own() && self.place.source() == Source::Recyclable && self.bytes > 0;
        let is_private = self.order.is_untouched() && !self.exposed.is_begun();
        if !is_recyclable || !is_private || !self.is_alive() || capture::is_any() || backend::is_host_call() {
            return false;
        }
        // SAFETY: this is the last owner, and every use is in the order of the home stream.
        let is_kept = unsafe { pool::keep(self.address(), self.bytes, self.order.home()) };
        if is_kept {
            self.bytes = 0;
        }
        is_kept
    }
}
