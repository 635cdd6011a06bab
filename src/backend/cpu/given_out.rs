//! Host memory whose address was given out as a number: kept back for a while after its end.
//!
//! Why: a driver knows that an address was freed, and says so. Here the C library may give the same bytes to NumPy at once, and then
//! nobody could tell a copy to a freed block from one to a new ndarray. As long as a block is kept back its addresses are nobody
//! else's: who comes with one comes too late, and can be told.
//!
//! What is kept is bounded in sum; pages of large blocks go back to the system at once, and only their addresses are kept. Blocks
//! whose address nobody asked for never come here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::heap;
use crate::Address;
use pygpu_base::fork_safe::{Global, Guard};

/// Bytes from which a block gives its pages back.
const LARGE: usize = 1 << 20;
const PAGE: usize = 4096;

struct Kept {
    order: VecDeque<Address>,
    bytes: usize,
    most_bytes: usize,
    most_blocks: usize,
}

struct Table {
    /// Living blocks whose address was given out.
    noted: BTreeSet<Address>,
    /// Ended blocks that nobody else gets yet, and their bytes.
    ended: BTreeMap<Address, usize>,
    /// In the order of their ends: with their pages, and addresses only.
    small: Kept,
    large: Kept,
}

static TABLE: Global<Table> = Global::new(Table {
    noted: BTreeSet::new(),
    ended: BTreeMap::new(),
    small: Kept { order: VecDeque::new(), bytes: 0, most_bytes: 16 << 20, most_blocks: 1024 },
    large: Kept { order: VecDeque::new(), bytes: 0, most_bytes: 64 << 30, most_blocks: 64 },
});

/// A bit for some addresses each, set as soon as one was noted: the end of any other block costs one look here.
static NOTED: [AtomicU64; 1024] = [const { AtomicU64::new(0) }; 1024];

fn bit_of(address: Address) -> (&'static AtomicU64, u64) {
    // Blocks begin at multiples of 16.
    let number = address >> 4;
    (&NOTED[(number >> 6) % NOTED.len()], 1 << (number % 64))
}

/// Whether any block was ever kept back: who asks about an address where none was need not look into the table.
static IS_ANY: AtomicBool = AtomicBool::new(false);

/// Held for moments; memory is given back to the C library without it.
fn table() -> Guard<Table> {
    TABLE.lock()
}

/// Notes that the address of a living block was given out.
pub fn note(address: Address) {
    let (word, bit) = bit_of(address);
    word.fetch_or(bit, Ordering::Relaxed);
    table().noted.insert(address);
}

/// Whether the range touches a block that has ended.
pub fn was_freed(address: Address, bytes: usize) -> bool {
    if !IS_ANY.load(Ordering::Relaxed) {
        return false;
    }
    let end = address.saturating_add(bytes.max(1));
    table().ended.range(..end).next_back().is_some_and(|(first, size)| first + size > address)
}

/// Takes over a block that ends, if its address was given out.
///
/// # Safety
/// The block came from `heap::allocate` with the same `bytes`, and nothing uses it any more.
#[inline]
pub(super) unsafe fn keep_back(address: Address, bytes: usize) -> bool {
    let (word, bit) = bit_of(address);
    // SAFETY: the caller's promise is the same.
    word.load(Ordering::Relaxed) & bit != 0 && unsafe { keep_noted_back(address, bytes) }
}

/// # Safety
/// As for [`keep_back`].
#[cold]
unsafe fn keep_noted_back(address: Address, bytes: usize) -> bool {
    let surplus = {
        let mut table = table();
        if !table.noted.remove(&address) {
            return false;
        }
        table.ended.insert(address, bytes);
        IS_ANY.store(true, Ordering::Relaxed);
        let Table { ended, small, large, .. } = &mut *table;
        let kept = if bytes < LARGE { small } else { large };
        kept.order.push_back(address);
        kept.bytes += bytes;
        kept.surplus(ended)
    };
    if bytes >= LARGE && !surplus.iter().any(|(first, _)| *first == address) {
        // SAFETY: nobody uses the block any more.
        unsafe { heap::give_pages_back(address, bytes, PAGE) };
    }
    free_all(&surplus);
    true
}

impl Kept {
    /// The oldest blocks beyond what is kept, in no list any more.
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
        // SAFETY: `keep_back` was promised that nothing uses the block, and it is in no list any more.
        unsafe { heap::free(address, bytes) };
    }
}

/// Gives all that is kept back to the C library.
pub fn trim() {
    let ended = {
        let mut table = table();
        let Table { small, large, .. } = &mut *table;
        for kept in [small, large] {
            kept.order.clear();
            kept.bytes = 0;
        }
        std::mem::take(&mut table.ended)
    };
    free_all(&ended.into_iter().collect::<Vec<_>>());
}

/// Bytes that are kept of ended blocks, without those whose pages went back.
pub fn kept() -> usize {
    table().small.bytes
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::super::memory::{block, give_back};
    use super::*;

    /// The table is the process's, and other tests give blocks out too.
    static ONE_AT_A_TIME: Global<()> = Global::new(());

    #[test]
    fn a_block_whose_address_was_given_out_is_known_as_freed_and_nobody_elses() {
        let _turn = ONE_AT_A_TIME.lock();
        for bytes in [16, 100_000, 5 << 20] {
            let address = block(bytes).unwrap();
            note(address);
            assert!(!was_freed(address, bytes));
            // SAFETY: a block of so many bytes, which nobody uses.
            unsafe { give_back(address, bytes) };
            assert!(was_freed(address, 1) && was_freed(address + bytes - 1, 100));
            assert!(was_freed(address - 8, 9));
            let others: Vec<_> = (0..8).map(|_| block(bytes).unwrap()).collect();
            assert!(others.iter().all(|other| other.abs_diff(address) >= bytes));
            // SAFETY: as above.
            others.iter().for_each(|other| unsafe { give_back(*other, bytes) });
            trim();
            assert!(!was_freed(address, bytes));
        }
    }

    #[test]
    fn what_nobody_asked_for_is_freed_at_once() {
        let _turn = ONE_AT_A_TIME.lock();
        let address = block(4000).unwrap();
        // SAFETY: a block of so many bytes, which nobody uses.
        unsafe { give_back(address, 4000) };
        assert!(!was_freed(address, 4000));
    }

    #[test]
    fn no_more_is_kept_than_the_bound() {
        let _turn = ONE_AT_A_TIME.lock();
        trim();
        for _ in 0..40 {
            let address = block(LARGE - 64).unwrap();
            note(address);
            // SAFETY: a block of so many bytes, which nobody uses.
            unsafe { give_back(address, LARGE - 64) };
        }
        assert!(kept() <= 16 << 20, "{}", kept());
        assert!(kept() > 14 << 20, "{}", kept());
        trim();
        assert_eq!(kept(), 0);
    }
}
