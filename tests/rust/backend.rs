//! Backends through the public interface, each case in a process of its own: which driver there is, what the variable
//! says and whether the process was forked are facts of a process.
//!
//! The drivers are built from `fake_cuda.c` and found through the loader's search path; without a C compiler those tests
//! say so and pass. The tests in `child` are the other halves: alone they have nothing to do.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks, missing_docs)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::PathBuf;
use std::process::Command;

/// Builds a driver; `None` without a compiler.
fn fake_driver(name: &str, options: &[&str]) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/rust/fake_cuda.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let library = folder.join("libcuda.so.1");
    let built = Command::new(&compiler)
        .args(["-shared", "-fPIC", "-Wall", "-Werror", "-o"])
        .arg(&library)
        .arg(source)
        .args(options)
        .output();
    match built {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(folder)
        }
        Err(error) => {
            eprintln!("skipped: the C compiler '{compiler}' could not be run: {error}");
            None
        }
    }
}

/// Runs one test of `child` in a process of its own and gives what it printed.
fn run(child: &str, driver: Option<&PathBuf>, backend: Option<&str>) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("child::{child}"), "--ignored", "--nocapture", "--test-threads=1"]);
    command.env_remove("PYGPU_BACKEND").env_remove("CUDA_VISIBLE_DEVICES").env("PYGPU_TEST_CHILD", "1");
    if let Some(folder) = driver {
        command.env("LD_LIBRARY_PATH", folder);
    }
    if let Some(name) = backend {
        command.env("PYGPU_BACKEND", name);
    }
    let output = command.output().unwrap();
    if let Some(folder) = driver {
        std::fs::remove_dir_all(folder).unwrap();
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"), "{text}");
    text
}

#[test]
fn an_unknown_backend_in_the_variable_is_told_the_three_that_exist() {
    let text = run("tells_its_default", None, Some("vulkan"));
    assert!(text.contains("PYGPU_BACKEND is 'vulkan'; the backends are 'cuda', 'hip' and 'cpu'"), "{text}");
}

#[test]
fn the_cpu_can_be_forced_and_an_empty_variable_forces_nothing() {
    assert!(run("tells_its_default", None, Some("cpu")).contains("default: cpu"));
    assert!(run("tells_its_default", None, Some("")).contains("forced: None"));
    let Some(driver) = fake_driver("forced", &[]) else { return };
    assert!(run("tells_its_default", Some(&driver), Some("cpu")).contains("default: cpu"));
}

#[test]
fn a_forced_backend_that_is_not_there_is_an_error_and_not_another_backend() {
    let text = run("tells_its_default", None, Some("hip"));
    assert!(
        text.contains("PYGPU_BACKEND=hip asks for the hip backend, but it cannot be used: not built yet"),
        "{text}"
    );
}

#[test]
fn a_missing_driver_is_reported_with_every_name_that_was_tried() {
    let text = run("tells_its_default", None, Some("cuda"));
    if text.contains("cuda usable") {
        eprintln!("skipped: this machine has an NVIDIA driver");
        return;
    }
    assert!(text.contains("PYGPU_BACKEND=cuda asks for the cuda backend, but it cannot be used"), "{text}");
    if text.contains("driver library was not found") {
        assert!(text.contains("\n  libcuda.so.1: ") && text.contains("\n  libcuda.so: "), "{text}");
    }
}

#[test]
fn a_driver_with_devices_is_the_default() {
    let Some(driver) = fake_driver("default", &[]) else { return };
    let text = run("tells_its_default", Some(&driver), None);
    assert!(text.contains("default: cuda"), "{text}");
    let library = driver.join("libcuda.so.1");
    assert!(text.contains(&format!("cuda usable, {}, 12080, [\"Fake 0\", \"Fake 1\"]", library.display())), "{text}");
}

/// A driver that cannot be used: the default is the CPU, and the report and the error say why.
fn refused(name: &str, options: &[&str], reason: &str) {
    let Some(driver) = fake_driver(name, options) else { return };
    let text = run("tells_its_default", Some(&driver), None);
    assert!(text.contains("default: cpu") && text.contains(reason), "{text}");
    let driver = fake_driver(name, options).unwrap();
    let text = run("tells_its_default", Some(&driver), Some("cuda"));
    assert!(text.contains("default: PYGPU_BACKEND=cuda asks") && text.contains(reason), "{text}");
}

