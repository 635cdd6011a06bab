//! Registers memory blocks whose addresses escaped as integers. The registry maps an address to the block that contains
//! it, and thereby to the block's extent, write permission and recorded uses. The registry keeps no block alive.
//!
//! An array's block is registered when its address is first requested, because registering a block costs more than
//! creating an array.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;

use super::Allocation;
use pygpu_backend::{Address, PointerKind, quarantine};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};
use pygpu_base::small_sort;
use pygpu_device::Device;

/// Kind of a registered block's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressedMemory {
    /// Memory that PyGPU allocated, or imported as a whole allocation. Addresses past the end of the block are invalid.
    Own,
    /// Pinned host memory.
    Pinned,
    /// Imported memory, possibly part of a larger allocation. Addresses past the end of the block may be valid.
    Lent {
        /// Whether writes to the memory are forbidden.
        readonly: bool,
    },
}

struct AddressEntry {
    block: Weak<Allocation>,
    device: Device,
    bytes: usize,
    nature: AddressedMemory,
    /// Whether the user freed the block's memory explicitly. Arrays may still keep the block alive, but its addresses
    /// are no longer valid.
    freed: bool,
}

struct AddressTable {
    /// Registered blocks, keyed by their first address. Of several blocks with the same first address, the most recent
    /// is last.
    entries: BTreeMap<Address, SmallVec<[AddressEntry; 1]>>,
    /// Length in bytes of the longest registered block. A search for an address ignores blocks that begin more than
    /// `longest` bytes before the address.
    longest: usize,
    /// Number of entries at which the entries of freed blocks are removed from the registry.
    sweep_at: usize,
}

const FIRST_SWEEP: usize = 64;

static TABLE: ForkSafeMutex<AddressTable> =
    ForkSafeMutex::new(AddressTable { entries: BTreeMap::new(), longest: 0, sweep_at: FIRST_SWEEP });

/// The live memory blocks that contain an address. PyGPU's own blocks come before imported ones; within each of the two
/// groups, blocks that begin nearer to the address come first.
pub type ContainingBlocks = SmallVec<[(Arc<Allocation>, AddressedMemory); 1]>;

/// Result of looking up an address.
pub enum AddressLookup {
    /// The address is in at least one live memory block.
    Blocks(ContainingBlocks),
    /// The address was in a block that has been freed.
    Freed,
    /// The address is in no registered block.
    Unknown,
}

/// Locks the registry. The caller holds the lock for a few instructions only, and drops no block meanwhile, because
/// freeing a block may call a driver.
fn registry() -> ForkSafeGuard<AddressTable> {
    TABLE.lock()
}

/// Registers a block. Does nothing if the block is already registered.
pub fn register(block: &Arc<Allocation>, nature: AddressedMemory) {
    if block.bytes() == 0 {
        return;
    }
    block.mark_escaped();
    let mut table = registry();
    let same = table.entries.entry(block.address()).or_default();
    if same.iter().any(|entry| entry.is(block)) {
        return;
    }
    same.retain(|entry| entry.is_living());
    let (device, bytes) = (block.device(), block.bytes());
    same.push(AddressEntry { block: Arc::downgrade(block), device, bytes, nature, freed: false });
    table.longest = table.longest.max(block.bytes());
    table.sweep();
    drop(table);
    let is_backends = !block.is_imported() && block.owner().is_none();
    if block.device().is_cpu() && is_backends {
        quarantine::mark_escaped(block.address());
    }
}

/// Marks a memory block as explicitly freed by the user. Its addresses may soon belong to another block.
pub fn forget(block: &Arc<Allocation>) {
    let mut table = registry();
    let entries = table.entries.get_mut(&block.address());
    if let Some(entry) = entries.and_then(|same| same.iter_mut().find(|entry| entry.is(block))) {
        entry.freed = true;
    }
}

/// Returns the live block of kind [`AddressedMemory::Own`] that contains an address.
pub fn find(address: Address) -> Option<Arc<Allocation>> {
    let AddressLookup::Blocks(blocks) = lookup(address) else { return None };
    blocks.into_iter().find_map(|(block, nature)| (nature == AddressedMemory::Own).then_some(block))
}

