//! Implements a backend over host memory that records its calls. This backend makes it possible to test waits and
//! lifetimes without a device.

use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, c_void};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use pygpu::backend::*;
use pygpu::error::{Error, OutOfMemory, Result};

/// Copy direction of uploads. `promised` requires that the copy's stream does not capture; no stream captures here.
#[allow(dead_code, clippy::undocumented_unsafe_blocks)]
pub const UP: Direction = Direction::HostToDevice(unsafe { HostUse::promised() });
#[allow(dead_code, clippy::undocumented_unsafe_blocks)]
pub const DOWN: Direction = Direction::DeviceToHost(unsafe { HostUse::promised() });

/// Describes a call that the backend received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Call {
    Allocate(usize),
    Free { stream: usize },
    Record { event: usize, stream: usize },
    RecordDevice { event: usize },
    Wait { stream: usize, event: usize },
    SynchronizeEvent,
    SynchronizeStream(usize),
    SynchronizeDevice,
    Trim,
    DestroyStream(usize),
    Copy(Direction),
    CopyPitched { width: usize, height: usize, depth: usize },
    Fill { count: usize, height: usize },
    Launch { stream: usize },
    Unload,
}

/// Work that is pending on a stream of a busy device (see `Recording::lazy`).
enum Work {
    Copy { target: usize, source: usize, bytes: usize },
    Event(usize),
}

fn is_event(work: &Work, event: usize) -> bool {
    matches!(work, Work::Event(other) if *other == event)
}

/// Backend that records its calls. The next `refuse_allocations` allocations fail.
#[derive(Default)]
pub struct Recording {
    pub calls: Mutex<Vec<Call>>,
    pub refuse_allocations: AtomicUsize,
    pub refuse_free: AtomicUsize,
    pub device_events: bool,
    /// Whether the device is busy: copies from and to pinned memory run only when a caller waits for them.
    pub lazy: AtomicBool,
    /// Selects the copy that fails: 1 is the next copy, 2 the copy after that, and 0 means that no copy fails.
    pub failing_copy: AtomicUsize,
    /// Whether allocations of pinned memory fail.
    pub refuse_host: AtomicBool,
    /// Bytes of pinned memory that are allocated now; `pinned_peak` is the maximum so far.
    pub pinned: AtomicUsize,
    pub pinned_peak: AtomicUsize,
    queue: Mutex<VecDeque<(usize, Work)>>,
    blocks: Mutex<HashMap<usize, Box<[u8]>>>,
    host_blocks: Mutex<HashMap<usize, Box<[u8]>>>,
    next: AtomicUsize,
}