#[test]
fn an_old_driver_is_named_with_both_versions() {
    refused("old", &["-DVERSION=11080"], "serves CUDA 11.8; PyGPU needs 12.0 or newer");
}

#[test]
fn a_driver_without_devices_is_refused_in_its_own_words() {
    refused("init", &["-DINIT=100"], "cuInit failed: CUDA_ERROR_NO_DEVICE (100)");
    refused("unknown", &["-DINIT=54321"], "cuInit failed: unrecognized error code (54321)");
    refused("none", &["-DCOUNT=0"], "the driver has no device");
}

#[test]
fn a_toolkits_stub_and_an_incomplete_driver_are_called_so() {
    refused("stub", &["-DSTUB"], "is the stub of a CUDA toolkit");
    refused("incomplete", &["-DINCOMPLETE"], "says CUDA 12.8 but lacks cuMemAlloc_v2");
}

#[test]
fn the_cuda_backend_calls_the_driver_as_it_is_documented() {
    for (name, options) in [("calls", &[][..]), ("calls-old", &["-DOLD"])] {
        let Some(driver) = fake_driver(name, options) else { return };
        run("calls_the_driver", Some(&driver), Some("cuda"));
    }
}

#[test]
fn a_forked_child_is_refused_by_the_gpu_and_served_by_the_cpu() {
    let Some(driver) = fake_driver("fork", &[]) else { return };
    run("forks", Some(&driver), Some("cuda"));
}

mod child {
    use pygpu::backend::*;
    use pygpu::error::{Error, Result};

    const S: StreamHandle = StreamHandle::DEFAULT;

    /// Distance of rows and of planes.
    type Pitches = (usize, usize);

    fn is_alone() -> bool {
        std::env::var_os("PYGPU_TEST_CHILD").is_none()
    }

    fn code<T>(result: Result<T>) -> u32 {
        result.err().unwrap().code().unwrap()
    }

    #[test]
    #[ignore = "run by the tests above, in a process of its own"]
    fn tells_its_default() {
        if is_alone() {
            return;
        }
        match default_backend() {
            Ok(backend) => println!("default: {}", backend.kind().name()),
            Err(error) => println!("default: {error}"),
        }
        let report = report();
        println!("forced: {:?}", report.forced);
        for entry in &report.backends {
            let names: Vec<_> = entry.devices.iter().map(|device| &device.name).collect();
            match &entry.reason {
                None => {
                    println!("{} usable, {}, {}, {names:?}", entry.kind.name(), entry.library, entry.driver_version)
                }
                Some(reason) => println!("{}: {reason} {:?}", entry.kind.name(), entry.attempts),
            }
        }
    }

    #[test]
    #[ignore = "run by the tests above, in a process of its own"]
    fn calls_the_driver() {
        if is_alone() {
            return;
        }
        let cuda = default_backend().unwrap();
        devices(cuda);
        pools_and_blocks(cuda);
        addresses(cuda);
        boxes(cuda);
        fills(cuda);
        streams_and_events(cuda);
        errors(cuda);
        reset(cuda);
    }

