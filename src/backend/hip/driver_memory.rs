//! Pitched and managed memory, memory and events for other processes, and what the runtime knows of an address.

use std::ffi::{c_char, c_uint};

use super::context::beside_captures;
use super::driver::Hip;
use super::errors::{SUCCESS, allocation_refusal};
use super::events::raw as raw_event;
use super::memory::pointer;
use super::streams::raw as raw_stream;
use super::sys::{hipEvent_t, hipIpcEventHandle_t, hipIpcMemHandle_t};
use crate::backend::{Address, Attachment, DriverMemory, EventHandle, HANDLE_BYTES, StreamHandle};
use crate::error::Result;

/// Reaches the memory of another device once that is needed; the runtime takes no other flag, and not none.
const LAZY_PEER_ACCESS: c_uint = 1;

impl DriverMemory for Hip {
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, access_size: u32) -> Result<(Address, usize)> {
        let operation = "hipMemAllocPitch";
        let current = self.enter(device, operation)?;
        let (mut address, mut pitch) = (std::ptr::null_mut(), 0);
        // SAFETY: both targets are writable.
        match beside_captures(&self.api, || unsafe {
            (self.api.hipMemAllocPitch)(&mut address, &mut pitch, width, height, access_size)
        }) {
            SUCCESS => Ok((address.expose_provenance(), pitch)),
            code => Err(allocation_refusal(current.api, code, operation, device, width.saturating_mul(height))),
        }
    }

    fn allocate_managed(&self, device: i32, bytes: usize, attachment: Attachment) -> Result<Address> {
        let operation = "hipMallocManaged";
        let current = self.enter(device, operation)?;
        let mut address = std::ptr::null_mut();
        // SAFETY: the target is writable.
        match beside_captures(&self.api, || unsafe {
            (self.api.hipMallocManaged)(&mut address, bytes, attachment.number())
        }) {
            SUCCESS => Ok(address.expose_provenance()),
            code => Err(allocation_refusal(current.api, code, operation, device, bytes)),
        }
    }

    unsafe fn attach_managed(
        &self,
        device: i32,
        address: Address,
        attachment: Attachment,
        stream: StreamHandle,
    ) -> Result<()> {
        const ALL: usize = 0; // bytes: the runtime takes the whole block
        self.call(
            device,
            "hipStreamAttachMemAsync",
            // SAFETY: the caller's promise is the runtime's condition.
            |on| unsafe {
                (on.api.hipStreamAttachMemAsync)(raw_stream(stream), pointer(address), ALL, attachment.number())
            },
            || format!("address {address:#x}, {attachment:?}"),
        )
    }

    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)> {
        let (mut first, mut bytes) = (std::ptr::null_mut(), 0);
        self.call(
            device,
            "hipMemGetAddressRange",
            // SAFETY: both targets are writable; the runtime refuses an address that it does not know.
            |on| unsafe { (on.api.hipMemGetAddressRange)(&mut first, &mut bytes, pointer(address)) },
            || format!("address {address:#x}"),
        )?;
        Ok((first.expose_provenance(), bytes))
    }

    fn device_address(&self, device: i32, address: Address) -> Result<Address> {
        let mut seen = std::ptr::null_mut();
        self.call(
            device,
            "hipHostGetDevicePointer",
            // SAFETY: the target is writable; the runtime refuses what is not pinned.
            |on| unsafe { (on.api.hipHostGetDevicePointer)(&mut seen, pointer(address), 0) },
            || format!("address {address:#x}"),
        )?;
        Ok(seen.expose_provenance())
    }

    fn share_memory(&self, device: i32, address: Address) -> Result<[u8; HANDLE_BYTES]> {
        let mut handle = hipIpcMemHandle_t { reserved: [0; HANDLE_BYTES] };
        self.call(
            device,
            "hipIpcGetMemHandle",
            // SAFETY: the target is writable; the runtime refuses what is no plain block.
            |on| unsafe { (on.api.hipIpcGetMemHandle)(&mut handle, pointer(address)) },
            || format!("address {address:#x}; the runtime shares plain memory only, such as mem_alloc's, not a pool's"),
        )?;
        Ok(handle.reserved.map(|byte| byte as u8))
    }

    fn open_shared_memory(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<Address> {
        let handle = hipIpcMemHandle_t { reserved: handle.map(|byte| byte as c_char) };
        let mut address = std::ptr::null_mut();
        self.call(
            device,
            "hipIpcOpenMemHandle",
            // SAFETY: the target is writable; the runtime refuses a handle that it did not make.
            |on| unsafe { (on.api.hipIpcOpenMemHandle)(&mut address, handle, LAZY_PEER_ACCESS) },
            || {
                "a handle is good in other processes than the one that made it, as long as that has the memory"
                    .to_owned()
            },
        )?;
        Ok(address.expose_provenance())
    }

    unsafe fn close_shared_memory(&self, device: i32, address: Address) -> Result<()> {
        self.call(
            device,
            "hipIpcCloseMemHandle",
            // SAFETY: the caller's promise is the runtime's condition.
            |on| unsafe { (on.api.hipIpcCloseMemHandle)(pointer(address)) },
            || format!("address {address:#x}"),
        )
    }

    unsafe fn share_event(&self, device: i32, event: EventHandle) -> Result<[u8; HANDLE_BYTES]> {
        let mut handle = hipIpcEventHandle_t { reserved: [0; HANDLE_BYTES] };
        self.call(
            device,
            "hipIpcGetEventHandle",
            // SAFETY: the target is writable and the event alive, as the caller promises.
            |on| unsafe { (on.api.hipIpcGetEventHandle)(&mut handle, raw_event(event)) },
            || format!("event {:#x}; only one that was made with interprocess=True is shared", event.0),
        )?;
        Ok(handle.reserved.map(|byte| byte as u8))
    }

    fn open_shared_event(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<EventHandle> {
        let handle = hipIpcEventHandle_t { reserved: handle.map(|byte| byte as c_char) };
        let mut event: hipEvent_t = std::ptr::null_mut();
        self.call(
            device,
            "hipIpcOpenEventHandle",
            // SAFETY: the target is writable; the runtime refuses a handle that it did not make.
            |on| unsafe { (on.api.hipIpcOpenEventHandle)(&mut event, handle) },
            || {
                "a handle is good in other processes than the one that made it, as long as that has the event"
                    .to_owned()
            },
        )?;
        Ok(EventHandle(event.expose_provenance()))
    }
}
