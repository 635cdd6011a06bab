//! Work that uses blocks, between the waits it needs and the notes of its uses.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::error::Result;
use crate::lifetime;
use crate::memory::order::Ticket;
use crate::memory::{Access, Allocation};
use crate::stream::Stream;

/// What work does to a block.
pub type Use<'a> = (&'a Arc<Allocation>, Access);

/// Blocks that most work does not use more of.
const USUAL: usize = 8;

/// Uses that have begun. What may have been put on the stream is noted whatever becomes of the rest.
struct Transaction<'a> {
    uses: &'a [Use<'a>],
    stream: &'a Stream,
    tickets: SmallVec<[Ticket; USUAL]>,
    /// Whether work may be on the stream.
    is_put: bool,
}

impl<'a> Transaction<'a> {
    #[inline]
    fn begin(uses: &'a [Use<'a>], stream: &'a Stream) -> Result<Self> {
        let mut transaction = Self { uses, stream, tickets: SmallVec::new(), is_put: false };
        for (block, access) in uses {
            transaction.tickets.push(block.begin(*access, stream)?);
        }
        Ok(transaction)
    }

    #[inline]
    fn end(&mut self) -> Result<()> {
        let mut result = Ok(());
        for (ticket, (block, access)) in self.tickets.drain(..).zip(self.uses) {
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
        if !self.tickets.is_empty() {
            lifetime::defer(self.end());
        }
    }
}

/// Runs `work`, which uses the blocks on the stream and may put something on it even where it fails, between the waits it needs
/// and the notes of its uses. No work that uses a block goes to a driver by another way.
///
/// # Errors
/// `ValueError` for memory that was destroyed by a reset; the driver's; those of `work`.
#[inline]
pub fn ordered<T>(uses: &[Use<'_>], stream: &Stream, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut transaction = Transaction::begin(uses, stream)?;
    transaction.is_put = true;
    let value = work()?;
    transaction.end()?;
    Ok(value)
}
