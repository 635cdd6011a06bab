//! Tests backends through the public interface. Each case runs in a separate process, because a process loads only one
//! driver, reads `PYGPU_BACKEND` only once, and may be forked by a test.
//!
//! The module `fakes` builds the drivers. The tests in `child` run in the separate process; if a test runner starts
//! them directly, they do nothing.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::undocumented_unsafe_blocks, missing_docs)]
#![allow(clippy::print_stdout, clippy::print_stderr)]

#[path = "backend/copies.rs"]
mod copies;
#[path = "backend/device_code.rs"]
mod device_code;
#[path = "backend/driver_memory.rs"]
mod driver_memory;
#[path = "backend/fakes.rs"]
mod fakes;
#[path = "backend/hip.rs"]
mod hip;

use fakes::{Fake, fake_driver, run};

#[test]
fn unknown_name_in_pygpu_backend_gives_error_with_list_of_backends() {
    let text = run("child::prints_default_backend_and_report", None, Some("vulkan"));
    assert!(text.contains("PYGPU_BACKEND is 'vulkan'; the backends are 'cuda', 'hip' and 'cpu'"), "{text}");
}

#[test]
fn pygpu_backend_cpu_selects_cpu_and_empty_value_has_no_effect() {
    assert!(run("child::prints_default_backend_and_report", None, Some("cpu")).contains("default: cpu"));
    assert!(run("child::prints_default_backend_and_report", None, Some("")).contains("forced: None"));
    let Some(driver) = fake_driver(Fake::Cuda, "forced", &[]) else { return };
    assert!(run("child::prints_default_backend_and_report", Some(&driver), Some("cpu")).contains("default: cpu"));
}

#[test]
fn missing_cuda_driver_error_lists_every_tried_library() {
    let text = run("child::prints_default_backend_and_report", None, Some("cuda"));
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
fn cuda_backend_is_default_if_its_driver_has_devices() {
    let Some(driver) = fake_driver(Fake::Cuda, "default", &[]) else { return };
    let text = run("child::prints_default_backend_and_report", Some(&driver), None);
    assert!(text.contains("default: cuda"), "{text}");
    let library = driver.join("libcuda.so.1");
    assert!(text.contains(&format!("cuda usable, {}, 12080, [\"Fake 0\", \"Fake 1\"]", library.display())), "{text}");
}

/// Tests that the CPU is the default backend if CUDA's driver is unusable, and that both the report about the backends
/// and the error for `PYGPU_BACKEND=cuda` contain `reason`.
fn refused(name: &str, options: &[&str], reason: &str) {
    let Some(driver) = fake_driver(Fake::Cuda, name, options) else { return };
    let text = run("child::prints_default_backend_and_report", Some(&driver), None);
    assert!(text.contains("default: cpu") && text.contains(reason), "{text}");
    let driver = fake_driver(Fake::Cuda, name, options).unwrap();
    let text = run("child::prints_default_backend_and_report", Some(&driver), Some("cuda"));
    assert!(text.contains("default: PYGPU_BACKEND=cuda asks") && text.contains(reason), "{text}");
}

#[test]
fn too_old_cuda_driver_error_contains_found_and_required_version() {
    refused("old", &["-DVERSION=11080"], "serves CUDA 11.8; PyGPU needs 12.0 or newer");
}

#[test]
fn cuda_driver_without_devices_is_rejected_with_driver_error() {
    refused("init", &["-DINIT=100"], "cuInit failed: CUDA_ERROR_NO_DEVICE (100)");
    refused("unknown", &["-DINIT=54321"], "cuInit failed: unrecognized error code (54321)");
    refused("none", &["-DCOUNT=0"], "the driver has no device");
}

#[test]
fn stub_of_toolkit_and_incomplete_cuda_driver_are_rejected() {
    refused("stub", &["-DSTUB"], "is the stub of a CUDA toolkit");
    refused("incomplete", &["-DINCOMPLETE"], "says CUDA 12.8 but lacks cuMemAlloc_v2");
}

#[test]
fn cuda_backend_calls_driver_as_documented() {
    for (name, options) in [("calls", &[][..]), ("calls-old", &["-DOLD"])] {
        let Some(driver) = fake_driver(Fake::Cuda, name, options) else { return };
        run("child::cuda_calls_have_documented_effects", Some(&driver), Some("cuda"));
    }
}

#[test]
fn forked_process_can_use_cpu_but_not_cuda() {
    let Some(driver) = fake_driver(Fake::Cuda, "fork", &[]) else { return };
    run("child::forked_process_can_use_cpu_only", Some(&driver), Some("cuda"));
}

mod child {
    use pygpu::backend::*;
    use pygpu::error::{Error, Result};

    use crate::copies::{boxes, fills};
    use crate::driver_memory::{events, host_calls, kinds};
    use crate::fakes::is_alone;

    const S: StreamHandle = StreamHandle::DEFAULT;

    fn code<T>(result: Result<T>) -> u32 {
        result.err().unwrap().code().unwrap()
    }

    #[test]
    #[ignore = "run by the tests above, in a separate process"]
    fn prints_default_backend_and_report() {
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
    #[ignore = "run by the tests above, in a separate process"]
    fn cuda_calls_have_documented_effects() {
        if is_alone() {
            return;
        }
        let cuda = default_backend().unwrap();
        devices(cuda);
        pools_and_blocks(cuda);
        addresses(cuda);
        kinds(cuda);
        events(cuda);
        host_calls(cuda, false);
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
        assert_eq!(cuda.create_pool(1, 0).unwrap(), None);
        let pool = cuda.create_pool(0, 12345).unwrap().unwrap();
        cuda.trim_pool(pool, 12345).unwrap();
        cuda.set_pool_release_threshold(pool, 54321).unwrap();
        cuda.trim_pool(pool, 54321).unwrap();
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
        let error = unsafe { cuda.copy(0, crate::copies::DOWN, 8, 16, 5, bad) }.unwrap_err().to_string();
        assert!(
            error.starts_with("cuMemcpyDtoHAsync failed on cuda:0") && error.contains("5 bytes from 0x10 to 0x8"),
            "{error}"
        );
        unsafe { cuda.copy(0, crate::copies::DOWN, 0, 0, 0, bad).unwrap() };
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

    /// Tests that memory can be allocated after a reset of the device. The fake driver fails every call in a context
    /// that was reset and not retained again.
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
    #[ignore = "run by the tests above, in a separate process"]
    fn forked_process_can_use_cpu_only() {
        if is_alone() {
            return;
        }
        let (cuda, cpu) = (default_backend().unwrap(), by_name("cpu").unwrap());
        assert_eq!(cuda.kind(), BackendKind::Cuda);
        cuda.synchronize_device(0).unwrap();
        // In the forked process, each failed check sets a bit of the exit code. A panic would run the parent's test
        // harness in the forked process.
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
