//! Quarantines freed host memory whose address escaped as a number.
//!
//! A GPU driver detects the use of a freed address, and the CPU backend should do so too. On the host, the C library
//! may reuse a freed address immediately for a NumPy array. A later copy to the freed block would silently change this
//! array. While a block is in quarantine its addresses have no other owner, so a stale address is detected.
//!
//! The total size of the blocks in quarantine is bounded. Pages of large blocks are returned to the system immediately,
//! so that only the addresses stay reserved. Blocks whose address never escaped are freed immediately.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::heap;
use crate::Address;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

/// Minimum size in bytes of the blocks whose pages are returned to the system during the quarantine.
const LARGE: usize = 1 << 20;
const PAGE: usize = 4096;

struct QuarantineQueue {
    order: VecDeque<Address>,
    bytes: usize,
    most_bytes: usize,
    most_blocks: usize,
}

struct Quarantine {
    /// Addresses of live memory blocks that escaped, i.e. became visible outside PyGPU. These blocks enter the
    /// quarantine when they are freed.
    noted: BTreeSet<Address>,
    /// Size in bytes of each freed block in quarantine, keyed by the block's address.
    ended: BTreeMap<Address, usize>,
    /// Blocks in the order in which they were freed: `small` ones keep their pages, `large` ones only their addresses.
    small: QuarantineQueue,
    large: QuarantineQueue,
}

static TABLE: ForkSafeMutex<Quarantine> = ForkSafeMutex::new(Quarantine {
    noted: BTreeSet::new(),
    ended: BTreeMap::new(),
    small: QuarantineQueue { order: VecDeque::new(), bytes: 0, most_bytes: 16 << 20, most_blocks: 1024 },
    large: QuarantineQueue { order: VecDeque::new(), bytes: 0, most_bytes: 64 << 30, most_blocks: 64 },
});

/// Filter that avoids most lookups in `TABLE`: one bit per group of addresses. The bit is set when an address of the
/// group escapes. To free a block whose bit is 0, one load of the filter suffices.
static NOTED: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

fn bit_of(address: Address) -> (&'static AtomicU64, u64) {
    // Blocks begin at multiples of 16, so the lowest four bits contain no information.
    let number = address >> 4;
    (&NOTED[(number >> 6) % NOTED.len()], 1 << (number % 64))
}

/// Whether any block has ever been in quarantine. As long as this is false, queries for an address do not search
/// `TABLE`.
static IS_ANY: AtomicBool = AtomicBool::new(false);

/// Locks `TABLE`. The caller holds the lock for a few instructions only, and returns memory to the C library after it
/// has released the lock.
fn table() -> ForkSafeGuard<Quarantine> {
    TABLE.lock()
}

/// Records that the address of a live block escaped.
pub fn mark_escaped(address: Address) {
    let (word, bit) = bit_of(address);
    word.fetch_or(bit, Ordering::Relaxed);
    table().noted.insert(address);
}

/// Returns whether the range overlaps a freed block in quarantine.
pub fn was_freed(address: Address, bytes: usize) -> bool {
    if !IS_ANY.load(Ordering::Relaxed) {
        return false;
    }
    let end = address.saturating_add(bytes.max(1));
    table().ended.range(..end).next_back().is_some_and(|(first, size)| first + size > address)
}

/// Puts a freed block into quarantine if its address escaped. Returns whether the quarantine took the block; otherwise
/// the caller frees the block.
///
/// # Safety
/// The block came from `heap::allocate` with the same `bytes`, and is no longer in use.
#[inline]
pub(super) unsafe fn withhold(address: Address, bytes: usize) -> bool {
    let (word, bit) = bit_of(address);
    // SAFETY: the caller guarantees the conditions of `withhold_escaped`.
    word.load(Ordering::Relaxed) & bit != 0 && unsafe { withhold_escaped(address, bytes) }
}