impl Recording {
    /// Creates a backend that lives until the end of the test process, like the backends of PyGPU.
    pub fn new() -> &'static Self {
        Box::leak(Box::new(Self { device_events: true, next: AtomicUsize::new(100), ..Self::default() }))
    }

    /// Returns the calls that were recorded since the previous call of `take`.
    pub fn take(&self) -> Vec<Call> {
        std::mem::take(&mut self.calls.lock().unwrap())
    }

    fn note(&self, call: Call) {
        self.calls.lock().unwrap().push(call);
    }

    /// Runs the pending work of a stream: up to `event`, or all work if `event` is `None`.
    fn run(&self, stream: usize, event: Option<usize>) {
        let mut queue = self.queue.lock().unwrap();
        if event.is_some_and(|event| !queue.iter().any(|(_, work)| is_event(work, event))) {
            return;
        }
        let mut left = VecDeque::new();
        let mut is_over = false;
        while let Some((owner, work)) = queue.pop_front() {
            match work {
                work if owner != stream || is_over => left.push_back((owner, work)),
                Work::Copy { target, source, bytes } => unsafe {
                    std::ptr::copy(source as *const u8, target as *mut u8, bytes)
                },
                Work::Event(passed) => is_over = event == Some(passed),
            }
        }
        *queue = left;
    }

    /// Returns the stream on which an event is still pending.
    fn stream_of(&self, event: usize) -> Option<usize> {
        self.queue.lock().unwrap().iter().find(|(_, work)| is_event(work, event)).map(|(stream, _)| *stream)
    }

    fn copy_now_or_later(&self, target: usize, source: usize, bytes: usize, stream: usize) {
        let is_pinned = |address| holds(&self.host_blocks, address);
        if self.lazy.load(Ordering::Relaxed) && (is_pinned(target) || is_pinned(source)) {
            self.queue.lock().unwrap().push_back((stream, Work::Copy { target, source, bytes }));
        } else {
            self.run(stream, None);
            unsafe { std::ptr::copy(source as *const u8, target as *mut u8, bytes) };
        }
    }

    fn check_failure(&self) -> Result<()> {
        let left = self.failing_copy.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left == Ok(1) { Err(Error::value("the copy was refused")) } else { Ok(()) }
    }

    fn handle(&self) -> usize {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

fn holds(blocks: &Mutex<HashMap<usize, Box<[u8]>>>, address: usize) -> bool {
    blocks.lock().unwrap().iter().any(|(start, block)| (*start..*start + block.len()).contains(&address))
}

fn countdown(counter: &AtomicUsize) -> bool {
    counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

impl Devices for Recording {
    fn kind(&self) -> BackendKind {
        BackendKind::Cuda
    }
    fn device_count(&self) -> i32 {
        2
    }
    fn driver_version(&self) -> i32 {
        12080
    }
    fn library(&self) -> &str {
        "recording"
    }
    fn error_name(&self, _code: u32) -> String {
        "RECORDED".into()
    }
    fn error_text(&self, _code: u32) -> String {
        "recorded".into()
    }
    fn current_device(&self) -> Result<i32> {
        Ok(0)
    }
    fn set_current_device(&self, _device: i32) -> Result<()> {
        Ok(())
    }
    fn properties(&self, _device: i32) -> Result<DeviceProperties> {
        Ok(DeviceProperties::default())
    }
    fn memory_info(&self, _device: i32) -> Result<MemoryInfo> {
        Ok(MemoryInfo { free: 10, total: 20 })
    }
    fn synchronize_device(&self, _device: i32) -> Result<()> {
        self.note(Call::SynchronizeDevice);
        Ok(())
    }
    unsafe fn reset_device(&self, _device: i32) -> Result<()> {
        self.host_blocks.lock().unwrap().clear();
        self.pinned.store(0, Ordering::Relaxed);
        Ok(())
    }
    fn can_access_peer(&self, _device: i32, _peer: i32) -> Result<bool> {
        Ok(true)
    }
    fn enable_peer_access(&self, _device: i32, _peer: i32) -> Result<()> {
        Ok(())
    }
}

impl Memory for Recording {
    fn create_pool(&self, _device: i32, _threshold: u64) -> Result<Option<PoolHandle>> {
        Ok(Some(PoolHandle(1)))
    }
    fn set_pool_release_threshold(&self, _pool: PoolHandle, _bytes: u64) -> Result<()> {
        Ok(())
    }
    fn trim_pool(&self, _pool: PoolHandle, _keep: usize) -> Result<()> {
        self.note(Call::Trim);
        Ok(())
    }
    fn pool_statistics(&self, _pool: PoolHandle) -> Result<PoolStatistics> {
        Ok(PoolStatistics::default())
    }
    fn allocate_from_pool(
        &self,
        device: i32,
        _pool: PoolHandle,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<Address> {
        if countdown(&self.refuse_allocations) {
            return Err(Error::OutOfMemory(Box::new(OutOfMemory {
                operation: "allocate_from_pool",
                name: "OUT_OF_MEMORY".to_owned(),
                text: "out of memory".to_owned(),
                requested: bytes,
                device: format!("cuda:{device}"),
                free: Some(10),
                total: Some(20),
                used: 0,
                limit: None,
                detail: String::new(),
            })));
        }
        self.note(Call::Allocate(stream.0));
        self.allocate(device, bytes)
    }
    unsafe fn free_to_pool(&self, device: i32, address: Address, stream: StreamHandle) -> Result<()> {
        self.note(Call::Free { stream: stream.0 });
        if countdown(&self.refuse_free) {
            return Err(Error::value(format!("free refused on device {device}")));
        }
        self.blocks.lock().unwrap().remove(&address);
        Ok(())
    }
    fn allocate(&self, _device: i32, bytes: usize) -> Result<Address> {
        let block = vec![0xAA; bytes].into_boxed_slice();
        let address = block.as_ptr() as usize;
        self.blocks.lock().unwrap().insert(address, block);
        Ok(address)
    }
    unsafe fn free(&self, _device: i32, address: Address, _bytes: usize) -> Result<()> {
        self.blocks.lock().unwrap().remove(&address);
        Ok(())
    }
    fn allocate_host(&self, _device: i32, bytes: usize, _flags: HostFlags) -> Result<Address> {
        if self.refuse_host.load(Ordering::Relaxed) {
            return Err(Error::value("no memory may be pinned"));
        }
        let now = self.pinned.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.pinned_peak.fetch_max(now, Ordering::Relaxed);
        let block = vec![0xBB; bytes].into_boxed_slice();
        let address = block.as_ptr() as usize;
        self.host_blocks.lock().unwrap().insert(address, block);
        Ok(address)
    }
    unsafe fn free_host(&self, _device: i32, address: Address, bytes: usize) -> Result<()> {
        self.pinned.fetch_sub(bytes, Ordering::Relaxed);
        self.host_blocks.lock().unwrap().remove(&address);
        Ok(())
    }
    unsafe fn register_host(&self, _d: i32, _address: Address, _bytes: usize, _flags: HostFlags) -> Result<()> {
        Ok(())
    }
    unsafe fn unregister_host(&self, _device: i32, _address: Address) -> Result<()> {
        Ok(())
    }
    fn pointer_kind(&self, address: Address) -> Result<PointerKind> {
        Ok(match (holds(&self.blocks, address), holds(&self.host_blocks, address)) {
            (true, _) => PointerKind::Device(0),
            (_, true) => PointerKind::Host,
            _ => PointerKind::Unregistered,
        })
    }
}

impl Copies for Recording {
    unsafe fn copy(
        &self,
        _device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        self.note(Call::Copy(direction));
        self.check_failure()?;
        self.copy_now_or_later(target, source, bytes, stream.0);
        Ok(())
    }
    unsafe fn copy_pitched(
        &self,
        _device: i32,
        _direction: Direction,
        target: Pitched,
        source: Pitched,
        extent: Extent,
        stream: StreamHandle,
    ) -> Result<()> {
        self.note(Call::CopyPitched { width: extent.width, height: extent.height, depth: extent.depth });
        assert!(target.row_pitch >= extent.width && source.row_pitch >= extent.width);
        for plane in 0..extent.depth {
            for row in 0..extent.height {
                let to = target.address + plane * target.plane_pitch + row * target.row_pitch;
                let from = source.address + plane * source.plane_pitch + row * source.row_pitch;
                self.copy_now_or_later(to, from, extent.width, stream.0);
            }
        }
        Ok(())
    }
    unsafe fn copy_peer(
        &self,
        _target_device: i32,
        target: Address,
        _source_device: i32,
        source: Address,
        bytes: usize,
        _stream: StreamHandle,
    ) -> Result<()> {
        unsafe { std::ptr::copy(source as *const u8, target as *mut u8, bytes) };
        Ok(())
    }
    unsafe fn fill(
        &self,
        _device: i32,
        target: Address,
        pitch: usize,
        pattern: Pattern,
        count: usize,
        height: usize,
        _stream: StreamHandle,
    ) -> Result<()> {
        self.note(Call::Fill { count, height });
        let bytes: Vec<u8> = match pattern {
            Pattern::U8(value) => vec![value],
            Pattern::U16(value) => value.to_le_bytes().to_vec(),
            Pattern::U32(value) => value.to_le_bytes().to_vec(),
        };
        for row in 0..height {
            for item in 0..count {
                let to = target + row * pitch + item * bytes.len();
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to as *mut u8, bytes.len()) };
            }
        }
        Ok(())
    }
}

impl Streams for Recording {
    unsafe fn call_host(&self, _: i32, _: StreamHandle, function: HostFunction, data: *mut c_void) -> Result<()> {
        function(data);
        Ok(())
    }
    fn create_stream(&self, _device: i32, _flags: StreamFlags) -> Result<StreamHandle> {
        Ok(StreamHandle(self.handle()))
    }
    unsafe fn destroy_stream(&self, _device: i32, stream: StreamHandle) -> Result<()> {
        self.note(Call::DestroyStream(stream.0));
        Ok(())
    }
    unsafe fn synchronize_stream(&self, _device: i32, stream: StreamHandle) -> Result<()> {
        self.note(Call::SynchronizeStream(stream.0));
        self.run(stream.0, None);
        Ok(())
    }
    unsafe fn query_stream(&self, _device: i32, _stream: StreamHandle) -> Result<bool> {
        Ok(true)
    }
    unsafe fn stream_flags(&self, _device: i32, _stream: StreamHandle) -> Result<StreamFlags> {
        Ok(StreamFlags::default())
    }
    unsafe fn wait_event(&self, _device: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
        self.note(Call::Wait { stream: stream.0, event: event.0 });
        if let Some(first) = self.stream_of(event.0) {
            self.run(first, Some(event.0));
        }
        Ok(())
    }
    unsafe fn stream_device(&self, _stream: StreamHandle) -> Result<Option<i32>> {
        Ok(Some(0))
    }
}

impl Events for Recording {
    fn create_event(&self, _device: i32, _flags: EventFlags) -> Result<EventHandle> {
        Ok(EventHandle(self.handle()))
    }
    unsafe fn destroy_event(&self, _device: i32, _event: EventHandle) -> Result<()> {
        Ok(())
    }
    unsafe fn record_event(&self, _device: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
        self.note(Call::Record { event: event.0, stream: stream.0 });
        if self.lazy.load(Ordering::Relaxed) {
            let mut queue = self.queue.lock().unwrap();
            queue.retain(|(_, work)| !is_event(work, event.0));
            queue.push_back((stream.0, Work::Event(event.0)));
        }
        Ok(())
    }
    unsafe fn record_event_of_device(&self, _device: i32, event: EventHandle) -> Result<bool> {
        if self.device_events {
            self.note(Call::RecordDevice { event: event.0 });
        }
        Ok(self.device_events)
    }
    unsafe fn query_event(&self, _device: i32, event: EventHandle) -> Result<bool> {
        Ok(self.stream_of(event.0).is_none())
    }
    unsafe fn synchronize_event(&self, _device: i32, event: EventHandle) -> Result<()> {
        self.note(Call::SynchronizeEvent);
        if let Some(stream) = self.stream_of(event.0) {
            self.run(stream, Some(event.0));
        }
        Ok(())
    }
    unsafe fn elapsed(&self, _device: i32, _start: EventHandle, _end: EventHandle) -> Result<f32> {
        Ok(0.0)
    }
}

impl Backend for Recording {
    fn device_code(&self) -> Result<&dyn DeviceCode> {
        Ok(self)
    }
}

impl Contexts for Recording {}

impl Launches for Recording {
    unsafe fn launch_with(
        &self,
        device: i32,
        function: FunctionHandle,
        shape: &LaunchShape,
        _attributes: &LaunchAttributes,
        stream: StreamHandle,
        arguments: *mut *mut c_void,
    ) -> Result<()> {
        unsafe { self.launch(device, function, shape, stream, arguments) }
    }
}

/// Accepts every image and every kernel name. A launch has no effect, except that the launch is recorded.
impl DeviceCode for Recording {
    fn load(&self, _device: i32, _image: &[u8], _options: &LoadOptions) -> Result<Loaded> {
        Ok(Loaded { module: ModuleHandle(self.handle()), log: String::new() })
    }
    unsafe fn unload(&self, _device: i32, _module: ModuleHandle) -> Result<()> {
        self.note(Call::Unload);
        Ok(())
    }
    unsafe fn function(&self, _device: i32, _module: ModuleHandle, _name: &CStr) -> Result<FunctionHandle> {
        Ok(FunctionHandle(self.handle()))
    }
    unsafe fn global(&self, _device: i32, _module: ModuleHandle, _name: &CStr) -> Result<(Address, usize)> {
        Err(Error::value("no globals"))
    }
    unsafe fn function_attributes(&self, _device: i32, _function: FunctionHandle) -> Result<FunctionAttributes> {
        Ok(FunctionAttributes { max_threads_per_block: 1024, ..FunctionAttributes::default() })
    }
    unsafe fn set_function(&self, _d: i32, _function: FunctionHandle, _setting: FunctionSetting) -> Result<()> {
        Ok(())
    }
    unsafe fn parameters(&self, _device: i32, _function: FunctionHandle) -> Result<Option<Vec<ParameterPlace>>> {
        Ok(None)
    }
    unsafe fn active_blocks(&self, _d: i32, _function: FunctionHandle, _threads: u32, _shared: u32) -> Result<u32> {
        Ok(1)
    }
    unsafe fn suggested_shape(&self, _d: i32, _f: FunctionHandle, _shared: u32, _limit: u32) -> Result<(u32, u32)> {
        Ok((1, 1))
    }
    unsafe fn launch(
        &self,
        _device: i32,
        _function: FunctionHandle,
        _shape: &LaunchShape,
        stream: StreamHandle,
        _arguments: *mut *mut c_void,
    ) -> Result<()> {
        self.note(Call::Launch { stream: stream.0 });
        Ok(())
    }
    fn launch_limits(&self, _device: i32) -> Result<LaunchLimits> {
        Ok(LaunchLimits {
            threads_per_block: 1024,
            block: [1024; 3],
            grid: [65535; 3],
            shared_per_block: 49152,
            shared_per_block_optin: 49152,
            cooperative: true,
            clusters: false,
            threads_per_multiprocessor: 2048,
        })
    }
    fn device_attribute(&self, _device: i32, _number: i32) -> Result<i32> {
        Ok(0)
    }
    fn compiler(&self, _hints: &[PathBuf]) -> Result<&dyn Compiler> {
        Err(Error::Unavailable("nothing compiles here".into()))
    }
}
