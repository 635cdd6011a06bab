//! Caches large blocks of ordinary host memory for the results of copies to the host.
//!
//! The first access to new memory costs more than a copy into it, because the system clears every page. The size of the
//! cached memory is limited (`set_limit`). The system may take the pages of cached blocks if it runs short of memory
//! (`MADV_FREE`). Otherwise the reuse of a block causes no page faults.
//!
//! The cache contains only large blocks, each of whole huge pages; smaller blocks come from the C library. This module
//! depends on neither devices nor Python.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use pygpu_backend::Address;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

/// Size of a huge page in bytes. The size of each block is a multiple of this size.
const HUGE: usize = 2 << 20;
/// Minimum size in bytes of the memory blocks that this cache provides.
pub const LEAST: usize = HUGE;
/// Divisor for the default limit of the cached memory, which is the machine's memory divided by this number.
const PART: usize = 16;

struct FreeBlocks {
    /// Address and size of the most recently freed block. The system may not take its pages, because a loop that drops
    /// each result reuses the block immediately.
    latest: Option<(Address, usize)>,
    /// Addresses and sizes of all cached blocks except the most recently freed one. The system may take their pages.
    kept: Vec<(Address, usize)>,
    /// Total size of the cached blocks in bytes.
    kept_bytes: usize,
    /// Sizes in bytes of the blocks in use, by address.
    held: BTreeMap<Address, usize>,
}

static BLOCKS: ForkSafeMutex<FreeBlocks> =
    ForkSafeMutex::new(FreeBlocks { latest: None, kept: Vec::new(), kept_bytes: 0, held: BTreeMap::new() });
/// Limit of the cached memory in bytes. It is `UNSET` until it is first read.
static BOUND: AtomicUsize = AtomicUsize::new(UNSET);
const UNSET: usize = usize::MAX;

fn blocks() -> ForkSafeGuard<FreeBlocks> {
    BLOCKS.lock()
}

impl FreeBlocks {
    /// Takes a cached block of at least `bytes` bytes: the most recently freed block if it fits, otherwise the smallest
    /// block that fits.
    fn take(&mut self, bytes: usize) -> Option<(Address, usize)> {
        // A cached block may exceed the requested size by at most a quarter of that size.
        let fits = |size: usize| size >= bytes && size - bytes <= bytes / 4;
        if self.latest.is_some_and(|(_, size)| fits(size)) {
            return self.latest.take();
        }
        let best = self.kept.iter().map(|(_, size)| *size).filter(|&size| fits(size)).min()?;
        let place = self.kept.iter().rposition(|(_, size)| *size == best)?;
        Some(self.kept.remove(place))
    }
}

/// Allocates at least `bytes` uninitialized bytes, or returns `None` if the system is out of memory.
pub fn allocate(bytes: usize) -> Option<Address> {
    let bytes = bytes.max(1).checked_next_multiple_of(HUGE)?;
    let found = {
        let mut blocks = blocks();
        let taken = blocks.take(bytes);
        taken.map(|(address, size)| {
            blocks.kept_bytes -= size;
            blocks.held.insert(address, size);
            address
        })
    };
    if found.is_some() {
        return found;
    }
    // SAFETY: `bytes` is a nonzero multiple of `HUGE`.
    let address = unsafe { map(bytes) }.or_else(|| {
        trim(0);
        // SAFETY: `bytes` is a nonzero multiple of `HUGE`.
        unsafe { map(bytes) }
    })?;
    blocks().held.insert(address, bytes);
    Some(address)
}

/// Caches a block for reuse. If the limit is then exceeded, the oldest cached blocks are returned to the system.
///
/// # Safety
/// The address must come from `allocate`, and the memory must not be used any more.
pub unsafe fn free(address: Address) {
    let Some(size) = blocks().held.remove(&address) else { return };
    if size > limit() {
        // SAFETY: the block has `size` bytes, and was removed from all lists, so no thread can use it.
        unsafe { unmap(address, size) };
        return;
    }
    let before = {
        let mut blocks = blocks();
        blocks.kept_bytes += size;
        blocks.latest.replace((address, size))
    };
    if let Some((address, size)) = before {
        // SAFETY: the block is mapped and in no list, so no thread can use it, and its contents are not needed. Older
        // systems reject the call; the pages then stay allocated.
        unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(address), size, libc::MADV_FREE) };
        blocks().kept.push((address, size));
    }
    trim(limit());
}

/// Returns the oldest cached blocks to the system until at most `keep` bytes are cached.
pub fn trim(keep: usize) {
    let surplus: Vec<_> = {
        let mut blocks = blocks();
        let mut count = 0;
        while blocks.kept_bytes > keep && count < blocks.kept.len() {
            blocks.kept_bytes -= blocks.kept[count].1;
            count += 1;
        }
        let mut surplus: Vec<_> = blocks.kept.drain(..count).collect();
        if blocks.kept_bytes > keep
            && let Some(latest) = blocks.latest.take()
        {
            blocks.kept_bytes -= latest.1;
            surplus.push(latest);
        }
        surplus
    };
    for (address, size) in surplus {
        // SAFETY: the block has `size` bytes, is not in use, and was removed from all lists.
        unsafe { unmap(address, size) };
    }
}

/// Returns the limit of the cached memory in bytes.
pub fn limit() -> usize {
    match BOUND.load(Ordering::Relaxed) {
        UNSET => {
            let part = machine_memory() / PART;
            BOUND.compare_exchange(UNSET, part, Ordering::Relaxed, Ordering::Relaxed).err().unwrap_or(part)
        }
        bytes => bytes,
    }
}

