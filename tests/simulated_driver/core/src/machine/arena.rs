//! Provides the memory of one device. The memory is mapped twice: at the addresses that programs use, where it is
//! inaccessible, and at a private address for the driver's workers. Host code that dereferences a device pointer
//! therefore crashes, as with a real GPU.

use std::ffi::{c_int, c_void};
use std::io::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Byte value with which new memory is filled.
pub const FRESH: u8 = 0xA5;
/// Byte value with which freed memory is filled.
pub const FREED: u8 = 0xDB;
/// Maximum number of bytes that are filled at each end of a block. Filling whole blocks would make the operating system
/// allocate all their pages.
const POISONED_END: u64 = 32 << 20;
/// Freed blocks of at least this many bytes return their pages to the operating system.
const LARGE: u64 = 1 << 20;
/// Page size of the machine.
pub const PAGE: u64 = 4096;

/// Memory of one device.
pub struct Arena {
    file: c_int,
    visible: u64,
    private: u64,
    bytes: u64,
    doors: Mutex<Doors>,
}

/// Reasons for which the host may currently access the memory at the addresses that programs use.
#[derive(Default)]
struct Doors {
    host: bool,
    kernels: u32,
    /// Whether pages of other files were ever mapped into the arena.
    has_adopted: bool,
}

impl Doors {
    fn is_open(&self) -> bool {
        self.host || self.kernels > 0
    }
}

impl Arena {
    /// Reserves `bytes` of address space; pages are allocated on first use.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn new(bytes: u64) -> Result<Self> {
        // SAFETY: the name is a C string.
        let file = unsafe { libc::memfd_create(c"simulated-device".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(Error::last_os_error());
        }
        let mut arena = Self { file, visible: 0, private: 0, bytes, doors: Mutex::default() };
        let length = libc::off_t::try_from(bytes).map_err(Error::other)?;
        // SAFETY: this object owns the open file.
        if unsafe { libc::ftruncate(file, length) } != 0 {
            return Err(Error::last_os_error());
        }
        arena.private = arena.map(None, libc::PROT_READ | libc::PROT_WRITE)?;
        arena.visible = arena.map(None, libc::PROT_NONE)?;
        Ok(arena)
    }

