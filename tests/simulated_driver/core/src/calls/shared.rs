//! Memory and events for other processes. The memory of a device is a file, and another process maps the pages of a block in the place
//! of pages of its own; a block that has been named has an empty file beside it, which is closed with it, so that a name tells
//! whether its block is still there.
//!
//! The process that made a name may open it too, which a real driver refuses. Another process's event is done when it is opened, since
//! it was waited for when it was named: what its owner records later is not seen.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::CString;
use std::fs::{File, OpenOptions, read_link};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arena::PAGE;
use crate::code::{INVALID_VALUE, OUT_OF_MEMORY, Outcome};
use crate::driver::Driver;
use crate::history::History;
use crate::memory::Allocation;

/// Bytes of a handle.
pub const HANDLE_BYTES: usize = 64;
/// How a handle of ours begins.
const MARK: u64 = u64::from_le_bytes(*b"SIMULATE");

/// What a handle says; numbers of 8 bytes in this order.
#[derive(Clone, Copy, Default)]
struct Name {
    process: u64,
    device: u64,
    /// Of a block, or an event's handle.
    address: u64,
    /// Where the block begins in the device's file.
    offset: u64,
    bytes: u64,
    /// The device's file, and that which ends with the block: numbers of the process, the latter in the upper half.
    files: u64,
    serial: u64,
}

/// A block of this process that was named.
struct Named {
    /// Ends with the block.
    life: OwnedFd,
    serial: u64,
}

/// A block of another process, or our own, that is open.
struct Opened {
    count: usize,
    serial: u64,
    process: u64,
    /// `None` for a block of our own.
    taken: Option<Taken>,
}

/// Where another process's pages are shown.
struct Taken {
    /// Of the addresses: the first, and how many.
    space: (u64, u64),
    /// Those that show another file.
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

    /// The device's file, as its process has it, if the block is still there.
    fn file(&self) -> Outcome<File> {
        let path = |number: u64| format!("/proc/{}/fd/{number}", self.process);
        let life = read_link(path(self.files >> 32)).map_err(|_| INVALID_VALUE)?;
        if !life.to_string_lossy().ends_with(&format!("{} (deleted)", life_of(self.serial))) {
            return Err(INVALID_VALUE);
        }
        let device = path(self.files & 0xFFFF_FFFF);
        OpenOptions::new().read(true).write(true).open(device).map_err(|_| INVALID_VALUE)
    }
}

fn life_of(serial: u64) -> String {
    format!("simulated-block-{serial}")
}

/// A file without bytes that shows that the block lives.
fn new_life(serial: u64) -> Outcome<OwnedFd> {
    let name = CString::new(life_of(serial)).map_err(|_| INVALID_VALUE)?;
    // SAFETY: the name is a C string.
    let file = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    // SAFETY: a new file that is nobody else's.
    if file < 0 { Err(OUT_OF_MEMORY) } else { Ok(unsafe { OwnedFd::from_raw_fd(file) }) }
}

/// A block has ended, and its name is nobody's any more.
pub(crate) fn end(start: u64) {
    locked(&NAMED).remove(&start);
}

impl Driver {
    /// Names a plain block by its first byte.
    ///
    /// # Errors
    /// `INVALID_VALUE` for any other address, and for memory of a pool.
    pub fn share(&self, address: u64) -> Outcome<[u8; HANDLE_BYTES]> {
        let state = self.lock();
        let (start, block) = state.block_at(address).ok_or(INVALID_VALUE)?;
        if start != address || block.pool.is_some() {
            return Err(INVALID_VALUE);
        }
        let arena = &self.shared.arenas[block.device];
        let mut named = locked(&NAMED);
        let Named { life, serial } = match named.entry(start) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
                place.insert(Named { life: new_life(serial)?, serial })
            }
        };
        let name = Name {
            process: own_process(),
            device: block.device as u64,
            address,
            offset: start.wrapping_sub(arena.start()),
            bytes: block.bytes,
            files: (life.as_raw_fd() as u64) << 32 | arena.file() as u64,
            serial: *serial,
        };
        Ok(name.written())
    }

    /// Names an event, and waits for what it marks.
    ///
    /// # Errors
    /// `INVALID_HANDLE` for what is no event.
    pub fn share_event(&self, call: &'static str, event: u64) -> Outcome<[u8; HANDLE_BYTES]> {
        self.synchronize_event(call, event)?;
        let device = self.lock().event(call, event)?.device as u64;
        Ok(Name { process: own_process(), device, address: event, ..Name::default() }.written())
    }

    /// A new event that marks what the named one marks now.
    ///
    /// # Errors
    /// As `open_shared`.
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

    /// Opens a block by its name; twice is once, and is closed twice.
    ///
    /// # Errors
    /// `INVALID_VALUE` for what is no name of a living block.
    pub fn open_shared(&self, handle: &[u8; HANDLE_BYTES]) -> Outcome<u64> {
        let name = Name::read(handle)?;
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

    /// Puts another process's pages in the place of own ones.
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

    /// Ends what `open_shared` began, after what the device has to do.
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
