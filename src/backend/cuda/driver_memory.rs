//! Pitched and managed memory, memory and events for other processes, and what the driver knows of an address.

use std::ffi::{c_char, c_uint};

use super::context::beside_captures;
use super::driver::Cuda;
use super::errors::{SUCCESS, allocation_refusal};
use super::events::raw as raw_event;
use super::memory::host;
use super::streams::raw as raw_stream;
use super::sys::{CUdeviceptr, CUevent, CUipcEventHandle, CUipcMemHandle};
use crate::backend::{Address, Attachment, DriverMemory, EventHandle, HANDLE_BYTES, StreamHandle};
use crate::error::Result;

/// Reaches the memory of another device once that is needed; the driver takes no other flag, and not none.
const LAZY_PEER_ACCESS: c_uint = 1;

impl DriverMemory for Cuda {
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, access_size: u32) -> Result<(Address, usize)> {
        let operation = "cuMemAllocPitch";
        let current = self.enter(device, operation)?;
        let (mut address, mut pitch): (CUdeviceptr, usize) = (0, 0);
        // SAFETY: both targets are writable.
        match beside_captures(&self.api, || unsafe {
            (self.api.cuMemAllocPitch_v2)(&mut address, &mut pitch, width, height, access_size)
        }) {
            SUCCESS => Ok((address as Address, pitch)),
            code => Err(allocation_refusal(current.api, code, operation, device, width.saturating_mul(height))),
        }
    }

    fn allocate_managed(&self, device: i32, bytes: usize, attachment: Attachment) -> Result<Address> {
        let operation = "cuMemAllocManaged";
        let current = self.enter(device, operation)?;
        let mut address: CUdeviceptr = 0;
        // SAFETY: the target is writable.
        match beside_captures(&self.api, || unsafe {
            (self.api.cuMemAllocManaged)(&mut address, bytes, attachment.number())
        }) {
            SUCCESS => Ok(address as Address),
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
        const ALL: usize = 0; // bytes: the driver takes the whole block
        self.call(
            device,
            "cuStreamAttachMemAsync",
            // SAFETY: the caller's promise is the driver's condition.
            |on| unsafe {
                (on.api.cuStreamAttachMemAsync)(raw_stream(stream), address as CUdeviceptr, ALL, attachment.number())
            },
            || format!("address {address:#x}, {attachment:?}"),
        )
    }

    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)> {
        let (mut first, mut bytes): (CUdeviceptr, usize) = (0, 0);
        self.call(
            device,
            "cuMemGetAddressRange",
            // SAFETY: both targets are writable; the driver refuses an address that it does not know.
            |on| unsafe { (on.api.cuMemGetAddressRange_v2)(&mut first, &mut bytes, address as CUdeviceptr) },
            || format!("address {address:#x}"),
        )?;
        Ok((first as Address, bytes))
    }

    fn device_address(&self, device: i32, address: Address) -> Result<Address> {
        let mut seen: CUdeviceptr = 0;
        self.call(
            device,
            "cuMemHostGetDevicePointer",
            // SAFETY: the target is writable; the driver refuses what is not pinned.
            |on| unsafe { (on.api.cuMemHostGetDevicePointer_v2)(&mut seen, host(address), 0) },
            || format!("address {address:#x}"),
        )?;
        Ok(seen as Address)
    }

    fn share_memory(&self, device: i32, address: Address) -> Result<[u8; HANDLE_BYTES]> {
        let mut handle = CUipcMemHandle { reserved: [0; HANDLE_BYTES] };
        self.call(
            device,
            "cuIpcGetMemHandle",
            // SAFETY: the target is writable; the driver refuses what is no plain block.
            |on| unsafe { (on.api.cuIpcGetMemHandle)(&mut handle, address as CUdeviceptr) },
            || format!("address {address:#x}; the driver shares plain memory only, such as mem_alloc's, not a pool's"),
        )?;
        Ok(handle.reserved.map(|byte| byte as u8))
    }

    fn open_shared_memory(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<Address> {
        let handle = CUipcMemHandle { reserved: handle.map(|byte| byte as c_char) };
        let mut address: CUdeviceptr = 0;
        self.call(
            device,
            "cuIpcOpenMemHandle",
            // SAFETY: the target is writable; the driver refuses a handle that it did not make.
            |on| unsafe { (on.api.cuIpcOpenMemHandle_v2)(&mut address, handle, LAZY_PEER_ACCESS) },
            || {
                "a handle is good in other processes than the one that made it, as long as that has the memory"
                    .to_owned()
            },
        )?;
        Ok(address as Address)
    }

    unsafe fn close_shared_memory(&self, device: i32, address: Address) -> Result<()> {
        self.call(
            device,
            "cuIpcCloseMemHandle",
            // SAFETY: the caller's promise is the driver's condition.
            |on| unsafe { (on.api.cuIpcCloseMemHandle)(address as CUdeviceptr) },
            || format!("address {address:#x}"),
        )
    }

    unsafe fn share_event(&self, device: i32, event: EventHandle) -> Result<[u8; HANDLE_BYTES]> {
        let mut handle = CUipcEventHandle { reserved: [0; HANDLE_BYTES] };
        self.call(
            device,
            "cuIpcGetEventHandle",
            // SAFETY: the target is writable and the event alive, as the caller promises.
            |on| unsafe { (on.api.cuIpcGetEventHandle)(&mut handle, raw_event(event)) },
            || format!("event {:#x}; only one that was made with interprocess=True is shared", event.0),
        )?;
        Ok(handle.reserved.map(|byte| byte as u8))
    }

    fn open_shared_event(&self, device: i32, handle: &[u8; HANDLE_BYTES]) -> Result<EventHandle> {
        let handle = CUipcEventHandle { reserved: handle.map(|byte| byte as c_char) };
        let mut event: CUevent = std::ptr::null_mut();
        self.call(
            device,
            "cuIpcOpenEventHandle",
            // SAFETY: the target is writable; the driver refuses a handle that it did not make.
            |on| unsafe { (on.api.cuIpcOpenEventHandle)(&mut event, handle) },
            || {
                "a handle is good in other processes than the one that made it, as long as that has the event"
                    .to_owned()
            },
        )?;
        Ok(EventHandle(event.expose_provenance()))
    }
}
