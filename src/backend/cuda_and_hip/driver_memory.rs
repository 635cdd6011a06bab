//! Allocates pitched and managed memory through CUDA or HIP, shares memory and events with other processes, and queries
//! addresses.

use std::ffi::{c_int, c_uint};

use super::driver::Driver;
use super::memory::{HOST, VendorMemory};
use super::symbols::Raw;
use crate::error_codes::SUCCESS;
use crate::{Address, Advice, Attachment, DriverMemory, EventHandle, HANDLE_BYTES, Residence, StreamHandle};
use pygpu_base::error::Result;

/// Flag of the driver that enables peer access when it is needed. The driver accepts no other value.
const LAZY_PEER_ACCESS: c_uint = 1;

/// Converts the bytes of a handle to the vendor's structure, which consists only of these bytes.
fn structure<T>(handle: &[u8; HANDLE_BYTES]) -> T {
    const { assert!(size_of::<T>() == HANDLE_BYTES) };
    // SAFETY: the vendor declares the structure as an array of this many characters, for which any bytes are valid.
    unsafe { std::ptr::read_unaligned(handle.as_ptr().cast()) }
}

/// Calls `write`, in which the driver stores a handle as the vendor's structure, and returns the handle's bytes.
fn written<T>(write: impl FnOnce(*mut T) -> Result<()>) -> Result<[u8; HANDLE_BYTES]> {
    const { assert!(size_of::<T>() == HANDLE_BYTES && align_of::<T>() == 1) };
    let mut handle = [0; HANDLE_BYTES];
    write(handle.as_mut_ptr().cast())?;
    Ok(handle)
}

fn lasts_as_long_as(what: &str) -> String {
    format!("a handle is good in other processes than the one that made it, as long as that has the {what}")
}

