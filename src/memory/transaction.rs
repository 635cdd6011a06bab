//! Work that uses blocks, between the waits it needs and the notes of its uses.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::order::Ticket;
use crate::{Access, Allocation, capture};
use pygpu_base::error::Result;
use pygpu_base::flush::{self, Cause};
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;

/// What work does to a block.
pub type Use<'a> = (&'a Arc<Allocation>, Access);

/// Blocks that most work does not use more of.
const USUAL: usize = 8;

/// Which uses have begun.
enum Begun {
    /// None, or all have ended.
    Nothing,
    /// All, of blocks that no other stream than this one has used: nearly always.
    AtHome,
    /// So many of them, with what each begin gave.
    Each(SmallVec<[Ticket; USUAL]>),
}

/// Uses that have begun. What may have been put on the stream is noted whatever becomes of the rest.
struct Transaction<'a> {
    uses: &'a [Use<'a>],
    stream: &'a Stream,
    begun: Begun,
    /// Whether work may be on the stream.
    is_put: bool,
}

impl<'a> Transaction<'a> {
    #[inline]
    fn new(uses: &'a [Use<'a>], stream: &'a Stream) -> Self {
        Self { uses, stream, begun: Begun::Nothing, is_put: false }
    }

    #[inline]
    fn begin(&mut self) -> Result<()> {
        let identity = self.stream.identity();
        if capture::is_any() || !self.uses.iter().all(|(block, _)| block.is_at_home(identity)) {
            return self.begin_each();
        }
        self.begun = Begun::AtHome;
        Ok(())
    }

    #[inline(never)]
    fn begin_each(&mut self) -> Result<()> {
        self.begun = Begun::Each(SmallVec::new());
        if let Some(capture) = capture::of(self.stream)? {
            capture.begin_work(self.stream)?;
        }
        for (block, access) in self.uses {
            let ticket = block.begin(*access, self.stream)?;
            if let Begun::Each(tickets) = &mut self.begun {
                tickets.push(ticket);
            }
        }
        Ok(())
    }

    #[inline]
    fn end(&mut self) -> Result<()> {
        let is_untouched = || self.uses.iter().all(|(block, _)| block.is_untouched());
        if matches!(self.begun, Begun::AtHome) && (!self.is_put || is_untouched()) {
            self.begun = Begun::Nothing;
            return Ok(());
        }
        self.end_noted()
    }

    #[inline(never)]
    fn end_noted(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.begun, Begun::Nothing) {
            Begun::Nothing => Ok(()),
            Begun::AtHome => self.end_each(std::iter::repeat(Ticket::AT_HOME)),
            Begun::Each(tickets) => self.end_each(tickets.into_iter()),
        }
    }

    fn end_each(&self, tickets: impl Iterator<Item = Ticket>) -> Result<()> {
        let mut result = Ok(());
        if let Some(capture) = capture::of(self.stream)?
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
        result
    }
}

impl Drop for Transaction<'_> {
    #[inline]
    fn drop(&mut self) {
        if !matches!(self.begun, Begun::Nothing) {
            shutdown::defer(self.end());
        }
    }
}

/// Launches the pending operations that must come before work of this thread on some blocks, and refuses blocks that are lost. Nothing
/// runs Python from here until the work is on its stream, so that no block is lost meanwhile by this thread.
///
/// # Errors
/// Those of deferred operations that write one of the blocks.
#[cold]
#[inline(never)]
fn come_after_pending(uses: &[Use<'_>]) -> Result<()> {
    if flush::is_in_batch() {
        return uses.iter().try_for_each(|(block, _)| block.check_lost());
    }
    flush::flush(Cause::Work);
    for (block, access) in uses {
        block.flush(*access, Cause::Work);
    }
    uses.iter().try_for_each(|(block, _)| block.check())
}

/// Runs `work`, which uses the blocks on the stream and may put something on it even where it fails, between the waits it needs
/// and the notes of its uses. No work that uses a block goes to a driver by another way.
///
/// # Errors
/// `ValueError` for memory that was destroyed by a reset; the driver's; those of `work`.
#[inline]
pub fn ordered<T>(uses: &[Use<'_>], stream: &Stream, work: impl FnOnce() -> Result<T>) -> Result<T> {
    if flush::is_any() {
        come_after_pending(uses)?;
    }
    let mut transaction = Transaction::new(uses, stream);
    transaction.begin()?;
    transaction.is_put = true;
    let value = work()?;
    transaction.end()?;
    Ok(value)
}
