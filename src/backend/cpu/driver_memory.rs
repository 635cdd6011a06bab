//! Implements pitched, managed and shared memory, all of which are ordinary memory on the host.

use super::driver::{Cpu, check_device};
use super::error_codes::{INVALID_VALUE, refuse};
use super::host_memory_registry;
use super::memory::allocate;
use crate::{
    Address, Advice, Attachment, DriverMemory, EventHandle, HANDLE_BYTES, PointerKind, Residence, StreamHandle,
};
use pygpu_base::error::{Error, Result};

/// Alignment of rows in bytes, which is the size of a cache line.
const ROW: usize = 64;

fn no_sharing() -> Error {
    Error::not_supported(
        "memory and events of the CPU cannot be opened by other processes: use multiprocessing's, or a GPU",
    )
}

/// Rejects a call on managed memory that a GPU driver would reject: a range outside managed memory, or an unknown
/// device.
fn check_managed(operation: &'static str, address: Address, bytes: usize, place: Residence) -> Result<()> {
    let known =
        host_memory_registry::kind_of(address).filter(|(kind, there)| *kind == PointerKind::Managed && bytes <= *there);
    if known.is_none() || bytes == 0 {
        let detail = format!("{bytes} bytes at {address:#x} are not within managed memory");
        return Err(refuse(operation, INVALID_VALUE, detail));
    }
    match place {
        Residence::Host => Ok(()),
        Residence::Device(device) => check_device(operation, device),
    }
}

impl DriverMemory for Cpu {
    fn allocate_pitched(&self, device: i32, width: usize, height: usize, _: u32) -> Result<(Address, usize)> {
        let operation = "allocate_pitched";
        let pitch = width.checked_next_multiple_of(ROW);
        let Some((pitch, bytes)) = pitch.and_then(|pitch| Some((pitch, pitch.checked_mul(height)?))) else {
            return Err(refuse(operation, INVALID_VALUE, format!("{height} rows of {width} bytes")));
        };
        Ok((allocate(operation, device, bytes)?, pitch))
    }

    fn allocate_managed(&self, device: i32, bytes: usize, _: Attachment) -> Result<Address> {
        let address = allocate("allocate_managed", device, bytes)?;
        host_memory_registry::enter_managed(address, bytes);
        Ok(address)
    }

    unsafe fn attach_managed(&self, device: i32, _: Address, _: Attachment, _: StreamHandle) -> Result<()> {
        check_device("attach_managed", device)
    }

    unsafe fn prefetch_managed(
        &self,
        device: i32,
        address: Address,
        bytes: usize,
        to: Residence,
        _: StreamHandle,
    ) -> Result<()> {
        check_device("prefetch_managed", device)?;
        check_managed("prefetch_managed", address, bytes, to)
    }

    fn advise_managed(&self, device: i32, address: Address, bytes: usize, _: Advice, by: Residence) -> Result<()> {
        check_device("advise_managed", device)?;
        check_managed("advise_managed", address, bytes, by)
    }

    fn address_range(&self, device: i32, address: Address) -> Result<(Address, usize)> {
        check_device("address_range", device)?;
        Err(refuse(
            "address_range",
            INVALID_VALUE,
            format!("address {address:#x} is no allocation of PyGPU's driver calls"),
        ))
    }

    fn device_address(&self, device: i32, address: Address) -> Result<Address> {
        check_device("device_address", device)?;
        Ok(address)
    }

    fn share_memory(&self, _: i32, _: Address) -> Result<[u8; HANDLE_BYTES]> {
        Err(no_sharing())
    }

    fn open_shared_memory(&self, _: i32, _: &[u8; HANDLE_BYTES]) -> Result<Address> {
        Err(no_sharing())
    }

    unsafe fn close_shared_memory(&self, _: i32, _: Address) -> Result<()> {
        Err(no_sharing())
    }

    unsafe fn share_event(&self, _: i32, _: EventHandle) -> Result<[u8; HANDLE_BYTES]> {
        Err(no_sharing())
    }

    fn open_shared_event(&self, _: i32, _: &[u8; HANDLE_BYTES]) -> Result<EventHandle> {
        Err(no_sharing())
    }
}
