//! Tests the waits before and after a launch, and the lifetime of a module, on a backend that records every call.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks)]
#![allow(dead_code)] // Other test programs use the remaining items of `recording_backend`.

mod recording_backend;

use std::sync::{Mutex, MutexGuard, OnceLock};

use std::sync::Arc;

use pygpu::backend::{LaunchShape, LoadOptions, StreamFlags};
use pygpu::device::Device;
use pygpu::kernel::launch::launch;
use pygpu::kernel::{Arguments, Function, Module};
use pygpu::memory::{Access, Allocation, BlockUse, pool, retired_objects};
use pygpu::stream::Stream;
use recording_backend::{Call, Recording};

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Bench {
    driver: &'static Recording,
    device: Device,
    _turn: MutexGuard<'static, ()>,
}

fn bench() -> Bench {
    let turn = ONE_AT_A_TIME.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    static DRIVER: OnceLock<&'static Recording> = OnceLock::new();
    let driver = DRIVER.get_or_init(Recording::new);
    let device = Device::new(*driver, 0).unwrap();
    pool::set_release_threshold(device, 0).unwrap(); // With threshold 0, PyGPU keeps no freed block for reuse.
    driver.take();
    Bench { driver, device, _turn: turn }
}

impl Bench {
    fn stream(&self) -> Stream {
        Stream::create(self.device, StreamFlags::default()).unwrap()
    }

    fn block(&self, stream: &Stream) -> Arc<Allocation> {
        let block = Arc::new(Allocation::new(64, stream.clone()).unwrap());
        self.driver.take();
        block
    }

    fn kernel(&self) -> Function {
        let module = Module::of_image(self.device, vec![1], &LoadOptions::default()).unwrap();
        let function = module.function("k").unwrap();
        run(&function, &Stream::default_of(self.device), &[]);
        self.driver.take();
        function
    }
}

fn run(function: &Function, stream: &Stream, uses: &[BlockUse<'_>]) {
    let shape = LaunchShape { grid: [1; 3], block: [1; 3], shared: 0, cooperative: false };
    unsafe { launch(function, &shape, stream, &mut Arguments::new(), uses).unwrap() };
}

#[test]
fn launch_on_allocation_stream_makes_one_driver_call() {
    let bench = bench();
    let (kernel, stream) = (bench.kernel(), bench.stream());
    let (read, written) = (bench.block(&stream), bench.block(&stream));
    for _ in 0..3 {
        run(&kernel, &stream, &[(&read, Access::Read), (&written, Access::Write)]);
        assert_eq!(bench.driver.take(), [Call::Launch { stream: stream.handle().0 }]);
    }
}

#[test]
fn launch_waits_for_conflicting_uses_on_other_streams() {
    let bench = bench();
    let (kernel, home, other) = (bench.kernel(), bench.stream(), bench.stream());
    let block = bench.block(&home);
    run(&kernel, &other, &[(&block, Access::Read)]);
    let calls = bench.driver.take();
    assert!(matches!(calls[0], Call::Record { stream, .. } if stream == home.handle().0), "{calls:?}");
    assert!(matches!(calls[1], Call::Wait { stream, .. } if stream == other.handle().0), "{calls:?}");
    assert_eq!(calls[2], Call::Launch { stream: other.handle().0 });
    run(&kernel, &home, &[(&block, Access::Write)]);
    let calls = bench.driver.take();
    assert!(matches!(calls[0], Call::Record { stream, .. } if stream == other.handle().0), "{calls:?}");
    assert!(matches!(calls[1], Call::Wait { stream, .. } if stream == home.handle().0), "{calls:?}");
}

#[test]
fn launches_that_read_one_block_do_not_wait_for_each_other() {
    let bench = bench();
    let (kernel, home, first, second) = (bench.kernel(), bench.stream(), bench.stream(), bench.stream());
    let block = bench.block(&home);
    run(&kernel, &first, &[(&block, Access::Read)]);
    bench.driver.take();
    run(&kernel, &second, &[(&block, Access::Read)]);
    let waited: Vec<_> = bench.driver.take().into_iter().filter(|call| matches!(call, Call::Record { .. })).collect();
    assert!(matches!(waited.as_slice(), [Call::Record { stream, .. }] if *stream == home.handle().0), "{waited:?}");
}

#[test]
fn array_read_and_written_by_one_launch_counts_as_written() {
    let bench = bench();
    let (kernel, home, other) = (bench.kernel(), bench.stream(), bench.stream());
    let block = bench.block(&home);
    run(&kernel, &other, &[(&block, Access::Write), (&block, Access::Read)]);
    bench.driver.take();
    drop(block);
    let calls = bench.driver.take();
    assert!(matches!(calls[0], Call::Record { stream, .. } if stream == other.handle().0), "{calls:?}");
    assert!(matches!(calls.last(), Some(Call::Free { stream }) if *stream == home.handle().0), "{calls:?}");
}

#[test]
fn module_is_unloaded_at_next_device_synchronization() {
    let bench = bench();
    let device = Device::new(bench.driver, 0).unwrap();
    retired_objects::synchronize(device).unwrap(); // Unloads modules that other tests have dropped.
    let kernel = bench.kernel();
    let copy = kernel.clone();
    bench.driver.take();
    drop(kernel);
    assert_eq!(bench.driver.take(), []);
    drop(copy);
    assert_eq!(bench.driver.take(), []);
    retired_objects::synchronize(device).unwrap();
    let calls = bench.driver.take();
    assert_eq!(calls, [Call::SynchronizeDevice, Call::Unload]);
}

#[test]
fn launch_rejects_stream_of_other_device() {
    let bench = bench();
    let kernel = bench.kernel();
    let stream = Stream::default_of(Device::new(bench.driver, 1).unwrap());
    let shape = LaunchShape { grid: [1; 3], block: [1; 3], shared: 0, cooperative: false };
    let error = unsafe { launch(&kernel, &shape, &stream, &mut Arguments::new(), &[]) }.unwrap_err();
    assert!(error.to_string().contains("the kernel is of cuda:0 and the stream of cuda:1"), "{error}");
    assert_eq!(bench.driver.take(), []);
}
