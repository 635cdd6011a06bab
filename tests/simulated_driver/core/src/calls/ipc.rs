//! Implements memory and events that are shared with other processes. The memory of a device is a memory file. A
//! process that opens a shared block maps the pages of the owner's memory file over a part of the process's own device
//! memory. Each shared block also has a handle file, which contains the handle of the block and which the driver closes
//! when the block is freed. By the handle file, another process detects that a block was freed or that its handle was
//! changed.
//!
//! Unlike with a real driver, the process that created a handle may open this handle, too. An event that another
//! process opens is already complete, because the driver waited for the event when its handle was created. Later
//! recordings by the owner are not visible to the other process.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::CString;
use std::fs::{File, OpenOptions, read, read_link};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arena::PAGE;
use crate::driver::Driver;
use crate::error_codes::{INVALID_VALUE, OUT_OF_MEMORY, Outcome};
use crate::history::History;
use crate::memory::Allocation;

/// Size of an inter-process handle in bytes.
pub const HANDLE_BYTES: usize = 64;
/// Magic number at the start of a handle.
const MARK: u64 = u64::from_le_bytes(*b"SIMULATE");

/// Content of an inter-process handle: 64-bit numbers in the order of these fields.
#[derive(Clone, Copy, Default)]
struct Name {
    process: u64,
    device: u64,
    /// Address of the shared block, or handle of the shared event.
    address: u64,
    /// Offset of the block in the device's file.
    offset: u64,
    bytes: u64,
    /// Two file descriptors of the owning process: the lower half is that of the device's memory file, the upper half
    /// that of the block's handle file.
    files: u64,
    serial: u64,
}

/// Describes a block of this process for which a handle was created.
struct Named {
    /// File that contains the handle. It is closed when the block is freed.
    life: File,
    serial: u64,
}

/// Describes a block that this process opened by a handle.
struct Opened {
    count: usize,
    serial: u64,
    process: u64,
    /// Mapped pages of the owning process, or `None` if this process owns the block.
    taken: Option<Taken>,
}

/// Addresses at which the pages of another process are mapped.
struct Taken {
    /// First address and size of the address range reserved for the block.
    space: (u64, u64),
    /// First address and size of the mapped pages of the other process.
    pages: (u64, u64),
}

static NAMED: Mutex<BTreeMap<u64, Named>> = Mutex::new(BTreeMap::new());
static OPENED: Mutex<BTreeMap<u64, Opened>> = Mutex::new(BTreeMap::new());
static SERIAL: AtomicU64 = AtomicU64::new(1);

