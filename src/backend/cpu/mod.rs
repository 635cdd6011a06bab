//! Host memory as a device: always there, needs no driver.
//!
//! Every operation is done when the call returns, so streams only have identities and events only remember the time; while a
//! stream captures, operations are kept for its graph instead ([`graphs`]). Owns the events, captures and graphs; memory belongs to whoever asked for it. Errors are spelled as CUDA's runtime spells them.

mod blocks;
#[cfg(test)]
mod capture_tests;
mod codes;
mod driver_memory;
mod events;
pub mod given_out;
mod graphs;
mod machine;
mod pinned;
mod programs;
#[cfg(test)]
mod tests;

pub(super) use self::programs::{dependencies, is_whole};

use std::sync::atomic::{AtomicUsize, Ordering};

use self::codes::{INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, refuse};
use self::events::{Events, Mark};
use self::graphs::Captures;
use super::registry::Opening;
use super::{
    Address, Backend, BackendKind, DeviceProperties, Direction, DriverMemory, EventFlags, EventHandle, Extent, Graphs,
    HostFlags, MemoryInfo, Pattern, Pitched, PointerKind, PoolHandle, PoolStatistics, Programs, StreamFlags,
    StreamHandle,
};
use crate::error::{Error, OutOfMemory, Result};

/// The host.
struct Cpu {
    events: Events,
    captures: Captures,
    next_stream: AtomicUsize,
}

/// Lower numbers are the stream protocols' names of the default streams.
const FIRST_STREAM: usize = 16;

static CPU: Cpu =
    Cpu { events: Events::new(), captures: Captures::new(&graphs::TABLE), next_stream: AtomicUsize::new(FIRST_STREAM) };

/// Opens the CPU backend, which cannot fail.
pub(super) fn open() -> Opening {
    Opening { backend: Ok(&CPU), library: String::new(), driver_version: 0, attempts: Vec::new() }
}

fn check_device(operation: &'static str, device: i32) -> Result<()> {
    if device == 0 {
        return Ok(());
    }
    Err(refuse(operation, INVALID_DEVICE, format!("device {device} was asked for; the CPU backend has device 0 only")))
}

fn no_pool(operation: &'static str, pool: PoolHandle) -> Error {
    refuse(operation, INVALID_HANDLE, format!("pool {:#x}; the CPU backend has no pools", pool.0))
}

fn allocate(operation: &'static str, device: i32, bytes: usize) -> Result<Address> {
    check_device(operation, device)?;
    if bytes == 0 {
        return Err(refuse(operation, INVALID_VALUE, "0 bytes asked for".to_owned()));
    }
    blocks::allocate(bytes).ok_or_else(|| {
        let memory = machine::memory();
        Error::OutOfMemory(Box::new(OutOfMemory {
            operation,
            name: codes::name(codes::OUT_OF_MEMORY).to_owned(),
            text: codes::text(codes::OUT_OF_MEMORY).to_owned(),
            requested: bytes,
            device: "cpu".to_owned(),
            free: memory.map(|info| info.free),
            total: memory.map(|info| info.total),
            used: 0,
            limit: None,
        }))
    })
}

impl Backend for Cpu {
    fn kind(&self) -> BackendKind {
        BackendKind::Cpu
    }

    fn device_count(&self) -> i32 {
        1
    }

    fn driver_version(&self) -> i32 {
        0
    }

    fn library(&self) -> &str {
        ""
    }

    fn error_name(&self, code: u32) -> String {
        codes::name(code).to_owned()
    }

    fn error_text(&self, code: u32) -> String {
        codes::text(code).to_owned()
    }

    fn programs(&self) -> Result<&dyn Programs> {
        Ok(self)
    }

    fn graphs(&self) -> Result<&dyn Graphs> {
        Ok(self)
    }

    fn driver_memory(&self) -> Result<&dyn DriverMemory> {
        Ok(self)
    }

    fn current_device(&self) -> Result<i32> {
        Ok(0)
    }

    fn set_current_device(&self, device: i32) -> Result<()> {
        check_device("set_current_device", device)
    }

    fn properties(&self, device: i32) -> Result<DeviceProperties> {
        check_device("properties", device)?;
        Ok(machine::properties())
    }

    fn memory_info(&self, device: i32) -> Result<MemoryInfo> {
        check_device("memory_info", device)?;
        machine::memory().ok_or_else(|| Error::not_supported("this system does not say how much memory is free"))
    }

    fn synchronize_device(&self, device: i32) -> Result<()> {
        check_device("synchronize_device", device)?;
        self.captures.refuse_any("synchronize_device")
    }

    unsafe fn reset_device(&self, device: i32) -> Result<()> {
        check_device("reset_device", device)?;
        self.events.clear();
        Ok(())
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        check_device("can_access_peer", device)?;
        check_device("can_access_peer", peer)?;
        Ok(false)
    }

    fn enable_peer_access(&self, device: i32, peer: i32) -> Result<()> {
        check_device("enable_peer_access", device)?;
        let detail = format!("peer {peer}; the CPU backend has one device, and a device is no peer of itself");
        Err(refuse("enable_peer_access", INVALID_DEVICE, detail))
    }

    fn create_pool(&self, device: i32, _: u64) -> Result<Option<PoolHandle>> {
        check_device("create_pool", device)?;
        Ok(None)
    }

    fn set_pool_release_threshold(&self, pool: PoolHandle, _bytes: u64) -> Result<()> {
        Err(no_pool("set_pool_release_threshold", pool))
    }

    fn trim_pool(&self, pool: PoolHandle, _keep: usize) -> Result<()> {
        Err(no_pool("trim_pool", pool))
    }

    fn pool_statistics(&self, pool: PoolHandle) -> Result<PoolStatistics> {
        Err(no_pool("pool_statistics", pool))
    }