    fn devices(cuda: &dyn Backend) {
        assert_eq!((cuda.device_count(), cuda.driver_version()), (2, 12080));
        assert_eq!(cuda.current_device().unwrap(), 0);
        assert_eq!(cuda.memory_info(1).unwrap(), MemoryInfo { free: 1001, total: 2000 });
        assert_eq!(cuda.current_device().unwrap(), 0);
        cuda.set_current_device(1).unwrap();
        assert_eq!(cuda.memory_info(0).unwrap().free, 1000);
        assert_eq!(cuda.current_device().unwrap(), 1);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| cuda.memory_info(0).map(|info| (info.free, cuda.current_device().unwrap())));
            assert_eq!(other.join().unwrap().unwrap(), (1000, 0));
        });
        cuda.set_current_device(0).unwrap();
        let properties = cuda.properties(1).unwrap();
        assert_eq!((properties.architecture.as_str(), properties.uuid), ("sm_91", [0xf2; 16]));
        assert_eq!(properties.pci, (50, 33, 34));
        assert_eq!((properties.memory_pools, properties.warp_size, properties.multiprocessor_count), (false, 10, 16));
        assert_eq!((properties.max_threads_per_block, properties.l2_cache_size, properties.clock_rate), (1, 38, 13));
        assert!(cuda.can_access_peer(0, 1).unwrap() && !cuda.can_access_peer(1, 1).unwrap());
        cuda.enable_peer_access(0, 1).unwrap();
        cuda.synchronize_device(1).unwrap();
    }

    fn pools_and_blocks(cuda: &dyn Backend) {
        assert_eq!(cuda.create_pool(1).unwrap(), None);
        let pool = cuda.create_pool(0).unwrap().unwrap();
        cuda.set_pool_release_threshold(pool, 12345).unwrap();
        cuda.trim_pool(pool, 12345).unwrap();
        let held = PoolStatistics { reserved: 50, reserved_peak: 60, used: 70, used_peak: 80 };
        assert_eq!(cuda.pool_statistics(pool).unwrap(), held);
        assert_eq!(code(cuda.pool_statistics(PoolHandle(4096))), 1);
        unsafe {
            let block = cuda.allocate_from_pool(0, pool, 100, S).unwrap();
            cuda.free_to_pool(0, block, S).unwrap();
            let block = cuda.allocate(1, 100).unwrap();
            cuda.free(1, block, 100).unwrap();
            let block = cuda.allocate_host(1, 100, HostFlags { portable: true, ..HostFlags::default() }).unwrap();
            cuda.free_host(1, block, 100).unwrap();
            cuda.register_host(0, 4096, 4096, HostFlags::default()).unwrap();
            cuda.unregister_host(0, 4096).unwrap();
            let combined = HostFlags { write_combined: true, ..HostFlags::default() };
            assert!(matches!(cuda.register_host(0, 4096, 4096, combined), Err(Error::Value(_))));
        }
        for refused in [cuda.allocate_from_pool(0, pool, 1 << 41, S), cuda.allocate(0, 1 << 41)] {
            let Err(Error::OutOfMemory(error)) = refused else { panic!("{refused:?}") };
            assert_eq!((error.requested, error.device.as_str()), (1 << 41, "cuda:0"));
            assert_eq!((error.free, error.total, error.used), (Some(1000), Some(2000), 0));
        }
        let refused = cuda.allocate_host(0, 1 << 41, HostFlags::default());
        assert!(matches!(&refused, Err(Error::OutOfMemory(error)) if error.free.is_none()), "{refused:?}");
    }

    fn addresses(cuda: &dyn Backend) {
        let kinds: Vec<_> = (1..=4).map(|address| cuda.pointer_kind(address).unwrap()).collect();
        assert_eq!(kinds, [PointerKind::Host, PointerKind::Device(1), PointerKind::Managed, PointerKind::Unregistered]);
    }

    /// Device memory with these bytes.
    fn place(backend: &dyn Backend, values: &[u8]) -> Address {
        let address = backend.allocate(0, values.len()).unwrap();
        let source = values.as_ptr() as usize;
        unsafe { backend.copy(0, Direction::HostToDevice, address, source, values.len(), S).unwrap() };
        address
    }

    /// The bytes of device memory, which is given back.
    fn fetch(backend: &dyn Backend, address: Address, bytes: usize) -> Vec<u8> {
        let mut values = vec![0; bytes];
        let target = values.as_mut_ptr() as usize;
        unsafe {
            backend.copy(0, Direction::DeviceToHost, target, address, bytes, S).unwrap();
            backend.free(0, address, bytes).unwrap();
        }
        values
    }

    /// What a box copied from counted bytes makes of a target of zeros.
    fn copied(backend: &dyn Backend, direction: Direction, to: Pitches, from: Pitches, extent: Extent) -> Vec<u8> {
        let source: Vec<u8> = (0..=255).cycle().take(4096).collect();
        let mut target = vec![0; 4096];
        let (device_source, device_target) = (place(backend, &source), place(backend, &target));
        let (host_source, host_target) = (source.as_ptr() as usize, target.as_mut_ptr() as usize);
        let (first_source, first_target) = match direction {
            Direction::HostToDevice => (host_source, device_target),
            Direction::DeviceToHost => (device_source, host_target),
            Direction::DeviceToDevice => (device_source, device_target),
        };
        let to = Pitched { address: first_target + 7, row_pitch: to.0, plane_pitch: to.1 };
        let from = Pitched { address: first_source + 3, row_pitch: from.0, plane_pitch: from.1 };
        unsafe { backend.copy_pitched(0, direction, to, from, extent, S).unwrap() };
        assert_eq!(fetch(backend, device_source, 4096), source);
        let on_device = fetch(backend, device_target, 4096);
        if direction == Direction::DeviceToHost { target } else { on_device }
    }

    /// Every shape of box that the driver is called for in its own way, in every direction, against the CPU backend.
    fn boxes(cuda: &dyn Backend) {
        let cpu = by_name("cpu").unwrap();
        // The fake's largest pitch is 64.
        let cases: [(Pitches, Pitches, (usize, usize, usize)); 9] = [
            ((8, 40), (8, 40), (8, 5, 3)),
            ((16, 96), (24, 120), (8, 5, 3)),
            ((16, 100), (24, 130), (8, 5, 3)),
            ((65, 325), (24, 120), (8, 5, 3)),
            ((16, 80), (24, 120), (8, 5, 3)),
            ((8, 64), (8, 40), (8, 5, 3)),
            ((3, 32), (5, 16), (8, 1, 3)),
            ((16, 0), (9, 0), (8, 5, 1)),
            ((16, 0), (9, 0), (8, 0, 1)),
        ];
        for (to, from, (width, height, depth)) in cases {
            let extent = Extent { width, height, depth };
            for direction in [Direction::HostToDevice, Direction::DeviceToHost, Direction::DeviceToDevice] {
                let (found, wanted) =
                    (copied(cuda, direction, to, from, extent), copied(cpu, direction, to, from, extent));
                assert!(found == wanted, "{to:?} {from:?} {extent:?} {direction:?}");
            }
        }
        let (source, target) = (place(cuda, &[1, 2, 3]), place(cuda, &[0; 3]));
        unsafe { cuda.copy_peer(1, target, 0, source, 3, S).unwrap() };
        assert_eq!((fetch(cuda, target, 3), fetch(cuda, source, 3)), (vec![1, 2, 3], vec![1, 2, 3]));
        let huge = Pitched { address: 8, row_pitch: usize::MAX / 2, plane_pitch: 0 };
        let extent = Extent { width: 8, height: 9, depth: 1 };
        let refused = unsafe { cuda.copy_pitched(0, Direction::DeviceToDevice, huge, huge, extent, S) };
        assert!(matches!(refused, Err(Error::Value(_))));
    }

    fn fills(cuda: &dyn Backend) {
        let cpu = by_name("cpu").unwrap();
        for pattern in [Pattern::U8(3), Pattern::U16(0x0102), Pattern::U32(0x0102_0304), Pattern::U32(0)] {
            for (pitch, count, height) in [(32, 4, 5), (16, 4, 5), (128, 4, 5), (0, 7, 1), (16, 0, 5), (16, 4, 0)] {
                let [found, wanted] = [cuda, cpu].map(|backend| {
                    let target = place(backend, &[0xaa; 2048]);
                    unsafe { backend.fill(0, target, pitch, pattern, count, height, S).unwrap() };
                    fetch(backend, target, 2048)
                });
                assert!(found == wanted, "{pattern:?} {pitch} {count} {height}");
            }
        }
        let refused = unsafe { cuda.fill(0, 8, usize::MAX / 2, Pattern::U8(1), 1, 9, S) };
        assert!(matches!(refused, Err(Error::Value(_))));
    }

    fn streams_and_events(cuda: &dyn Backend) {
        let stream = cuda.create_stream(1, StreamFlags { non_blocking: true, priority: -1 }).unwrap();
        let event =
            cuda.create_event(1, EventFlags { timing: false, blocking_sync: true, interprocess: true }).unwrap();
        assert_eq!((stream.0, event.0), (0x1101, 0x1107));
        unsafe {
            assert_eq!(cuda.stream_device(stream).unwrap(), Some(1));
            for special in 0..3 {
                assert_eq!(cuda.stream_device(StreamHandle(special)).unwrap(), None);
            }
            cuda.record_event(1, event, stream).unwrap();
            cuda.wait_event(0, S, event).unwrap();
            assert!(cuda.record_event_of_device(0, event).unwrap());
            assert!(!cuda.record_event_of_device(1, event).unwrap());
            assert!(cuda.query_stream(1, stream).unwrap() && cuda.query_event(1, event).unwrap());
            assert!(!cuda.query_stream(0, StreamHandle(0x600)).unwrap());
            assert!(!cuda.query_event(0, EventHandle(0x600)).unwrap());
            assert_eq!(cuda.elapsed(0, EventHandle(0x1000), EventHandle(0x1010)).unwrap(), 16.0);
            cuda.synchronize_stream(1, stream).unwrap();
            cuda.synchronize_event(1, event).unwrap();
            cuda.destroy_event(1, event).unwrap();
            cuda.destroy_stream(1, stream).unwrap();
            assert_eq!(code(cuda.destroy_stream(0, StreamHandle(0))), 400);
        }
        assert_eq!(cuda.current_device().unwrap(), 0);
    }

    fn errors(cuda: &dyn Backend) {
        let bad = StreamHandle(0x700);
        let error = unsafe { cuda.query_stream(1, bad) }.unwrap_err().to_string();
        let start = "cuStreamQuery failed on cuda:1: CUDA_ERROR_ILLEGAL_ADDRESS (700): ";
        assert!(error.starts_with(start) && error.contains("stream 0x700; a kernel or copy"), "{error}");
        assert!(error.contains("only a new process"), "{error}");
        let error = unsafe { cuda.copy(0, Direction::DeviceToHost, 8, 16, 5, bad) }.unwrap_err().to_string();
        assert!(
            error.starts_with("cuMemcpyDtoHAsync failed on cuda:0") && error.contains("5 bytes from 0x10 to 0x8"),
            "{error}"
        );
        unsafe { cuda.copy(0, Direction::DeviceToHost, 0, 0, 0, bad).unwrap() };
        for device in [-1, 2, i32::MAX] {
            let error = cuda.set_current_device(device).unwrap_err();
            assert_eq!(error.code(), Some(101));
            assert!(
                error.to_string().contains(&format!("device {device} was asked for; there are 2 devices")),
                "{error}"
            );
            assert_eq!(code(cuda.allocate(device, 8)), 101);
        }
        assert_eq!(cuda.error_name(700), "CUDA_ERROR_ILLEGAL_ADDRESS");
        assert_eq!(cuda.error_text(99999), "unrecognized error code");
        assert_eq!(cuda.current_device().unwrap(), 0);
    }

    /// The fake refuses every call in a context that was reset and not retained again.
    fn reset(cuda: &dyn Backend) {
        for device in [0, 1] {
            cuda.set_current_device(device).unwrap();
            unsafe { cuda.reset_device(device).unwrap() };
            assert_eq!(cuda.current_device().unwrap(), device);
            let block = cuda.allocate(device, 8).unwrap();
            unsafe { cuda.free(device, block, 8).unwrap() };
            assert_eq!(cuda.current_device().unwrap(), device);
        }
        unsafe { cuda.reset_device(0).unwrap() };
        assert_eq!(cuda.current_device().unwrap(), 1);
    }

    #[test]
    #[ignore = "run by the tests above, in a process of its own"]
    fn forks() {
        if is_alone() {
            return;
        }
        let (cuda, cpu) = (default_backend().unwrap(), by_name("cpu").unwrap());
        assert_eq!(cuda.kind(), BackendKind::Cuda);
        cuda.synchronize_device(0).unwrap();
        // Whatever the child finds wrong becomes a bit of its exit code: a panic there would run the parent's test harness.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let forked = |result: Result<()>, operation: &str| matches!(result, Err(Error::Forked { operation: found, backend: "cuda" }) if found == operation);
            let wrong = i32::from(!forked(cuda.allocate(0, 8).map(drop), "cuMemAlloc"))
                | i32::from(!forked(cuda.pointer_kind(8).map(drop), "cuPointerGetAttributes")) << 1
                | i32::from(!forked(cuda.set_current_device(0), "cuCtxSetCurrent")) << 2
                | i32::from(!forked(cuda.properties(0).map(drop), "cuDeviceGetAttribute")) << 3
                | i32::from(cpu.allocate(0, 8).is_err()) << 4;
            unsafe { libc::_exit(wrong) };
        }
        let mut status = 0;
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status));
        assert_eq!(libc::WEXITSTATUS(status), 0);
        cuda.synchronize_device(0).unwrap();
    }
}
