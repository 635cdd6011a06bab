//! Implements the calls for host memory that the driver manages: pinned, registered and managed memory.

use crate::arena::{FRESH, pointer};
use crate::driver::Driver;
use crate::error_codes::{
    HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_VALUE, OUT_OF_MEMORY, Outcome,
};
use crate::finding::Kind;
use crate::history::History;
use crate::state::State;
use crate::vector_clock::Clock;

/// Kind of a host block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostKind {
    /// The driver allocated the block as pinned memory.
    Pinned,
    /// Other code allocated the memory, and the program pinned (registered) it later.
    Registered,
    /// The driver allocated the block as managed memory, which the host and all devices can access.
    Managed,
}

pub(crate) struct HostBlock {
    pub(crate) bytes: u64,
    pub(crate) kind: HostKind,
    /// Current device of the thread that allocated or pinned the block.
    pub(crate) device: usize,
    pub(crate) history: History,
}

/// Maximum number of bytes of a pinned block that are overwritten with the poison value.
const POISONED: u64 = 1 << 20;
const PAGE: u64 = 4096;

impl State {
    /// Returns the pinned, registered or managed block that contains an address.
    pub(crate) fn host_at(&self, address: u64) -> Option<(u64, &HostBlock)> {
        let (start, block) = self.host.range(..=address).next_back()?;
        (address - start < block.bytes).then_some((*start, block))
    }

    /// Unpins the registered memory of a failed device.
    pub(crate) fn forget_registered(&mut self, device: usize) {
        self.host.retain(|_, block| block.kind != HostKind::Registered || block.device != device);
    }

    /// Removes the records of memory that was allocated or pinned in a destroyed context. A real driver would unmap
    /// this memory. Here it stays mapped, so that a program that still reads the memory fails in a test instead of
    /// crashing.
    pub(crate) fn forget_host(&mut self, device: usize) {
        self.host.retain(|_, block| block.device != device);
    }

    fn has_host_in(&self, start: u64, end: u64) -> bool {
        self.host.range(..end).next_back().is_some_and(|(first, block)| first + block.bytes > start)
    }
}

impl Driver {
    /// Allocates pinned or managed memory.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`, or another error code.
    pub fn allocate_host(&self, device: usize, bytes: u64, kind: HostKind) -> Outcome<u64> {
        let space = bytes.checked_next_multiple_of(PAGE).filter(|_| bytes > 0).ok_or(INVALID_VALUE)?;
        self.lock().refuse_unsafe()?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: this call creates a new mapping at an address chosen by the system.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), space as usize, protection, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(OUT_OF_MEMORY);
        }
        // SAFETY: the new mapping has this size, and no other code has its address yet.
        unsafe { address.cast::<u8>().write_bytes(FRESH, bytes.min(POISONED) as usize) };
        let start = address.expose_provenance() as u64;
        self.lock().host.insert(start, HostBlock { bytes, kind, device, history: History::default() });
        Ok(start)
    }

    /// Frees pinned or managed memory, after waiting for all devices.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
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
        // SAFETY: the driver owns the mapping, and no device uses the mapping because all devices are idle.
        unsafe { libc::munmap(pointer(address).cast(), bytes.next_multiple_of(PAGE) as usize) };
        Ok(())
    }

    /// Returns whether an address belongs to managed memory. Programs free managed and pinned memory by different
    /// calls.
    pub fn is_managed(&self, address: u64) -> bool {
        self.lock().host.get(&address).is_some_and(|block| block.kind == HostKind::Managed)
    }

    fn drain_all(&self) {
        let state = self.lock();
        let (points, clock) = state.frontier(|_, _| true);
        drop(self.shared.wait_for(state, &points, &clock));
    }

    /// Pins existing memory.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
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

    /// Unpins memory, after waiting for all devices.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
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
        // Wait for all devices, because the owner of the memory may unmap it after this call.
        self.drain_all();
        Ok(())
    }
}

/// Returns whether all pages of a range are mapped.
pub(crate) fn is_mapped(start: u64, end: u64) -> bool {
    let first = start / PAGE * PAGE;
    // SAFETY: with `MS_ASYNC`, `msync` writes nothing; for an unmapped page it returns an error code.
    unsafe { libc::msync(pointer(first).cast(), (end - first) as usize, libc::MS_ASYNC) == 0 }
}