    fn allocate_from_pool(&self, _: i32, pool: PoolHandle, _: usize, _: StreamHandle) -> Result<Address> {
        Err(no_pool("allocate_from_pool", pool))
    }

    unsafe fn free_to_pool(&self, _: i32, address: Address, _: StreamHandle) -> Result<()> {
        let detail = format!("address {address:#x}; the CPU backend has no pools");
        Err(refuse("free_to_pool", INVALID_VALUE, detail))
    }

    fn allocate(&self, device: i32, bytes: usize) -> Result<Address> {
        allocate("allocate", device, bytes)
    }

    unsafe fn free(&self, _: i32, address: Address, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise is the same.
        unsafe { blocks::free(address, bytes) };
        Ok(())
    }

    fn allocate_host(&self, device: i32, bytes: usize, _: HostFlags) -> Result<Address> {
        let address = allocate("allocate_host", device, bytes)?;
        pinned::enter(address, bytes);
        Ok(address)
    }

    unsafe fn free_host(&self, _: i32, address: Address, bytes: usize) -> Result<()> {
        pinned::remove(address);
        // SAFETY: the caller's promise is the same.
        unsafe { blocks::free(address, bytes) };
        Ok(())
    }

    unsafe fn register_host(&self, device: i32, address: Address, bytes: usize, _: HostFlags) -> Result<()> {
        check_device("register_host", device)?;
        if address == 0 || bytes == 0 {
            let detail = format!("address {address:#x}, {bytes} bytes");
            return Err(refuse("register_host", INVALID_VALUE, detail));
        }
        pinned::enter(address, bytes);
        Ok(())
    }

    unsafe fn unregister_host(&self, device: i32, address: Address) -> Result<()> {
        check_device("unregister_host", device)?;
        pinned::remove(address);
        Ok(())
    }

    fn pointer_kind(&self, address: Address) -> Result<PointerKind> {
        Ok(if pinned::holds(address) { PointerKind::Host } else { PointerKind::Unregistered })
    }

    unsafe fn copy(
        &self,
        _: i32,
        _: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        self.run("copy", stream, move || {
            // SAFETY: the caller promises that both ranges are valid.
            unsafe { blocks::copy(target, source, bytes) };
            Ok(())
        })
    }

    unsafe fn copy_pitched(
        &self,
        _: i32,
        _: Direction,
        target: Pitched,
        source: Pitched,
        extent: Extent,
        stream: StreamHandle,
    ) -> Result<()> {
        self.run("copy_pitched", stream, move || {
            // SAFETY: the caller promises that both boxes are valid.
            unsafe { blocks::copy_pitched(target, source, extent) };
            Ok(())
        })
    }

    unsafe fn copy_peer(
        &self,
        target_device: i32,
        target: Address,
        source_device: i32,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        check_device("copy_peer", target_device)?;
        check_device("copy_peer", source_device)?;
        self.run("copy_peer", stream, move || {
            // SAFETY: the caller promises that both ranges are valid.
            unsafe { blocks::copy(target, source, bytes) };
            Ok(())
        })
    }

    unsafe fn fill(
        &self,
        _: i32,
        target: Address,
        pitch: usize,
        pattern: Pattern,
        count: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        self.run("fill", stream, move || {
            // SAFETY: the caller promises that the rows are valid and aligned for the pattern.
            unsafe { blocks::fill(target, pitch, pattern, count, height) };
            Ok(())
        })
    }

    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
        check_device("create_stream", device)?;
        Ok(graphs::stream_handle(self.next_stream.fetch_add(1, Ordering::Relaxed), flags.non_blocking))
    }

    unsafe fn destroy_stream(&self, _: i32, stream: StreamHandle) -> Result<()> {
        self.captures.forget(stream);
        Ok(())
    }

    unsafe fn synchronize_stream(&self, _: i32, stream: StreamHandle) -> Result<()> {
        self.captures.refuse("synchronize_stream", stream)
    }

    unsafe fn query_stream(&self, _: i32, stream: StreamHandle) -> Result<bool> {
        self.captures.refuse("query_stream", stream)?;
        Ok(true)
    }

    unsafe fn wait_event(&self, _: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
        match self.events.mark("wait_event", event)? {
            Mark::None => Ok(()),
            Mark::Outside => self.captures.refuse_outside("wait_event", stream),
            Mark::Captured(capture) => self.captures.join("wait_event", stream, capture),
        }
    }

    unsafe fn stream_device(&self, _: StreamHandle) -> Result<Option<i32>> {
        Ok(Some(0))
    }

    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle> {
        check_device("create_event", device)?;
        self.events.create(flags)
    }

    unsafe fn destroy_event(&self, _: i32, event: EventHandle) -> Result<()> {
        self.events.destroy(event)
    }

    unsafe fn record_event(&self, _: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
        let capture = if self.captures.is_any() { self.captures.next("record_event", stream)? } else { None };
        self.events.record("record_event", event, capture)
    }

    unsafe fn record_event_of_device(&self, _: i32, event: EventHandle) -> Result<bool> {
        self.captures.refuse_any("record_event_of_device")?;
        self.events.record("record_event_of_device", event, None)?;
        Ok(true)
    }

    unsafe fn query_event(&self, _: i32, event: EventHandle) -> Result<bool> {
        self.events.check("query_event", event)?;
        Ok(true)
    }

    unsafe fn synchronize_event(&self, _: i32, event: EventHandle) -> Result<()> {
        self.events.check("synchronize_event", event)
    }

    unsafe fn elapsed(&self, _: i32, start: EventHandle, end: EventHandle) -> Result<f32> {
        self.events.elapsed(start, end)
    }
}