impl<V: VendorMemory> Driver<V> {
    /// Returns the driver's number for a location of managed memory.
    fn place(&self, residence: Residence, operation: &'static str) -> Result<c_int> {
        match residence {
            Residence::Host => Ok(HOST),
            Residence::Device(device) => Ok(self.slot(device, operation)?.handle),
        }
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorMemory> DriverMemory for Driver<V> {
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, access_size: u32) -> Result<(Address, usize)> {
        let operation = V::NAMES.memory_allocate_pitched;
        let current = self.enter(device, operation)?;
        let (mut address, mut pitch) = (Raw::NONE, 0);
        let allocate = current.symbols.memory_allocate_pitched;
        // SAFETY: the out-parameters are writable.
        match self.beside_captures(|| unsafe { allocate(&mut address, &mut pitch, width, height, access_size) }) {
            SUCCESS => Ok((address.number(), pitch)),
            code => Err(self.allocation_refusal(code, operation, device, width.saturating_mul(height))),
        }
    }

    fn allocate_managed(&self, device: i32, bytes: usize, attachment: Attachment) -> Result<Address> {
        let operation = V::NAMES.memory_allocate_managed;
        let current = self.enter(device, operation)?;
        let mut address = Raw::NONE;
        let allocate = current.symbols.memory_allocate_managed;
        // SAFETY: the out-parameter is writable.
        match self.beside_captures(|| unsafe { allocate(&mut address, bytes, attachment.number()) }) {
            SUCCESS => Ok(address.number()),
            code => Err(self.allocation_refusal(code, operation, device, bytes)),
        }
    }

    unsafe fn attach_managed(
        &self,
        device: i32,
        address: Address,
        attachment: Attachment,
        stream: StreamHandle,
    ) -> Result<()> {
        const ALL: usize = 0; // a length of 0 bytes selects the whole block
        self.call(
            device,
            V::NAMES.stream_attach_memory,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe {
                let attach = on.symbols.stream_attach_memory;
                attach(Raw::of(stream.0), Raw::of(address), ALL, attachment.number())
            },
            || format!("address {address:#x}, {attachment:?}"),
        )
    }

    unsafe fn prefetch_managed(
        &self,
        device: i32,
        address: Address,
        bytes: usize,
        to: Residence,
        stream: StreamHandle,
    ) -> Result<()> {
        let place = self.place(to, V::NAMES.memory_prefetch)?;
        self.call(
            device,
            V::NAMES.memory_prefetch,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.memory_prefetch)(Raw::of(address), bytes, place, Raw::of(stream.0)) },
            || format!("{bytes} bytes of managed memory at {address:#x}, to {to:?}"),
        )
    }

    fn advise_managed(&self, device: i32, address: Address, bytes: usize, advice: Advice, by: Residence) -> Result<()> {
        let place = self.place(by, V::ADVISE)?;
        self.call(
            device,
            V::ADVISE,
            |_| V::advise(self, address, bytes, advice, place),
            || format!("{bytes} bytes of managed memory at {address:#x}, {advice:?} of {by:?}"),
        )
    }

    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)> {
        let (mut first, mut bytes) = (Raw::NONE, 0);
        self.call(
            device,
            V::NAMES.memory_range,
            // SAFETY: the out-parameters are writable; the driver rejects an unknown address.
            |on| unsafe { (on.symbols.memory_range)(&mut first, &mut bytes, Raw::of(address)) },
            || format!("address {address:#x}"),
        )?;
        Ok((first.number(), bytes))
    }

    fn device_address(&self, device: i32, address: Address) -> Result<Address> {
        let mut seen = Raw::NONE;
        self.call(
            device,
            V::NAMES.host_device_address,
            // SAFETY: the out-parameter is writable; the driver rejects memory that is not pinned.
            |on| unsafe { (on.symbols.host_device_address)(&mut seen, Raw::of(address), 0) },
            || format!("address {address:#x}"),
        )?;
        Ok(seen.number())
    }

    fn share_memory(&self, device: i32, address: Address) -> Result<[u8; HANDLE_BYTES]> {
        written(|handle| {
            self.call(
                device,
                V::NAMES.ipc_get_memory,
                // SAFETY: the out-parameter is writable; the driver rejects an address that is not a plain block.
                |on| unsafe { (on.symbols.ipc_get_memory)(handle, Raw::of(address)) },
                || {
                    let shared = "shares plain memory only, such as mem_alloc's, not a pool's";
                    format!("address {address:#x}; the {} {shared}", V::LIBRARY)
                },
            )
        })
    }

    fn open_shared_memory(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<Address> {
        let mut address = Raw::NONE;
        self.call(
            device,
            V::NAMES.ipc_open_memory,
            // SAFETY: the out-parameter is writable; the driver rejects an invalid handle.
            |on| unsafe { (on.symbols.ipc_open_memory)(&mut address, structure(handle), LAZY_PEER_ACCESS) },
            || lasts_as_long_as("memory"),
        )?;
        Ok(address.number())
    }

    unsafe fn close_shared_memory(&self, device: i32, address: Address) -> Result<()> {
        self.call(
            device,
            V::NAMES.ipc_close_memory,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.ipc_close_memory)(Raw::of(address)) },
            || format!("address {address:#x}"),
        )
    }

    unsafe fn share_event(&self, device: i32, event: EventHandle) -> Result<[u8; HANDLE_BYTES]> {
        written(|handle| {
            self.call(
                device,
                V::NAMES.ipc_get_event,
                // SAFETY: the caller guarantees the conditions of the driver call; the out-parameter is writable.
                |on| unsafe { (on.symbols.ipc_get_event)(handle, Raw::of(event.0)) },
                || format!("event {:#x}; only one that was made with interprocess=True is shared", event.0),
            )
        })
    }

    fn open_shared_event(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<EventHandle> {
        let mut event = Raw::NONE;
        self.call(
            device,
            V::NAMES.ipc_open_event,
            // SAFETY: the out-parameter is writable; the driver rejects an invalid handle.
            |on| unsafe { (on.symbols.ipc_open_event)(&mut event, structure(handle)) },
            || lasts_as_long_as("event"),
        )?;
        Ok(EventHandle(event.number()))
    }
}
