//! Implements for streams the trait `Queue`, by which [`hazards`](super::hazards) records events and waits for them.

use crate::hazards::Queue;
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::{PooledEvent, Stream, StreamId};

impl Queue for Stream {
    type Identity = StreamId;
    type Mark = PooledEvent;
    type Error = Error;

    #[inline]
    fn identity(&self) -> StreamId {
        Self::identity(self)
    }

    fn lasts(&self) -> bool {
        !self.is_foreign()
    }

    fn mark(&self) -> Result<PooledEvent> {
        PooledEvent::record(self)
    }

    fn wait(&self, mark: &PooledEvent) -> Result<()> {
        self.wait_event(mark.event())
    }

    fn synchronize(&self) -> Result<()> {
        Self::synchronize(self)
    }

    fn synchronize_device(&self) -> Result<()> {
        self.device().synchronize()
    }

    fn is_passed(mark: &PooledEvent) -> bool {
        mark.event().query().unwrap_or(false)
    }

    fn synchronize_mark(mark: &PooledEvent) -> Result<()> {
        mark.event().synchronize()
    }
}
