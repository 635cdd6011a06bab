//! Defines HIP's functions for pitched rows, for the attachment of managed memory to streams, for memory and events
//! shared with other processes, and for address queries.

use simulated_core::error_codes::{INVALID_VALUE, NOT_FOUND};
use simulated_core::host::HostKind;
use simulated_core::ipc::HANDLE_BYTES;

use crate::entry::{Out, export};

/// Alignment of rows in bytes.
const PITCH: usize = 512;
const LAZY_PEER_ACCESS: u32 = 1;

/// The handle type is a structure, because the driver's functions take the handle by value, and C would pass an array
/// by its address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Handle {
    bytes: [u8; HANDLE_BYTES],
}

export! {
    fn hipMemAllocPitch(on, address: Out<u64>, pitch: Out<usize>, width: usize, height: usize, access_size: u32) {
        address.check()?;
        pitch.check()?;
        let row = width.checked_next_multiple_of(PITCH).filter(|_| matches!(access_size, 4 | 8 | 16)).ok_or(INVALID_VALUE)?;
        let bytes = row.checked_mul(height).ok_or(INVALID_VALUE)?;
        address.put(on.driver.allocate(on.device()?, bytes as u64)?)?;
        pitch.put(row)
    }

    fn hipMemGetAddressRange(on, start: Out<u64>, bytes: Out<usize>, address: u64) {
        on.device()?;
        let known = on.driver.known(address).ok_or(NOT_FOUND)?;
        start.put_if_wanted(known.start);
        bytes.put_if_wanted(known.bytes as usize);
        Ok(())
    }

    fn hipHostGetDevicePointer(on, target: Out<u64>, address: u64, flags: u32) {
        on.device()?;
        let known = on.driver.known(address).filter(|known| known.host.is_some() && flags == 0);
        target.put(known.map(|_| address).ok_or(INVALID_VALUE)?)
    }

    fn hipStreamAttachMemAsync(on, stream: u64, address: u64, bytes: usize, flags: u32) {
        on.driver.query_stream(on.name, on.device()?, stream).or_else(|code| if code == 600 { Ok(()) } else { Err(code) })?;
        let known = on.driver.known(address).ok_or(INVALID_VALUE)?;
        let is_whole = known.start == address && (bytes == 0 || bytes as u64 == known.bytes);
        // Only a stream other than the default streams may own managed memory exclusively.
        let fits = matches!(flags, 1 | 2) || (flags == 4 && stream > 2);
        if known.host == Some(HostKind::Managed) && is_whole && fits { Ok(()) } else { Err(INVALID_VALUE) }
    }

    fn hipMemPrefetchAsync(on, address: u64, bytes: usize, place: i32, stream: u64) {
        let device = on.device()?;
        on.driver.check_managed(address, bytes as u64, place)?;
        on.driver.launch_host(on.name, device, stream, || ())
    }

    fn hipMemAdvise(on, address: u64, bytes: usize, advice: u32, place: i32) {
        on.device()?;
        if !(1..=6).contains(&advice) {
            return Err(INVALID_VALUE);
        }
        // The advice values 1 and 2 (read-mostly or not) and 4 (no preferred location) need no location, so the
        // argument `place` is ignored.
        on.driver.check_managed(address, bytes as u64, if matches!(advice, 1 | 2 | 4) { -1 } else { place })
    }

    fn hipIpcGetMemHandle(on, handle: Out<Handle>, address: u64) {
        on.device()?;
        handle.check()?;
        handle.put(Handle { bytes: on.driver.share(address)? })
    }

    fn hipIpcOpenMemHandle(on, address: Out<u64>, handle: Handle, flags: u32) {
        on.device()?;
        address.check()?;
        if flags != LAZY_PEER_ACCESS {
            return Err(INVALID_VALUE);
        }
        address.put(on.driver.open_shared(&handle.bytes)?)
    }

    fn hipIpcCloseMemHandle(on, address: u64) {
        on.device()?;
        on.driver.close_shared(address)
    }

    fn hipIpcGetEventHandle(on, handle: Out<Handle>, event: u64) {
        on.device()?;
        handle.check()?;
        handle.put(Handle { bytes: on.driver.share_event(on.name, event)? })
    }

    fn hipIpcOpenEventHandle(on, event: Out<u64>, handle: Handle) {
        on.device()?;
        event.check()?;
        event.put(on.driver.open_shared_event(&handle.bytes)?)
    }
}
