//! Implements the queue trait of [`order`](super::order) for streams.

use crate::hazards::Queue;
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::{Identity, Mark, Stream};

impl Queue for Stream {
    type Identity = Identity;
    type Mark = Mark;
    type Error = Error;

    #[inline]
    fn identity(&self) -> Identity {
        Self::identity(self)
    }

    fn lasts(&self) -> bool {
        !self.is_foreign()
    }

    fn mark(&self) -> Result<Mark> {
        Mark::record(self)
    }

    fn wait(&self, mark: &Mark) -> Result<()> {
        self.wait_event(mark.event())
    }

    fn synchronize(&self) -> Result<()> {
        Self::synchronize(self)
    }

    fn synchronize_device(&self) -> Result<()> {
        self.device().synchronize()
    }

    fn is_passed(mark: &Mark) -> bool {
        mark.event().query().unwrap_or(false)
    }

    fn synchronize_mark(mark: &Mark) -> Result<()> {
        mark.event().synchronize()
    }
}