/// Returns the live blocks that contain an address; if there are none, returns whether the address was in a block that
/// has been freed.
pub fn lookup(address: Address) -> AddressLookup {
    // The references in `blocks` are dropped after the lock is released: each reference may have become the last owner
    // of its block, and the drop of a block may call a driver.
    let mut blocks = ContainingBlocks::new();
    let (mut freed, mut ended) = (false, None);
    for (first, entry) in registry().reaching(address) {
        if address - first >= entry.bytes {
            continue;
        }
        if entry.freed && entry.is_living() {
            freed = true;
            continue;
        }
        match entry.block.upgrade() {
            Some(block) => blocks.push((block, entry.nature)),
            None if entry.nature == AddressedMemory::Own => ended = Some(entry.device),
            None => {}
        }
    }
    blocks.retain(|(block, _)| block.is_alive());
    if blocks.len() > 1 {
        small_sort::sort_by_key(&mut blocks, |(_, nature)| matches!(nature, AddressedMemory::Lent { .. }));
    }
    match blocks.is_empty() {
        false => AddressLookup::Blocks(blocks),
        true if freed
            || quarantine::was_freed(address, 1)
            || ended.is_some_and(|device| is_unknown_to_driver(device, address)) =>
        {
            AddressLookup::Freed
        }
        true => AddressLookup::Unknown,
    }
}

/// Returns whether the driver no longer recognizes an address that was in a freed block. Returns `false` for a host
/// address, because other memory may have this address now.
fn is_unknown_to_driver(device: Device, address: Address) -> bool {
    !device.is_cpu() && matches!(device.backend().pointer_kind(address), Ok(PointerKind::Unregistered))
}

impl AddressEntry {
    fn is(&self, block: &Arc<Allocation>) -> bool {
        std::ptr::eq(self.block.as_ptr(), Arc::as_ptr(block))
    }

    fn is_living(&self) -> bool {
        self.block.strong_count() > 0
    }
}

impl AddressTable {
    /// Returns the entries of the blocks that begin at most `longest` bytes before an address, by descending first
    /// address.
    fn reaching(&self, address: Address) -> impl Iterator<Item = (Address, &AddressEntry)> {
        let least = address.saturating_sub(self.longest);
        // Only the upper bound of the first addresses is searched for in the tree. Few entries lie between the bounds,
        // so scanning them costs less than a second search for the lower bound.
        let near = self.entries.range(..=address).rev().take_while(move |(first, _)| **first >= least);
        near.flat_map(|(&first, same)| same.iter().rev().map(move |entry| (first, entry)))
    }

    /// Removes the entries of freed blocks. Does nothing unless the number of entries has doubled since the last
    /// removal.
    fn sweep(&mut self) {
        if self.entries.len() < self.sweep_at {
            return;
        }
        self.entries.retain(|_, same| {
            same.retain(|entry| entry.is_living());
            !same.is_empty()
        });
        self.longest = self.entries.values().flatten().map(|entry| entry.bytes).max().unwrap_or(0);
        self.sweep_at = (2 * self.entries.len()).max(FIRST_SWEEP);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;
    use pygpu_device::stream::Stream;

    fn block(bytes: usize) -> Arc<Allocation> {
        Arc::new(Allocation::new(bytes, Stream::default_of(Device::cpu().unwrap())).unwrap())
    }

    fn finds(address: Address, allocation: &Arc<Allocation>) -> bool {
        matches!(lookup(address), AddressLookup::Blocks(found) if Arc::ptr_eq(&found[0].0, allocation))
    }

    #[test]
    fn lookup_of_any_byte_finds_live_block() {
        let own = block(100);
        assert!(!finds(own.address(), &own));
        register(&own, AddressedMemory::Own);
        register(&own, AddressedMemory::Own);
        assert!(finds(own.address(), &own) && finds(own.address() + 99, &own));
        assert!(!finds(own.address() + 100, &own) && !finds(own.address() - 1, &own));
        let address = own.address();
        drop(own);
        assert!(matches!(lookup(address), AddressLookup::Freed));
    }

    #[test]
    fn explicitly_freed_block_is_reported_freed_while_array_keeps_it() {
        let own = block(64);
        register(&own, AddressedMemory::Own);
        forget(&own);
        assert!(matches!(lookup(own.address() + 63), AddressLookup::Freed));
    }

    #[test]
    fn lookup_finds_imported_block_unless_own_block_contains_it() {
        let (own, stream) = (block(64), Stream::default_of(Device::cpu().unwrap()));
        // SAFETY: the block `own` keeps the memory alive.
        let part = Arc::new(unsafe { Allocation::unowned(own.address() + 16, 8, stream) });
        register(&part, AddressedMemory::Lent { readonly: true });
        assert!(finds(own.address() + 16, &part) && !finds(own.address() + 24, &part));
        register(&own, AddressedMemory::Own);
        assert!(finds(own.address() + 16, &own));
    }

    #[test]
    fn registry_removes_entries_of_dropped_blocks() {
        for _ in 0..1000 {
            register(&block(32), AddressedMemory::Own);
        }
        let table = registry();
        assert!(table.entries.len() <= table.sweep_at, "{}", table.entries.len());
    }
}
