//! stub
use super::*;
pub struct Cpu;
impl Backend for Cpu {
    fn kind(&self) -> BackendKind { BackendKind::Cpu }
    fn device_count(&self) -> i32 { 1 }
    fn driver_version(&self) -> i32 { 0 }
    fn library(&self) -> &str { "" }
    fn error_name(&self, _: u32) -> String { String::new() }
    fn error_text(&self, _: u32) -> String { String::new() }
    fn current_device(&self) -> Result<i32> { Ok(0) }
    fn set_current_device(&self, _: i32) -> Result<()> { Ok(()) }
    fn properties(&self, _: i32) -> Result<DeviceProperties> { Ok(DeviceProperties::default()) }
    fn memory_info(&self, _: i32) -> Result<MemoryInfo> { Ok(MemoryInfo { free: 0, total: 0 }) }
    fn synchronize_device(&self, _: i32) -> Result<()> { Ok(()) }
    unsafe fn reset_device(&self, _: i32) -> Result<()> { Ok(()) }
    fn can_access_peer(&self, _: i32, _: i32) -> Result<bool> { Ok(false) }
    fn enable_peer_access(&self, _: i32, _: i32) -> Result<()> { Ok(()) }
    fn create_pool(&self, _: i32) -> Result<Option<PoolHandle>> { Ok(None) }
    fn set_pool_release_threshold(&self, _: PoolHandle, _: u64) -> Result<()> { Ok(()) }
    fn trim_pool(&self, _: PoolHandle, _: usize) -> Result<()> { Ok(()) }
    fn pool_statistics(&self, _: PoolHandle) -> Result<PoolStatistics> { Ok(PoolStatistics::default()) }
    fn allocate_from_pool(&self, d: i32, _: PoolHandle, b: usize, _: StreamHandle) -> Result<Address> { self.allocate(d, b) }
    unsafe fn free_to_pool(&self, _: i32, _: Address, _: StreamHandle) -> Result<()> { Ok(()) }
    fn allocate(&self, _: i32, bytes: usize) -> Result<Address> { Ok(unsafe { std::alloc::alloc(std::alloc::Layout::from_size_align_unchecked(bytes, if bytes < 4096 { 16 } else { 64 })) } as usize) }
    unsafe fn free(&self, _: i32, a: Address, bytes: usize) -> Result<()> { unsafe { std::alloc::dealloc(a as *mut u8, std::alloc::Layout::from_size_align_unchecked(bytes, if bytes < 4096 { 16 } else { 64 })) }; Ok(()) }
    fn allocate_host(&self, d: i32, b: usize, _: HostFlags) -> Result<Address> { self.allocate(d, b) }
    unsafe fn free_host(&self, d: i32, a: Address, b: usize) -> Result<()> { unsafe { self.free(d, a, b) } }
    unsafe fn register_host(&self, _: i32, _: Address, _: usize, _: HostFlags) -> Result<()> { Ok(()) }
    unsafe fn unregister_host(&self, _: i32, _: Address) -> Result<()> { Ok(()) }
    fn pointer_kind(&self, _: Address) -> Result<PointerKind> { Ok(PointerKind::Host) }
    unsafe fn copy(&self, _: i32, _: Direction, t: Address, s: Address, b: usize, _: StreamHandle) -> Result<()> { unsafe { std::ptr::copy(s as *const u8, t as *mut u8, b) }; Ok(()) }
    unsafe fn copy_pitched(&self, _: i32, _: Direction, _: Pitched, _: Pitched, _: Extent, _: StreamHandle) -> Result<()> { Ok(()) }
    unsafe fn copy_peer(&self, _: i32, _: Address, _: i32, _: Address, _: usize, _: StreamHandle) -> Result<()> { Ok(()) }
    unsafe fn fill(&self, _: i32, _: Address, _: usize, _: Pattern, _: usize, _: usize, _: StreamHandle) -> Result<()> { Ok(()) }
    fn create_stream(&self, _: i32, _: StreamFlags) -> Result<StreamHandle> { Ok(StreamHandle(1)) }
    unsafe fn destroy_stream(&self, _: i32, _: StreamHandle) -> Result<()> { Ok(()) }
    unsafe fn synchronize_stream(&self, _: i32, _: StreamHandle) -> Result<()> { Ok(()) }
    unsafe fn query_stream(&self, _: i32, _: StreamHandle) -> Result<bool> { Ok(true) }
    unsafe fn wait_event(&self, _: i32, _: StreamHandle, _: EventHandle) -> Result<()> { Ok(()) }
    unsafe fn stream_device(&self, _: StreamHandle) -> Result<Option<i32>> { Ok(None) }
    fn create_event(&self, _: i32, _: EventFlags) -> Result<EventHandle> { Ok(EventHandle(1)) }
    unsafe fn destroy_event(&self, _: i32, _: EventHandle) -> Result<()> { Ok(()) }
    unsafe fn record_event(&self, _: i32, _: EventHandle, _: StreamHandle) -> Result<()> { Ok(()) }
    unsafe fn record_event_of_device(&self, _: i32, _: EventHandle) -> Result<bool> { Ok(true) }
    unsafe fn query_event(&self, _: i32, _: EventHandle) -> Result<bool> { Ok(true) }
    unsafe fn synchronize_event(&self, _: i32, _: EventHandle) -> Result<()> { Ok(()) }
    unsafe fn elapsed(&self, _: i32, _: EventHandle, _: EventHandle) -> Result<f32> { Ok(0.0) }
}