/// Sets the limit of the cached memory in bytes, and returns cached memory beyond the new limit to the system.
pub fn set_limit(bytes: usize) {
    BOUND.store(bytes.min(UNSET - 1), Ordering::Relaxed);
    trim(bytes);
}

/// Returns the total size of the cached blocks in bytes.
pub fn kept() -> usize {
    blocks().kept_bytes
}

/// Returns the usable size in bytes of a block in use, or 0 for other addresses.
pub fn size(address: Address) -> usize {
    blocks().held.get(&address).copied().unwrap_or(0)
}

/// Sets whether forked child processes inherit a memory block. Memory that a device writes must not be inherited: after
/// a fork, the first process that writes a page gets a copy of the page, and the device would continue to write the
/// original.
pub fn set_inherited(address: Address, inherited: bool) {
    #[cfg(target_os = "linux")]
    // SAFETY: the block is mapped, or its size is 0; the call does not change its contents.
    unsafe {
        let advice = if inherited { libc::MADV_DOFORK } else { libc::MADV_DONTFORK };
        libc::madvise(std::ptr::with_exposed_provenance_mut(address), size(address), advice);
    }
}

/// Writes into each page of a block, so that the system allocates and clears the pages during this call.
///
/// # Safety
/// The block must be in use and contain no data yet.
pub unsafe fn touch(address: Address) {
    let first: *mut u8 = std::ptr::with_exposed_provenance_mut(address);
    for place in (0..size(address)).step_by(HUGE) {
        // SAFETY: the offset is inside the block, and the caller guarantees that it contains no data.
        unsafe { first.add(place).write_volatile(0) };
    }
}

/// Maps new memory that consists of whole huge pages.
///
/// # Safety
/// `bytes` must be a nonzero multiple of `HUGE`.
unsafe fn map(bytes: usize) -> Option<Address> {
    let (readable, private) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    let reserved = bytes.checked_add(HUGE)?;
    // SAFETY: the call maps new memory at an address that the system chooses.
    let first = unsafe { libc::mmap(std::ptr::null_mut(), reserved, readable, private, -1, 0) };
    if first == libc::MAP_FAILED {
        return None;
    }
    let start = first.expose_provenance();
    let address = start.next_multiple_of(HUGE);
    // SAFETY: all ranges are inside the new mapping. The parts before and after the block, which are unmapped, are
    // unused.
    unsafe {
        unmap(start, address - start);
        unmap(address + bytes, start + HUGE - address);
        // The call fails on systems without huge pages. The error is ignored, because the memory is then mapped with
        // small pages.
        #[cfg(target_os = "linux")]
        libc::madvise(std::ptr::with_exposed_provenance_mut(address), bytes, libc::MADV_HUGEPAGE);
    }
    Some(address)
}

/// Unmaps a range of memory.
///
/// # Safety
/// The range must be empty, or memory that this module mapped and that is not used any more.
unsafe fn unmap(address: Address, bytes: usize) {
    if bytes > 0 {
        // SAFETY: the caller guarantees that the range is empty, or unused memory that this module mapped.
        unsafe { libc::munmap(std::ptr::with_exposed_provenance_mut(address), bytes) };
    }
}

fn machine_memory() -> usize {
    // SAFETY: `sysconf` has no preconditions.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    usize::try_from(pages).unwrap_or(0).saturating_mul(usize::try_from(size).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Frees a block of `allocate` that the test does not use afterwards.
    fn release(block: Address) {
        // SAFETY: each test passes blocks that `allocate` returned to it, and accesses none of their memory.
        unsafe { free(block) };
    }

    fn turn() -> MutexGuard<'static, ()> {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        set_limit(64 << 20);
        trim(0);
        turn
    }

    #[test]
    fn freed_host_block_is_reused() {
        let _turn = turn();
        let first = allocate(5 << 20).unwrap();
        assert_eq!((first % HUGE, size(first)), (0, 6 << 20));
        release(first);
        assert_eq!(kept(), 6 << 20);
        assert_eq!(allocate((5 << 20) + 1), Some(first));
        assert_eq!(kept(), 0);
        release(first);
    }

    #[test]
    fn live_host_blocks_do_not_overlap() {
        let _turn = turn();
        let (one, two) = (allocate(HUGE).unwrap(), allocate(HUGE).unwrap());
        assert!(one.abs_diff(two) >= HUGE);
        release(one);
        release(two);
    }

    #[test]
    fn large_cached_block_is_not_used_for_small_request() {
        let _turn = turn();
        let large = allocate(32 << 20).unwrap();
        release(large);
        let small = allocate(4 << 20).unwrap();
        assert_ne!(small, large);
        assert_eq!(kept(), 32 << 20);
        release(small);
    }

    #[test]
    fn host_block_cache_stays_within_limit_and_evicts_oldest_first() {
        let _turn = turn();
        set_limit(8 << 20);
        let blocks: Vec<_> = (0..3).map(|_| allocate(4 << 20).unwrap()).collect();
        blocks.iter().for_each(|&block| release(block));
        assert_eq!(kept(), 8 << 20);
        assert_eq!(allocate(4 << 20), Some(blocks[2]));
        release(blocks[2]);
        set_limit(0);
        assert_eq!(kept(), 0);
    }

    #[test]
    fn allocate_rejects_size_beyond_address_space() {
        let _turn = turn();
        assert_eq!(allocate(usize::MAX), None);
        assert_eq!(allocate(usize::MAX / 2), None);
    }
}