/// Puts a freed block into quarantine if its address is recorded as escaped.
///
/// # Safety
/// The conditions of [`withhold`] apply.
#[cold]
unsafe fn withhold_escaped(address: Address, bytes: usize) -> bool {
    let surplus = {
        let mut table = table();
        if !table.noted.remove(&address) {
            return false;
        }
        table.ended.insert(address, bytes);
        IS_ANY.store(true, Ordering::Relaxed);
        let Quarantine { ended, small, large, .. } = &mut *table;
        let kept = if bytes < LARGE { small } else { large };
        kept.order.push_back(address);
        kept.bytes += bytes;
        kept.surplus(ended)
    };
    if bytes >= LARGE && !surplus.iter().any(|(first, _)| *first == address) {
        // SAFETY: the caller guarantees that the block came from `heap::allocate` and is no longer in use.
        unsafe { heap::give_pages_back(address, bytes, PAGE) };
    }
    free_all(&surplus);
    true
}

impl QuarantineQueue {
    /// Removes the oldest blocks from the quarantine until the remaining blocks are within the size limits. Returns the
    /// removed blocks.
    fn surplus(&mut self, ended: &mut BTreeMap<Address, usize>) -> Vec<(Address, usize)> {
        let mut surplus = Vec::new();
        while self.bytes > self.most_bytes || self.order.len() > self.most_blocks {
            let Some(oldest) = self.order.pop_front() else { break };
            let bytes = ended.remove(&oldest).unwrap_or(0);
            self.bytes -= bytes;
            surplus.push((oldest, bytes));
        }
        surplus
    }
}

fn free_all(blocks: &[(Address, usize)]) {
    for &(address, bytes) in blocks {
        // SAFETY: the caller of `withhold` guaranteed that the block is not in use, and it was removed from the table.
        unsafe { heap::free(address, bytes) };
    }
}

/// Returns all quarantined memory to the C library.
pub fn trim() {
    let ended = {
        let mut table = table();
        let Quarantine { small, large, .. } = &mut *table;
        for kept in [small, large] {
            kept.order.clear();
            kept.bytes = 0;
        }
        std::mem::take(&mut table.ended)
    };
    free_all(&ended.into_iter().collect::<Vec<_>>());
}

/// Returns the number of bytes in quarantine, without blocks whose pages were returned to the system.
pub fn quarantined_bytes() -> usize {
    table().small.bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::super::memory::{block, give_back};
    use super::*;

    /// Lock that each test holds while it runs, because all tests share the table of the process.
    static ONE_AT_A_TIME: ForkSafeMutex<()> = ForkSafeMutex::new(());

    #[test]
    fn freed_block_with_escaped_address_is_detected_and_not_reused() {
        let _turn = ONE_AT_A_TIME.lock();
        for bytes in [16, 100_000, 5 << 20] {
            let address = block(bytes).unwrap();
            mark_escaped(address);
            assert!(!was_freed(address, bytes));
            // SAFETY: the block has this many bytes and is not in use.
            unsafe { give_back(address, bytes) };
            assert!(was_freed(address, 1) && was_freed(address + bytes - 1, 100));
            assert!(was_freed(address - 8, 9));
            let others: Vec<_> = (0..8).map(|_| block(bytes).unwrap()).collect();
            assert!(others.iter().all(|other| other.abs_diff(address) >= bytes));
            // SAFETY: each block has this many bytes and is not in use.
            others.iter().for_each(|other| unsafe { give_back(*other, bytes) });
            trim();
            assert!(!was_freed(address, bytes));
        }
    }

    #[test]
    fn block_without_escaped_address_is_freed_immediately() {
        let _turn = ONE_AT_A_TIME.lock();
        let address = block(4000).unwrap();
        // SAFETY: the block has this many bytes and is not in use.
        unsafe { give_back(address, 4000) };
        assert!(!was_freed(address, 4000));
    }

    #[test]
    fn quarantine_stays_within_its_bound() {
        let _turn = ONE_AT_A_TIME.lock();
        trim();
        for _ in 0..40 {
            let address = block(LARGE - 64).unwrap();
            mark_escaped(address);
            // SAFETY: the block has this many bytes and is not in use.
            unsafe { give_back(address, LARGE - 64) };
        }
        assert!(quarantined_bytes() <= 16 << 20, "{}", quarantined_bytes());
        assert!(quarantined_bytes() > 14 << 20, "{}", quarantined_bytes());
        trim();
        assert_eq!(quarantined_bytes(), 0);
    }
}
