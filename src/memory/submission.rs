//! Submits work on memory blocks to a stream: makes the stream wait for conflicting uses of the blocks, enqueues the
//! work, and records its uses.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::hazards::UseToken;
use crate::{Access, Allocation, stream_captures, stream_check};
use pygpu_base::error::Result;
use pygpu_base::flush_points::{self, FlushReason};
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// A memory block that submitted work uses, and the kind of access.
pub type BlockUse<'a> = (&'a Arc<Allocation>, Access);

/// Number of use tokens that are stored without a heap allocation. Most work uses no more blocks than this.
const USUAL: usize = 8;

/// The uses of a submission that have begun and have not ended yet.
enum BegunUses {
    /// No use has begun, or all have ended.
    Nothing,
    /// All uses have begun, and no stream but that of the submission has ever used the blocks. This is the most common
    /// case.
    SingleStream,
    /// Only the first uses in the submission's list have begun: as many uses as there are tokens.
    Each(SmallVec<[UseToken; USUAL]>),
}

/// A submission in progress. If its work may have been enqueued, its uses are recorded even if a later step fails.
struct Submission<'a> {
    uses: &'a [BlockUse<'a>],
    stream: &'a Stream,
    begun: BegunUses,
    /// Whether work of the submission may have been enqueued already.
    is_put: bool,
}

impl<'a> Submission<'a> {
    #[inline]
    fn new(uses: &'a [BlockUse<'a>], stream: &'a Stream) -> Self {
        Self { uses, stream, begun: BegunUses::Nothing, is_put: false }
    }

    #[inline]
    fn begin(&mut self) -> Result<()> {
        let identity = self.stream.identity();
        if stream_captures::observes_work() || !self.uses.iter().all(|(block, _)| block.is_only_used_on(identity)) {
            return self.begin_each();
        }
        self.begun = BegunUses::SingleStream;
        Ok(())
    }

    #[inline(never)]
    fn begin_each(&mut self) -> Result<()> {
        self.begun = BegunUses::Each(SmallVec::new());
        if let Some(capture) = stream_captures::of(self.stream)? {
            capture.begin_work(self.stream)?;
        }
        for (block, access) in self.uses {
            let ticket = block.begin(*access, self.stream)?;
            if let BegunUses::Each(tickets) = &mut self.begun {
                tickets.push(ticket);
            }
            if stream_captures::observes_work() {
                stream_check::check_use(block, *access, self.stream);
            }
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self) -> Result<()> {
        let is_untouched = || self.uses.iter().all(|(block, _)| block.has_no_other_stream());
        if matches!(self.begun, BegunUses::SingleStream) && (!self.is_put || is_untouched()) {
            self.begun = BegunUses::Nothing;
            return Ok(());
        }
        self.end_recorded()
    }

    #[inline(never)]
    fn end_recorded(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.begun, BegunUses::Nothing) {
            BegunUses::Nothing => Ok(()),
            BegunUses::SingleStream => self.end_each(std::iter::repeat(UseToken::AT_HOME)),
            BegunUses::Each(tickets) => self.end_each(tickets.into_iter()),
        }
    }

    fn end_each(&self, tickets: impl Iterator<Item = UseToken>) -> Result<()> {
        let mut result = Ok(());
        if let Some(capture) = stream_captures::of(self.stream)?
            && self.is_put
        {
            result = capture.end_work(self.uses, self.stream);
        }
        for (ticket, (block, access)) in tickets.zip(self.uses) {
            if self.is_put {
                result = result.and(block.end(ticket, *access, self.stream));
            } else {
                block.cancel(ticket);
            }
        }
        if stream_captures::observes_work() {
            stream_check::note_own_work(self.stream);
            stream_check::end_launch(self.stream);
        }
        result
    }
}

impl Drop for Submission<'_> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.begun, BegunUses::Nothing) {
            shutdown::defer(self.end());
        }
    }
}

/// Flushes the pending operations that must precede this thread's work on the blocks, and returns the error of a lost
/// block, whose values were not computed because an operation failed. No Python code runs between this call and the
/// enqueueing of the work, so this thread cannot make a block lost meanwhile.
///
/// # Errors
/// Errors of deferred operations that write one of the blocks.
#[cold]
#[inline(never)]
fn come_after_pending(uses: &[BlockUse<'_>]) -> Result<()> {
    if flush_points::is_in_batch() {
        return uses.iter().try_for_each(|(block, _)| block.check_lost());
    }
    flush_points::flush(FlushReason::OtherWork);
    for (block, access) in uses {
        block.flush(*access, FlushReason::OtherWork);
    }
    uses.iter().try_for_each(|(block, _)| block.check())
}

/// Makes the stream wait for conflicting uses, runs `work`, which enqueues work on the stream, and records the uses.
/// Even if `work` fails, it may have enqueued work. All work that uses blocks must be submitted through this function.
///
/// # Errors
/// `ValueError` for memory destroyed by a device reset; driver errors; errors of `work`.
#[inline]
pub fn ordered<T>(uses: &[BlockUse<'_>], stream: &Stream, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if flush_points::has_pending() {
        come_after_pending(uses)?;
    }
    let mut transaction = Submission::new(uses, stream);
    transaction.begin()?;
    transaction.is_put = true;
    let value = work()?;
    transaction.end()?;
    Ok(value)
}
