//! The memory of one device, mapped twice: at the addresses that programs see, where nobody may read or write, and at a
//! private place, where the driver's workers do. So host code that dereferences a device pointer crashes, as beside a GPU.

use std::ffi::{c_int, c_void};
use std::io::{Error, Result};
use std::sync::{Mutex, PoisonError};

/// Fresh memory.
pub const FRESH: u8 = 0xA5;
/// Memory that was given back.
pub const FREED: u8 = 0xDB;
/// Of larger blocks only so much at each end is poisoned: the machine must have the memory that is written to.
const POISONED_END: u64 = 32 << 20;
/// Freed blocks from this size on give their pages back to the machine.
const LARGE: u64 = 1 << 20;
/// Of the machine.
pub const PAGE: u64 = 4096;

/// The memory of one device.
pub struct Arena {
    file: c_int,
    visible: u64,
    private: u64,
    bytes: u64,
    doors: Mutex<Doors>,
}

/// Who has asked for the memory to be reachable at the addresses that programs see.
#[derive(Default)]
struct Doors {
    host: bool,
    kernels: u32,
}

impl Arena {
    /// `bytes` of address space; pages exist from their first use on.
    ///
    /// # Errors
    /// The system's.
    pub fn new(bytes: u64) -> Result<Self> {
        // SAFETY: the name is a C string.
        let file = unsafe { libc::memfd_create(c"simulated-device".as_ptr(), libc::MFD_CLOEXEC) };
        if file < 0 {
            return Err(Error::last_os_error());
        }
        let mut arena = Self { file, visible: 0, private: 0, bytes, doors: Mutex::default() };
        let length = libc::off_t::try_from(bytes).map_err(Error::other)?;
        // SAFETY: the file is our own.
        if unsafe { libc::ftruncate(file, length) } != 0 {
            return Err(Error::last_os_error());
        }
        arena.private = arena.map(libc::PROT_READ | libc::PROT_WRITE)?;
        arena.visible = arena.map(libc::PROT_NONE)?;
        Ok(arena)
    }

    fn map(&self, protection: c_int) -> Result<u64> {
        // SAFETY: a new mapping of our own file, wherever the system likes.
        let address = unsafe {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
            libc::mmap(std::ptr::null_mut(), self.bytes as usize, protection, flags, self.file, 0)
        };
        if address == libc::MAP_FAILED { Err(Error::last_os_error()) } else { Ok(address.expose_provenance() as u64) }
    }

    /// The first address that programs see.
    pub fn start(&self) -> u64 {
        self.visible
    }

    /// Bytes of address space.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether an address lies in it.
    pub fn contains(&self, address: u64) -> bool {
        (self.visible..self.visible + self.bytes).contains(&address)
    }

    /// Where the workers find the byte at an address that programs see.
    pub fn private(&self, address: u64) -> u64 {
        self.private + (address - self.visible)
    }

    /// Lets host code read and write at the addresses that programs see, as kernels that run on the host must, or not.
    ///
    /// # Errors
    /// The system's.
    pub fn unseal(&self, open: bool) -> Result<()> {
        self.change(|doors| doors.host = open)
    }

    /// A kernel begins to run.
    ///
    /// # Errors
    /// The system's.
    pub fn enter_kernel(&self) -> Result<()> {
        self.change(|doors| doors.kernels += 1)
    }

    /// A kernel has ended.
    pub fn leave_kernel(&self) {
        // What cannot be sealed again stays open, which hides a fault but makes none.
        let _ = self.change(|doors| doors.kernels = doors.kernels.saturating_sub(1));
    }

    /// The file that has the memory, for who opens it in another process.
    pub fn file(&self) -> c_int {
        self.file
    }

