//! Who used a block last, and who must wait for that.
//!
//! Example: a block written on stream A is read on stream B. `begin(Read, B)` makes B wait for what is on A at that
//! moment, which holds the write; `end(Read, B)` notes the read, so that a later write on A, or the free, waits for B.
//!
//! Why the wait is recorded late: an event that is recorded on A only when another stream asks costs nothing as long as
//! one stream is in use, and marks a later point of A than needed, which is right if not the earliest. It needs A to be
//! alive then: our own streams are kept alive by the note. A foreign stream may die without notice, so for it the event
//! is recorded at once.
//!
//! Limits: what a raw pointer does elsewhere cannot be seen; `Allocation::record_stream` says it.

use smallvec::SmallVec;

use crate::device::Device;
use crate::error::Result;
use crate::stream::{Mark, Stream};

/// What an operation does to a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// Only reads it.
    Read,
    /// Writes it.
    Write,
}

/// One use of a block.
pub(super) struct Use {
    stream: Stream,
    /// Recorded already, if the stream is not ours to record on later.
    mark: Option<Mark>,
}

impl Use {
    /// The latest work of `stream`.
    pub(super) fn of(stream: &Stream) -> Result<Self> {
        let mark = if stream.is_foreign() { Some(Mark::record(stream)?) } else { None };
        Ok(Self { stream: stream.clone(), mark })
    }

    /// A use that nothing is known of but its stream, which is ours or the default one.
    pub(super) fn assumed(stream: Stream) -> Self {
        Self { stream, mark: None }
    }

    fn let_wait(&self, waiter: &Stream) -> Result<()> {
        match &self.mark {
            _ if self.stream == *waiter => Ok(()),
            Some(mark) => waiter.wait_event(mark.event()),
            None => waiter.wait_for(&self.stream),
        }
    }

    fn synchronize(&self) -> Result<()> {
        match &self.mark {
            Some(mark) => mark.event().synchronize(),
            None => self.stream.synchronize(),
        }
    }
}

/// The last write of a block and the reads since.
pub(super) struct Usage {
    write: Use,
    reads: SmallVec<[Use; 1]>,
}

impl Usage {
    /// A block that becomes usable in the order of `stream`.
    pub(super) fn new(stream: Stream) -> Self {
        Self { write: Use::assumed(stream), reads: SmallVec::new() }
    }

    /// Makes `stream` wait for whom it must before this access.
    pub(super) fn let_wait(&self, access: Access, stream: &Stream) -> Result<()> {
        // A write waits in any case: what the last writer's stream has read since is noted nowhere else.
        if access == Access::Write || !self.has_waited(stream) {
            self.write.let_wait(stream)?;
        }
        if access == Access::Write {
            self.reads.iter().try_for_each(|read| read.let_wait(stream))?;
        }
        Ok(())
    }

    /// Whether a stream has read since the last write, and so has waited for that. Of a foreign stream only the handle is known,
    /// which another one may have by now.
    fn has_waited(&self, stream: &Stream) -> bool {
        self.reads.iter().any(|read| read.mark.is_none() && read.stream == *stream)
    }

    /// Notes an access that was put on its stream.
    pub(super) fn note(&mut self, access: Access, latest: Use) {
        match access {
            Access::Write => {
                self.write = latest;
                self.reads.clear();
            }
            // A stream of ours that wrote last is waited for up to its end anyway.
            Access::Read if self.write.stream == latest.stream && latest.mark.is_none() => {}
            Access::Read if latest.mark.is_none() && self.has_waited(&latest.stream) => {}
            Access::Read => {
                self.reads.retain(|read| read.stream != latest.stream);
                self.reads.push(latest);
            }
        }
    }

    /// The stream of the last write, unless it is another library's and may be gone.
    pub(super) fn latest_writer(&self) -> Option<Stream> {
        (!self.write.stream.is_foreign()).then(|| self.write.stream.clone())
    }

    /// Whether every use so far is in the order of one stream.
    #[inline]
    pub(super) fn is_only(&self, stream: &Stream) -> bool {
        self.reads.is_empty() && self.write.mark.is_none() && self.write.stream == *stream
    }

    /// What became of the last write, if that was another device's.
    pub(super) fn check_other_devices(&self, device: Device) -> Result<()> {
        if self.write.stream.device() == device { Ok(()) } else { self.write.synchronize() }
    }

    /// Stops the host until every use has ended.
    pub(super) fn synchronize(&self) -> Result<()> {
        self.write.synchronize()?;
        self.reads.iter().try_for_each(Use::synchronize)
    }
}