fn locked<T>(map: &'static Mutex<T>) -> MutexGuard<'static, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

fn own_process() -> u64 {
    u64::from(std::process::id())
}

impl Name {
    fn written(self) -> [u8; HANDLE_BYTES] {
        let Self { process, device, address, offset, bytes, files, serial } = self;
        let numbers = [MARK, process, device, address, offset, bytes, files, serial];
        let mut handle = [0; HANDLE_BYTES];
        for (place, number) in handle.chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        handle
    }

    fn read(handle: &[u8; HANDLE_BYTES]) -> Outcome<Self> {
        let numbers: Vec<u64> = handle.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
        match numbers[..] {
            [MARK, process, device, address, offset, bytes, files, serial] => {
                Ok(Self { process, device, address, offset, bytes, files, serial })
            }
            _ => Err(INVALID_VALUE),
        }
    }

    fn path(&self, number: u64) -> String {
        format!("/proc/{}/fd/{number}", self.process)
    }

    /// Checks that the block still exists and that its handle is unchanged, as a real driver does.
    fn check(&self) -> Outcome<()> {
        let path = self.path(self.files >> 32);
        let life = read_link(&path).map_err(|_| INVALID_VALUE)?;
        let is_block = life.to_string_lossy().ends_with(&format!("{} (deleted)", life_of(self.serial)));
        let is_unchanged = is_block && read(&path).map_err(|_| INVALID_VALUE)? == self.written();
        if is_unchanged { Ok(()) } else { Err(INVALID_VALUE) }
    }

    /// Opens the file that contains the device memory of the owning process.
    fn file(&self) -> Outcome<File> {
        let device = self.path(self.files & 0xFFFF_FFFF);
        OpenOptions::new().read(true).write(true).open(device).map_err(|_| INVALID_VALUE)
    }
}

fn life_of(serial: u64) -> String {
    format!("simulated-block-{serial}")
}

/// Creates a file by which other processes detect that the block exists.
fn new_life(serial: u64) -> Outcome<File> {
    let name = CString::new(life_of(serial)).map_err(|_| INVALID_VALUE)?;
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: `file` is a new file descriptor, which no other object owns.
    if file < 0 { Err(OUT_OF_MEMORY) } else { Ok(unsafe { File::from_raw_fd(file) }) }
}

/// Invalidates the handle of a block that is being freed.
pub(crate) fn end(start: u64) {
    locked(&NAMED).remove(&start);
}

impl Driver {
    /// Returns a handle for a block, given by the address of its first byte.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an address that is not the first byte of a block, and for memory of a pool.
    pub fn share(&self, address: u64) -> Outcome<[u8; HANDLE_BYTES]> {
        let state = self.lock();
        let (start, block) = state.block_at(address).ok_or(INVALID_VALUE)?;
        if start != address || block.pool.is_some() {
            return Err(INVALID_VALUE);
        }
        let arena = &self.shared.arenas[block.device];
        let mut named = locked(&NAMED);
        let name = |life: &File, serial| Name {
            process: own_process(),
            device: block.device as u64,
            address,
            offset: start.wrapping_sub(arena.start()),
            bytes: block.bytes,
            files: (life.as_raw_fd() as u64) << 32 | arena.file() as u64,
            serial,
        };
        let Named { life, serial } = match named.entry(start) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
                let mut life = new_life(serial)?;
                life.write_all(&name(&life, serial).written()).map_err(|_| OUT_OF_MEMORY)?;
                place.insert(Named { life, serial })
            }
        };
        Ok(name(life, *serial).written())
    }

    /// Returns a handle for an event, after waiting until the event is complete.
    ///
    /// # Errors
    /// `INVALID_HANDLE` for a value that is not an event.
    pub fn share_event(&self, call: &'static str, event: u64) -> Outcome<[u8; HANDLE_BYTES]> {
        self.synchronize_event(call, event)?;
        let device = self.lock().event(call, event)?.device as u64;
        Ok(Name { process: own_process(), device, address: event, ..Name::default() }.written())
    }

    /// Opens the event that a handle identifies, as a new event.
    ///
    /// # Errors
    /// The same error as `open_shared`.
    pub fn open_shared_event(&self, handle: &[u8; HANDLE_BYTES]) -> Outcome<u64> {
        let name = Name::read(handle)?;
        if name.process == own_process() {
            return self.twin_of_event(name.address).ok_or(INVALID_VALUE);
        }
        let device = name.device as usize;
        let is_there = std::path::Path::new(&format!("/proc/{}", name.process)).exists();
        if !is_there || device >= self.shared.arenas.len() {
            return Err(INVALID_VALUE);
        }
        self.create_event(device, false)
    }

    /// Opens a block by its handle. A block that is opened twice has one mapping and must be closed twice.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a value that is not the handle of a live block.
    pub fn open_shared(&self, handle: &[u8; HANDLE_BYTES]) -> Outcome<u64> {
        let name = Name::read(handle)?;
        name.check()?;
        let mut opened = locked(&OPENED);
        let known = opened.iter_mut().find(|(_, known)| (known.process, known.serial) == (name.process, name.serial));
        let is_own = name.process == own_process();
        if is_own && locked(&NAMED).get(&name.address).is_none_or(|named| named.serial != name.serial) {
            return Err(INVALID_VALUE);
        }
        if let Some((address, known)) = known {
            known.count += 1;
            return Ok(*address);
        }
        let (address, taken) = if is_own { (name.address, None) } else { self.adopt(&name)? };
        opened.insert(address, Opened { count: 1, serial: name.serial, process: name.process, taken });
        Ok(address)
    }

    /// Maps pages of another process over a new range of this device's memory.
    fn adopt(&self, name: &Name) -> Outcome<(u64, Option<Taken>)> {
        let file = name.file()?;
        let device = name.device as usize;
        let arena = self.shared.arenas.get(device).ok_or(INVALID_VALUE)?;
        let within = name.offset % PAGE;
        let pages = (within + name.bytes).next_multiple_of(PAGE);
        let mut state = self.lock();
        let taken = state.place(device, pages + PAGE, None)?;
        let first = taken + (PAGE - (taken - arena.start()) % PAGE) % PAGE;
        state.allocations.remove(&taken);
        if arena.adopt(first, pages, file.as_raw_fd(), name.offset - within).is_err() {
            state.devices[device].ranges.give(taken, pages + PAGE);
            return Err(INVALID_VALUE);
        }
        let block = Allocation { device, bytes: name.bytes, pool: None, history: History::default() };
        state.allocations.insert(first + within, block);
        Ok((first + within, Some(Taken { space: (taken, pages + PAGE), pages: (first, pages) })))
    }

    /// Closes a block opened by `open_shared`, after waiting for all work of the device.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a block that is not open.
    pub fn close_shared(&self, address: u64) -> Outcome<()> {
        let mut opened = locked(&OPENED);
        let known = opened.get_mut(&address).ok_or(INVALID_VALUE)?;
        known.count -= 1;
        if known.count > 0 {
            return Ok(());
        }
        let taken = opened.remove(&address).and_then(|known| known.taken);
        drop(opened);
        let Some(Taken { space, pages }) = taken else { return Ok(()) };
        let device = self.lock().block_at(address).ok_or(INVALID_VALUE)?.1.device;
        let mut state = self.drain(device);
        state.bury("IpcCloseMemHandle", address);
        self.shared.arenas[device].restore(pages.0, pages.1).map_err(|_| INVALID_VALUE)?;
        state.devices[device].ranges.give(space.0, space.1);
        Ok(())
    }
}