    /// Shows whole pages of another file in the place of those from `start` on, at both addresses.
    ///
    /// # Errors
    /// The system's.
    pub fn adopt(&self, start: u64, bytes: u64, file: c_int, offset: u64) -> Result<()> {
        let doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let visible =
            if doors.host || doors.kernels > 0 { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
        for (address, protection) in [(self.private(start), libc::PROT_READ | libc::PROT_WRITE), (start, visible)] {
            let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
            let place = pointer(address).cast();
            let offset = libc::off_t::try_from(offset).map_err(Error::other)?;
            // SAFETY: pages of our own mappings, which nobody else has: the caller took the addresses.
            let mapped = unsafe { libc::mmap(place, bytes as usize, protection, flags, file, offset) };
            if mapped == libc::MAP_FAILED {
                return Err(Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Takes that back: the pages are the arena's own again.
    ///
    /// # Errors
    /// The system's.
    pub fn restore(&self, start: u64, bytes: u64) -> Result<()> {
        self.adopt(start, bytes, self.file, start - self.visible)
    }

    fn change(&self, change: impl FnOnce(&mut Doors)) -> Result<()> {
        let mut doors = self.doors.lock().unwrap_or_else(PoisonError::into_inner);
        let is_open = |doors: &Doors| doors.host || doors.kernels > 0;
        let before = is_open(&doors);
        change(&mut doors);
        if before == is_open(&doors) { Ok(()) } else { self.protect(!before) }
    }

    fn protect(&self, open: bool) -> Result<()> {
        let protection = if open { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_NONE };
        // SAFETY: the mapping is our own.
        let code = unsafe { libc::mprotect(pointer(self.visible).cast(), self.bytes as usize, protection) };
        if code == 0 { Ok(()) } else { Err(Error::last_os_error()) }
    }

    /// What fills a block of fresh or freed memory, to be run when its turn comes.
    pub fn poison(&self, address: u64, bytes: u64, value: u8) -> Poison {
        Poison { place: self.private(address), bytes, value }
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for start in [self.visible, self.private] {
            if start != 0 {
                // SAFETY: the mapping is our own.
                unsafe { libc::munmap(pointer(start).cast(), self.bytes as usize) };
            }
        }
        // SAFETY: the file is our own.
        unsafe { libc::close(self.file) };
    }
}

/// An address as a pointer.
pub fn pointer(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Fills a block with a value that nobody can take for data.
pub struct Poison {
    place: u64,
    bytes: u64,
    value: u8,
}

impl Poison {
    /// Does it.
    ///
    /// # Safety
    /// The arena is alive and nobody else uses the block.
    pub unsafe fn run(&self) {
        if self.value == FREED && self.bytes >= LARGE {
            // SAFETY: the caller promises the block.
            unsafe { self.give_pages_back() };
        }
        let end = match (self.value, self.bytes) {
            (_, bytes) if bytes < LARGE => bytes,
            (FREED, _) => PAGE,
            (_, bytes) => bytes.min(POISONED_END),
        };
        // SAFETY: both ends lie in the block that the caller promises.
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
        // It saves memory and nothing else, so a refusal does not matter.
        // SAFETY: whole pages of the block that the caller promises.
        unsafe { libc::madvise(address, (to - from) as usize, libc::MADV_REMOVE) };
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;

    #[test]
    fn the_two_mappings_show_the_same_bytes_once_unsealed() {
        let arena = Arena::new(1 << 20).unwrap();
        let address = arena.start() + 12_345;
        arena.unseal(true).unwrap();
        // SAFETY: both are bytes of the arena, which is open.
        unsafe {
            pointer(arena.private(address)).write(7);
            assert_eq!(pointer(address).read(), 7);
        }
        arena.unseal(false).unwrap();
    }

    #[test]
    fn poison_fills_a_block_and_nothing_beside_it() {
        let arena = Arena::new(8 << 20).unwrap();
        let start = arena.start() + 512;
        for bytes in [1, 700, 5000, LARGE + 700] {
            for value in [FRESH, FREED] {
                // SAFETY: bytes of the arena.
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
