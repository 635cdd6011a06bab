//! Memory and events for other processes, as far as one process can show it: a handle is opened by the process that made it, which a
//! real driver refuses, and by no other.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::code::{INVALID_VALUE, NOT_READY, NOT_SUPPORTED, Outcome};
use crate::driver::Driver;

/// Bytes of a handle.
pub const HANDLE_BYTES: usize = 64;
/// How a handle of ours begins.
const MARK: [u8; 8] = *b"SIMULATE";

/// How often each block is open.
static OPEN: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

fn own_mark() -> [u8; 4] {
    std::process::id().to_le_bytes()
}

fn written(number: u64) -> [u8; HANDLE_BYTES] {
    let mut handle = [0; HANDLE_BYTES];
    handle[..8].copy_from_slice(&MARK);
    handle[8..12].copy_from_slice(&own_mark());
    handle[12..20].copy_from_slice(&number.to_le_bytes());
    handle
}

fn read(handle: &[u8; HANDLE_BYTES]) -> Outcome<u64> {
    if handle[..8] != MARK {
        return Err(INVALID_VALUE);
    }
    if handle[8..12] != own_mark() {
        return Err(NOT_SUPPORTED);
    }
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&handle[12..20]);
    Ok(u64::from_le_bytes(bytes))
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
        Ok(written(address))
    }

    /// Names an event.
    ///
    /// # Errors
    /// `INVALID_HANDLE` for what is no event.
    pub fn share_event(&self, call: &'static str, event: u64) -> Outcome<[u8; HANDLE_BYTES]> {
        self.query_event(call, event).or_else(|code| if code == NOT_READY { Ok(()) } else { Err(code) })?;
        Ok(written(event))
    }

    /// A new event that marks what the named one marks now.
    ///
    /// # Errors
    /// As `open_shared`.
    pub fn open_shared_event(&self, handle: &[u8; HANDLE_BYTES]) -> Outcome<u64> {
        self.twin_of_event(read(handle)?).ok_or(INVALID_VALUE)
    }

    /// Opens a block by its name.
    ///
    /// # Errors
    /// `INVALID_VALUE` for what is no name of a living block; `NOT_SUPPORTED` for another process's.
    pub fn open_shared(&self, handle: &[u8; HANDLE_BYTES]) -> Outcome<u64> {
        let address = read(handle)?;
        self.known(address).filter(|known| known.start == address).ok_or(INVALID_VALUE)?;
        *OPEN.lock().unwrap_or_else(PoisonError::into_inner).entry(address).or_default() += 1;
        Ok(address)
    }

    /// Ends what `open_shared` began.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a block that is not open.
    pub fn close_shared(&self, address: u64) -> Outcome<()> {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.get_mut(&address).ok_or(INVALID_VALUE)?;
        *count -= 1;
        if *count == 0 {
            open.remove(&address);
        }
        Ok(())
    }
}
