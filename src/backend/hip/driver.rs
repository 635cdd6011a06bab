//! The opened runtime, as the trait asks for it. Every method hands on to the file of its noun.

use std::sync::OnceLock;

use super::context::Slot;
use super::hiprtc::Hiprtc;
use super::modules::Images;
use super::sys::Api;
use super::{copies, errors, events, memory, properties, streams};
use crate::backend::{
    Address, Backend, BackendKind, Copies, DeviceProperties, Devices, Direction, DriverMemory, EventFlags, EventHandle,
    Events, Extent, Graphs, HostFlags, Memory, MemoryInfo, Pattern, Pitched, PointerKind, PoolHandle, PoolStatistics,
    Programs, StreamFlags, StreamHandle, Streams,
};
use crate::error::Result;

/// AMD's runtime with at least one device.
pub struct Hip {
    pub api: Api,
    pub library: String,
    pub version: i32,
    /// One for each device, in the runtime's order.
    pub slots: Box<[Slot]>,
    /// What is loaded.
    pub images: Images,
    /// Opened when something is compiled for the first time.
    pub hiprtc: OnceLock<Hiprtc>,
}

// In the unsafe methods the caller's promise is, word for word, that of the function which is handed on to.
#[allow(clippy::undocumented_unsafe_blocks)]
impl Devices for Hip {
    fn kind(&self) -> BackendKind {
        BackendKind::Hip
    }

    fn device_count(&self) -> i32 {
        i32::try_from(self.slots.len()).unwrap_or(i32::MAX)
    }

    fn driver_version(&self) -> i32 {
        self.version
    }

    fn library(&self) -> &str {
        &self.library
    }

    fn error_name(&self, code: u32) -> String {
        errors::name(&self.api, code)
    }

    fn error_text(&self, code: u32) -> String {
        errors::text(&self.api, code)
    }

    fn current_device(&self) -> Result<i32> {
        self.current()
    }

    fn set_current_device(&self, device: i32) -> Result<()> {
        self.set_current(device)
    }

    fn properties(&self, device: i32) -> Result<DeviceProperties> {
        properties::properties(self, device)
    }

    fn memory_info(&self, device: i32) -> Result<MemoryInfo> {
        properties::memory_info(self, device)
    }

    fn synchronize_device(&self, device: i32) -> Result<()> {
        self.synchronize(device)
    }

    unsafe fn reset_device(&self, device: i32) -> Result<()> {
        unsafe { self.reset(device) }
    }

    fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool> {
        self.can_access(device, peer)
    }

    fn enable_peer_access(&self, device: i32, peer: i32) -> Result<()> {
        self.enable_access(device, peer)
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Memory for Hip {
    fn create_pool(&self, device: i32, threshold: u64) -> Result<Option<PoolHandle>> {
        memory::create_pool(self, device, threshold)
    }

    fn set_pool_release_threshold(&self, pool: PoolHandle, bytes: u64) -> Result<()> {
        memory::set_release_threshold(self, pool, bytes)
    }

    fn trim_pool(&self, pool: PoolHandle, keep: usize) -> Result<()> {
        memory::trim_pool(self, pool, keep)
    }

    fn pool_statistics(&self, pool: PoolHandle) -> Result<PoolStatistics> {
        memory::pool_statistics(self, pool)
    }

    fn allocate_from_pool(&self, device: i32, pool: PoolHandle, bytes: usize, stream: StreamHandle) -> Result<Address> {
        memory::allocate_from_pool(self, device, pool, bytes, stream)
    }

    unsafe fn free_to_pool(&self, device: i32, address: Address, stream: StreamHandle) -> Result<()> {
        unsafe { memory::free_to_pool(self, device, address, stream) }
    }

    fn allocate(&self, device: i32, bytes: usize) -> Result<Address> {
        memory::allocate(self, device, bytes)
    }

    unsafe fn free(&self, device: i32, address: Address, _: usize) -> Result<()> {
        unsafe { memory::free(self, device, address) }
    }

    fn allocate_host(&self, device: i32, bytes: usize, flags: HostFlags) -> Result<Address> {
        memory::allocate_host(self, device, bytes, flags)
    }

    unsafe fn free_host(&self, device: i32, address: Address, _: usize) -> Result<()> {
        unsafe { memory::free_host(self, device, address) }
    }

    unsafe fn register_host(&self, device: i32, address: Address, bytes: usize, flags: HostFlags) -> Result<()> {
        unsafe { memory::register_host(self, device, address, bytes, flags) }
    }

    unsafe fn unregister_host(&self, device: i32, address: Address) -> Result<()> {
        unsafe { memory::unregister_host(self, device, address) }
    }

    fn pointer_kind(&self, address: Address) -> Result<PointerKind> {
        memory::pointer_kind(self, address)
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Copies for Hip {
    unsafe fn copy(
        &self,
        device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        unsafe { copies::copy(self, device, direction, target, source, bytes, stream) }
    }

    unsafe fn copy_pitched(
        &self,
        device: i32,
        direction: Direction,
        target: Pitched,
        source: Pitched,
        extent: Extent,
        stream: StreamHandle,
    ) -> Result<()> {
        unsafe { copies::copy_pitched(self, device, direction, target, source, extent, stream) }
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
        unsafe { copies::copy_peer(self, (target_device, target), (source_device, source), bytes, stream) }
    }

    unsafe fn fill(
        &self,
        device: i32,
        target: Address,
        pitch: usize,
        pattern: Pattern,
        count: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        unsafe { copies::fill(self, device, (target, pitch), pattern, (count, height), stream) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Streams for Hip {
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
        streams::create(self, device, flags)
    }

    unsafe fn destroy_stream(&self, device: i32, stream: StreamHandle) -> Result<()> {
        unsafe { streams::destroy(self, device, stream) }
    }

    unsafe fn synchronize_stream(&self, device: i32, stream: StreamHandle) -> Result<()> {
        unsafe { streams::synchronize(self, device, stream) }
    }

    unsafe fn query_stream(&self, device: i32, stream: StreamHandle) -> Result<bool> {
        unsafe { streams::query(self, device, stream) }
    }

    unsafe fn wait_event(&self, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
        unsafe { streams::wait(self, device, stream, event) }
    }

    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>> {
        unsafe { streams::device(self, stream) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Events for Hip {
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle> {
        events::create(self, device, flags)
    }

    unsafe fn destroy_event(&self, device: i32, event: EventHandle) -> Result<()> {
        unsafe { events::destroy(self, device, event) }
    }

    unsafe fn record_event(&self, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
        unsafe { events::record(self, device, event, stream) }
    }

    unsafe fn record_event_of_device(&self, device: i32, event: EventHandle) -> Result<bool> {
        unsafe { events::record_device(self, device, event) }
    }

    unsafe fn query_event(&self, device: i32, event: EventHandle) -> Result<bool> {
        unsafe { events::query(self, device, event) }
    }

    unsafe fn synchronize_event(&self, device: i32, event: EventHandle) -> Result<()> {
        unsafe { events::synchronize(self, device, event) }
    }

    unsafe fn elapsed(&self, device: i32, start: EventHandle, end: EventHandle) -> Result<f32> {
        unsafe { events::elapsed(self, device, start, end) }
    }
}

#[allow(clippy::undocumented_unsafe_blocks)]
impl Backend for Hip {
    fn driver_memory(&self) -> Result<&dyn DriverMemory> {
        Ok(self)
    }

    fn programs(&self) -> Result<&dyn Programs> {
        Ok(self)
    }

    fn graphs(&self) -> Result<&dyn Graphs> {
        Ok(self)
    }
}
