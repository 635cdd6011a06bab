//! Host memory that the driver knows: pinned, registered, managed.

use crate::arena::{FRESH, pointer};
use crate::clock::Clock;
use crate::code::{HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, OUT_OF_MEMORY, Outcome};
use crate::driver::Driver;
use crate::finding::Kind;
use crate::history::History;
use crate::state::State;

/// How the driver came to know a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostKind {
    /// Allocated pinned.
    Pinned,
    /// Somebody else's, pinned later.
    Registered,
    /// Managed: host and devices share it.
    Managed,
}

pub(crate) struct HostBlock {
    pub(crate) bytes: u64,
    pub(crate) kind: HostKind,
    /// The device that was current.
    pub(crate) device: usize,
    pub(crate) history: History,
}

/// Pinned blocks are larger than this before anything of them stays unpoisoned.
const POISONED: u64 = 1 << 20;
const PAGE: u64 = 4096;

impl State {
    /// The known host block that holds an address.
    pub(crate) fn host_at(&self, address: u64) -> Option<(u64, &HostBlock)> {
        let (start, block) = self.host.range(..=address).next_back()?;
        (address - start < block.bytes).then_some((*start, block))
    }

    /// Unpins what a device that has failed had pinned.
    pub(crate) fn forget_registered(&mut self, device: usize) {
        self.host.retain(|_, block| block.kind != HostKind::Registered || block.device != device);
    }

    /// Forgets what was made or pinned in the context of a device, which is gone. The memory stays mapped: a driver takes it
    /// away, but a program that still reads it should fail in a test and not crash.
    pub(crate) fn forget_host(&mut self, device: usize) {
        self.host.retain(|_, block| block.device != device);
    }

    fn has_host_in(&self, start: u64, end: u64) -> bool {
        self.host.range(..end).next_back().is_some_and(|(first, block)| first + block.bytes > start)
    }
}

impl Driver {
    /// Pinned or managed memory.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`, or another code.
    pub fn allocate_host(&self, device: usize, bytes: u64, kind: HostKind) -> Outcome<u64> {
        let space = bytes.checked_next_multiple_of(PAGE).filter(|_| bytes > 0).ok_or(INVALID_VALUE)?;
        self.lock().refuse_unsafe()?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, wherever the system likes.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), space as usize, protection, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(OUT_OF_MEMORY);
        }
        // SAFETY: the mapping is that long and nobody else knows of it.
        unsafe { address.cast::<u8>().write_bytes(FRESH, bytes.min(POISONED) as usize) };
        let start = address.expose_provenance() as u64;
        self.lock().host.insert(start, HostBlock { bytes, kind, device, history: History::default() });
        Ok(start)
    }

    /// Gives pinned or managed memory back, which waits for all devices.
    ///
    /// # Errors
    /// A code.
    pub fn free_host(&self, call: &'static str, address: u64) -> Outcome<()> {
        if address == 0 {
            return Ok(());
        }
        self.lock().refuse_unsafe()?;
        self.drain_all();
        let mut state = self.lock();
        let block = state.host.get(&address).filter(|block| block.kind != HostKind::Registered);
        let Some(bytes) = block.map(|block| block.bytes) else {
            state.note(Kind::BadAddress, call, format!("{address:#x} is no pinned memory, or was freed before"));
            return Err(INVALID_VALUE);
        };
        state.host.remove(&address);
        // SAFETY: the mapping is our own and, the devices being idle, used by nobody.
        unsafe { libc::munmap(pointer(address).cast(), bytes.next_multiple_of(PAGE) as usize) };
        Ok(())
    }

    /// Whether an address is that of managed memory, which other calls free.
    pub fn is_managed(&self, address: u64) -> bool {
        self.lock().host.get(&address).is_some_and(|block| block.kind == HostKind::Managed)
    }

    fn drain_all(&self) {
        let state = self.lock();
        let (points, clock) = state.frontier(|_, _| true);
        drop(self.shared.wait_for(state, &points, &clock));
    }

    /// Pins memory that somebody else owns.
    ///
    /// # Errors
    /// A code.
    pub fn register_host(&self, device: usize, address: u64, bytes: u64) -> Outcome<()> {
        let end = address.checked_add(bytes).filter(|_| address != 0 && bytes > 0).ok_or(INVALID_VALUE)?;
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let is_devices = self.shared.arenas.iter().any(|arena| arena.contains(address) || arena.contains(end - 1));
        if is_devices || !is_mapped(address, end) {
            return Err(INVALID_VALUE);
        }
        if state.has_host_in(address, end) {
            return Err(HOST_MEMORY_ALREADY_REGISTERED);
        }
        let block = HostBlock { bytes, kind: HostKind::Registered, device, history: History::default() };
        state.host.insert(address, block);
        Ok(())
    }

    /// Unpins it. No copy may be under way.
    ///
    /// # Errors
    /// A code.
    pub fn unregister_host(&self, call: &'static str, address: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        if state.host.get(&address).is_none_or(|block| block.kind != HostKind::Registered) {
            return Err(HOST_MEMORY_NOT_REGISTERED);
        }
        let Some(block) = state.host.remove(&address) else { return Err(HOST_MEMORY_NOT_REGISTERED) };
        if let Some(late) = block.history.unordered(0, &Clock::default(), |stream| state.known(stream)) {
            let other = state.stream_name(late.stream);
            let text = format!("{address:#x} is unpinned, and nobody has waited for {} on {other}", late.call);
            state.note(Kind::UseAfterFree, call, text);
        }
        drop(state);
        // The memory is its owner's again, who may unmap it.
        self.drain_all();
        Ok(())
    }
}

/// Whether all pages of a range are mapped.
pub(crate) fn is_mapped(start: u64, end: u64) -> bool {
    let first = start / PAGE * PAGE;
    // SAFETY: asks for nothing to be written that would not be anyway; an unmapped page is an error code.
    unsafe { libc::msync(pointer(first).cast(), (end - first) as usize, libc::MS_ASYNC) == 0 }
}