    /// Maps the whole file, at an address chosen by the system or in place of an existing mapping of this object.
    fn map(&self, replaced: Option<u64>, protection: c_int) -> Result<u64> {
        let fixed = if replaced.is_some() { libc::MAP_FIXED } else { 0 };
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | fixed;
        let at = pointer(replaced.unwrap_or_default()).cast();
        // SAFETY: `mmap` maps new pages, or replaces a mapping of this object, whose file keeps the contents.
        let address = unsafe { libc::mmap(at, self.bytes as usize, protection, flags, self.file, 0) };
        if address == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(address.expose_provenance() as u64) }
    }

    /// Returns the first address that programs use.
    pub fn start(&self) -> u64 {
        self.visible
    }

    /// Returns the size of the address space in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns whether the arena contains an address.
    pub fn contains(&self, address: u64) -> bool {
        (self.visible..self.visible + self.bytes).contains(&address)
    }

    /// Returns the private address of the byte that programs identify by `address`.
    pub fn private(&self, address: u64) -> u64 {
        self.private + (address - self.visible)
    }

    /// Allows or forbids host code to access the memory at the addresses that programs use. Simulated kernels run on
    /// the host and need this access.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn unseal(&self, open: bool) -> Result<()> {
        self.change(|doors| doors.host = open)
    }

    /// Allows host access to the visible addresses because a kernel begins to run.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn enter_kernel(&self) -> Result<()> {
        self.change(|doors| doors.kernels += 1)
    }

    /// Ends the access that `enter_kernel` allowed.
    pub fn leave_kernel(&self) {
        // If the protection cannot be restored, the memory stays accessible. A test may then miss a defect, but does
        // not fail without a defect.
        let _ = self.change(|doors| doors.kernels = doors.kernels.saturating_sub(1));
    }

    /// Returns the file that contains the memory, so that other processes can map it.
    pub fn file(&self) -> c_int {
        self.file
    }

    /// Replaces `bytes` bytes of the arena, from the address `start` on, by whole pages of the given file. The pages
    /// are mapped twice: at the addresses that programs use, and at the private addresses of the driver's workers.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn adopt(&self, start: u64, bytes: u64, file: c_int, offset: u64) -> Result<()> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        doors.has_adopted = true;
        let visible = if doors.is_open() { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
        for (address, protection) in [(self.private(start), libc::PROT_READ | libc::PROT_WRITE), (start, visible)] {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
            let place = pointer(address).cast();
            let offset = libc::off_t::try_from(offset).map_err(Error::other)?;
            // SAFETY: the pages belong to this object's mappings, and only the caller, which allocated the addresses,
            // uses them.
            let mapped = unsafe { libc::mmap(place, bytes as usize, protection, flags, file, offset) };
            if mapped == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Undoes `adopt`: maps the pages of the arena's own file again.
    ///
    /// # Errors
    /// Returns the error of the operating system.
    pub fn restore(&self, start: u64, bytes: u64) -> Result<()> {
        self.adopt(start, bytes, self.file, start - self.visible)
    }

    fn change(&self, change: impl FnOnce(&mut Doors)) -> Result<()> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let before = doors.is_open();
        change(&mut doors);
        match (before, doors.is_open()) {
            (false, true) => self.protect(libc::PROT_READ | libc::PROT_WRITE),
            // Map the memory again instead of calling `mprotect`, which would visit every page that was ever touched,
            // twice for each kernel. A new mapping has no pages yet, so the cost of a mapping depends only on the pages
            // that the next kernel touches.
            (true, false) if !doors.has_adopted => self.map(Some(self.visible), libc::PROT_NONE).map(drop),
            (true, false) => self.protect(libc::PROT_NONE),
            _ => Ok(()),
        }
    }

    fn protect(&self, protection: c_int) -> Result<()> {
        // SAFETY: this object owns the mapping.
        let code = unsafe { libc::mprotect(pointer(self.visible).cast(), self.bytes as usize, protection) };
        if code == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// Returns a task that fills a block with a poison value; the caller runs it in stream order.
    pub fn poison(&self, address: u64, bytes: u64, value: u8) -> Poison {
        Poison { place: self.private(address), bytes, value }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for start in [self.visible, self.private] {
            if start != 0 {
                // SAFETY: this object owns the mapping.
                unsafe { libc::munmap(pointer(start).cast(), self.bytes as usize) };
            }
        }
        // SAFETY: this object owns the file.
        unsafe { libc::close(self.file) };
    }
}

/// Converts an address of the arena to a pointer.
pub fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Task that fills a block with a poison value.
pub struct Poison {
    place: u64,
    bytes: u64,
    value: u8,
}

impl Poison {
    /// Runs the task.
    ///
    /// # Safety
    /// The arena must be alive, and no other code may use the block.
    pub unsafe fn run(&self) {
        if self.value == FREED && self.bytes >= LARGE {
            // SAFETY: the caller of this function guarantees that no other code uses the block.
            unsafe { self.give_pages_back() };
        }
        let end = match (self.value, self.bytes) {
            (_, bytes) if bytes < LARGE => bytes,
            (FREED, _) => PAGE,
            (_, bytes) => bytes.min(POISONED_END),
        };
        // SAFETY: the caller of this function guarantees that no other code uses the block, and both filled ends are in
        // the block.
        unsafe {
            pointer(self.place).write_bytes(self.value, end as usize);
            if end < self.bytes {
                pointer(self.place + self.bytes - end).write_bytes(self.value, end as usize);
            }
        }
    }

    unsafe fn give_pages_back(&self) {
        let from = self.place.next_multiple_of(PAGE);
        let to = (self.place + self.bytes) / PAGE * PAGE;
        let address: *mut c_void = pointer(from).cast();
        // The call of `madvise` only saves memory, so a failure is ignored.
        // SAFETY: the range consists of whole pages of the block. The caller guarantees that no other code uses the
        // block.
        unsafe { libc::madvise(address, (to - from) as usize, libc::MADV_REMOVE) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;

    #[test]
    fn both_mappings_have_same_bytes_when_unsealed() {
        let arena = Arena::new(1 << 20).unwrap();
        let address = arena.start() + 12_345;
        arena.unseal(true).unwrap();
        // SAFETY: both addresses denote bytes in the arena, which this test has made accessible.
        unsafe {
            pointer(arena.private(address)).write(7);
            assert_eq!(pointer(address).read(), 7);
        }
        arena.unseal(false).unwrap();
    }

    #[test]
    fn poison_fills_block_and_leaves_adjacent_bytes_unchanged() {
        let arena = Arena::new(8 << 20).unwrap();
        let start = arena.start() + 512;
        for bytes in [1, 700, 5000, LARGE + 700] {
            for value in [FRESH, FREED] {
                // SAFETY: the range consists of bytes of the arena.
                unsafe {
                    pointer(arena.private(start)).sub(1).write(1);
                    pointer(arena.private(start + bytes)).write(2);
                    arena.poison(start, bytes, value).run();
                    assert_eq!(pointer(arena.private(start)).read(), value);
                    assert_eq!(pointer(arena.private(start + bytes - 1)).read(), value);
                    assert_eq!(pointer(arena.private(start)).sub(1).read(), 1);
                    assert_eq!(pointer(arena.private(start + bytes)).read(), 2);
                }
            }
        }
    }
}
