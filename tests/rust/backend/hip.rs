//! Tests the HIP backend with a fake runtime.

use crate::fakes::{Fake, fake_driver, run};

#[test]
fn missing_hip_runtime_error_lists_every_tried_library() {
    let text = run("child::prints_default_backend_and_report", None, Some("hip"));
    if text.contains("hip usable") {
        eprintln!("skipped: this machine has an AMD GPU");
        return;
    }
    assert!(text.contains("PYGPU_BACKEND=hip asks for the hip backend, but it cannot be used"), "{text}");
    if text.contains("runtime library was not found") {
        for version in ["7", "6", "5"] {
            assert!(text.contains(&format!("\n  libamdhip64.so.{version}: ")), "{text}");
        }
        assert!(text.contains("\n  libamdhip64.so: "), "{text}");
    }
}

#[test]
fn hip_backend_is_default_if_its_runtime_has_devices() {
    let Some(driver) = fake_driver(Fake::Hip, "hip-default", &[]) else { return };
    let text = run("child::prints_default_backend_and_report", Some(&driver), None);
    assert!(text.contains("default: hip") || text.contains("cuda usable"), "{text}");
    let library = driver.join(Fake::Hip.library());
    assert!(text.contains(&format!("hip usable, {}, 60443483, [\"Fake 0\", \"Fake 1\"]", library.display())), "{text}");
}

/// Tests that HIP is not the default backend if its runtime is unusable, and that the report about the backends and the
/// error for `PYGPU_BACKEND=hip` contain `reason`.
fn refused(name: &str, options: &[&str], reason: &str) {
    let Some(driver) = fake_driver(Fake::Hip, name, options) else { return };
    let text = run("child::prints_default_backend_and_report", Some(&driver), None);
    assert!(!text.contains("default: hip") && text.contains(reason), "{text}");
    let driver = fake_driver(Fake::Hip, name, options).unwrap();
    let text = run("child::prints_default_backend_and_report", Some(&driver), Some("hip"));
    assert!(text.contains("default: PYGPU_BACKEND=hip asks") && text.contains(reason), "{text}");
}

#[test]
fn too_old_hip_runtime_error_contains_found_and_required_version() {
    refused("hip-old", &["-DVERSION=40421400"], "is HIP 4.4; PyGPU needs 5.2 or newer");
}

#[test]
fn hip_runtime_without_devices_is_rejected_for_every_code() {
    let absent = "there is no AMD GPU, or it is not visible here: ";
    refused("hip-100", &["-DINIT=100"], &format!("{absent}hipInit failed: hipErrorNoDevice (100)"));
    refused("hip-101", &["-DINIT=101"], &format!("{absent}hipInit failed: hipErrorInvalidDevice (101)"));
    refused("hip-count", &["-DCOUNT_CODE=100"], &format!("{absent}hipGetDeviceCount failed: hipErrorNoDevice (100)"));
    refused("hip-none", &["-DCOUNT=0"], "the runtime has no device");
    refused("hip-new-code", &["-DINIT=911"], "hip: hipInit failed: unrecognized error code (911)");
}

#[test]
fn incomplete_hip_runtime_error_names_missing_function() {
    refused("hip-incomplete", &["-DINCOMPLETE"], "says HIP 6.4 but lacks hipMalloc");
}

#[test]
fn hip_backend_calls_runtime_as_documented() {
    for (name, options) in [("hip-calls", &[][..]), ("hip-calls-old", &["-DOLD"])] {
        let Some(driver) = fake_driver(Fake::Hip, name, options) else { return };
        run("hip::child::hip_calls_have_documented_effects", Some(&driver), Some("hip"));
    }
}

#[test]
fn forked_process_can_use_cpu_but_not_hip() {
    let Some(driver) = fake_driver(Fake::Hip, "hip-fork", &[]) else { return };
    run("hip::child::forked_process_can_use_cpu_only", Some(&driver), Some("hip"));
}

mod child {
    use pygpu::backend::*;
    use pygpu::error::{Error, Result};

    use crate::copies::{boxes, fills};
    use crate::driver_memory::{events, host_calls, kinds};
    use crate::fakes::{Fake, is_alone};

    const S: StreamHandle = StreamHandle::DEFAULT;

    /// Reads the counters of calls that the fake runtime keeps.
    struct Inside(libloading::Library);

    impl Inside {
        fn open() -> Self {
            Self(unsafe { libloading::Library::new(Fake::Hip.library()) }.unwrap())
        }

        fn ask(&self, name: &str) -> i32 {
            unsafe { self.0.get::<unsafe extern "C" fn() -> i32>(name).unwrap()() }
        }

        fn is_old(&self) -> bool {
            unsafe { self.0.get::<*const ()>("hipStreamGetDevice") }.is_err()
        }
    }

    fn code<T>(result: Result<T>) -> u32 {
        result.err().unwrap().code().unwrap()
    }

    #[test]
    #[ignore = "run by the tests above, in a separate process"]
    fn hip_calls_have_documented_effects() {
        if is_alone() {
            return;
        }
        let (hip, inside) = (default_backend().unwrap(), Inside::open());
        devices(hip, &inside);
        pools_and_blocks(hip);
        addresses(hip);
        kinds(hip);
        events(hip);
        host_calls(hip, inside.is_old());
        boxes(hip);
        fills(hip);
        columns(hip, &inside);
        streams_and_events(hip, &inside);
        errors(hip, &inside);
        reset(hip);
        assert_eq!(inside.ask("fake_last_error"), 0);
    }

    fn devices(hip: &dyn Backend, inside: &Inside) {
        let is_old = inside.is_old();
        assert_eq!((hip.device_count(), hip.driver_version()), (2, if is_old { 50221153 } else { 60443483 }));
        assert_eq!(hip.current_device().unwrap(), 0);
        assert_eq!(hip.memory_info(0).unwrap(), MemoryInfo { free: 1000, total: 2000 });
        assert_eq!(inside.ask("fake_switches"), 0, "the device was current already");
        assert_eq!(hip.memory_info(1).unwrap(), MemoryInfo { free: 1001, total: 2000 });
        assert_eq!((hip.current_device().unwrap(), inside.ask("fake_switches")), (0, 2));
        hip.set_current_device(1).unwrap();
        assert_eq!(hip.memory_info(0).unwrap().free, 1000);
        assert_eq!(hip.current_device().unwrap(), 1);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| hip.memory_info(1).map(|info| (info.free, hip.current_device().unwrap())));
            assert_eq!(other.join().unwrap().unwrap(), (1001, 0));
        });
        hip.set_current_device(0).unwrap();
        let properties = hip.properties(1).unwrap();
        let architecture = if is_old { "gfx801" } else { "gfx901:sramecc+" };
        assert_eq!((properties.architecture.as_str(), properties.uuid), (architecture, [2; 16]));
        assert_eq!((properties.name.as_str(), properties.total_memory), ("Fake 1", 1 << 34));
        assert_eq!((properties.pci, properties.compute_capability), ((69, 67, 68), (9, 1)));
        assert_eq!((properties.memory_pools, properties.warp_size, properties.multiprocessor_count), (false, 87, 63));
        assert_eq!((properties.max_threads_per_block, properties.l2_cache_size), (56, 19));
        assert_eq!((properties.clock_rate, properties.async_engine_count), (if is_old { 0 } else { 5 }, 2));
        assert!(hip.can_access_peer(0, 1).unwrap() && !hip.can_access_peer(1, 1).unwrap());
        assert_eq!(code(hip.can_access_peer(0, 2)), 101);
        hip.enable_peer_access(0, 1).unwrap();
        hip.synchronize_device(1).unwrap();
        assert_eq!(inside.ask("fake_last_error"), 0);
    }

    fn pools_and_blocks(hip: &dyn Backend) {
        assert_eq!(hip.create_pool(1, 0).unwrap(), None);
        let pool = hip.create_pool(0, 12345).unwrap().unwrap();
        hip.trim_pool(pool, 12345).unwrap();
        hip.set_pool_release_threshold(pool, 54321).unwrap();
        hip.trim_pool(pool, 54321).unwrap();
        let held = PoolStatistics { reserved: 50, reserved_peak: 60, used: 70, used_peak: 80 };
        assert_eq!(hip.pool_statistics(pool).unwrap(), held);
        assert_eq!(code(hip.pool_statistics(PoolHandle(4096))), 1);
        unsafe {
            let block = hip.allocate_from_pool(0, pool, 100, S).unwrap();
            hip.free_to_pool(0, block, S).unwrap();
            let block = hip.allocate(1, 100).unwrap();
            hip.free(1, block, 100).unwrap();
            let flags = HostFlags { portable: true, mapped: true, write_combined: true };
            let block = hip.allocate_host(1, 100, flags).unwrap();
            hip.free_host(1, block, 100).unwrap();
            hip.register_host(0, 4096, 4096, HostFlags::default()).unwrap();
            hip.unregister_host(0, 4096).unwrap();
            assert!(matches!(hip.register_host(0, 4096, 4096, flags), Err(Error::Value(_))));
        }
        for refused in [hip.allocate_from_pool(0, pool, 1 << 41, S), hip.allocate(0, 1 << 41)] {
            let Err(Error::OutOfMemory(error)) = refused else { panic!("{refused:?}") };
            assert_eq!((error.requested, error.device.as_str()), (1 << 41, "hip:0"));
            assert_eq!((error.free, error.total, error.used), (Some(1000), Some(2000), 0));
        }
        let refused = hip.allocate_host(0, 1 << 41, HostFlags::default());
        assert!(matches!(&refused, Err(Error::OutOfMemory(error)) if error.free.is_none()), "{refused:?}");
    }

    /// Tests that address queries return equal kinds for old and new runtimes. Depending on its version, a runtime has
    /// different numbers for memory kinds, and returns an error or a kind for an unknown address.
    fn addresses(hip: &dyn Backend) {
        use PointerKind::{Device, Host, Managed, Unregistered};
        let kinds: Vec<_> = (1..=5).map(|address| hip.pointer_kind(address).unwrap()).collect();
        assert_eq!(kinds, [Host, Device(1), Managed, Managed, Unregistered]);
    }

    /// Tests that filling a column of n numbers takes log2(n) copies, each of which doubles the filled part, instead of
    /// one call per row.
    fn columns(hip: &dyn Backend, inside: &Inside) {
        for rows in [1_usize, 2, 3, 64, 1000, 1 << 20] {
            let before = inside.ask("fake_planes");
            let target = hip.allocate(0, rows * 8).unwrap();
            unsafe { hip.fill(0, target, 8, Pattern::U32(0x01020304), 1, rows, S).unwrap() };
            assert_eq!(
                (inside.ask("fake_planes") - before) as u32,
                rows.next_power_of_two().trailing_zeros(),
                "{rows}"
            );
            let mut values = vec![0_u32; rows * 2];
            let host = values.as_mut_ptr() as usize;
            unsafe {
                hip.copy(0, crate::copies::DOWN, host, target, rows * 8, S).unwrap();
                hip.free(0, target, rows * 8).unwrap();
            }
            assert!(values.iter().step_by(2).all(|value| *value == 0x01020304), "{rows}");
        }
    }

    fn streams_and_events(hip: &dyn Backend, inside: &Inside) {
        let stream = hip.create_stream(1, StreamFlags { non_blocking: true, priority: -1 }).unwrap();
        let event = hip.create_event(1, EventFlags { timing: false, blocking_sync: true, interprocess: true }).unwrap();
        assert_eq!((stream.0, event.0), (0x1101, 0x1107));
        unsafe {
            assert_eq!(hip.stream_device(stream).unwrap(), if inside.is_old() { None } else { Some(1) });
            for special in 0..3 {
                assert_eq!(hip.stream_device(StreamHandle(special)).unwrap(), None);
            }
            hip.record_event(1, event, stream).unwrap();
            hip.wait_event(0, S, event).unwrap();
            assert!(!hip.record_event_of_device(1, event).unwrap());
            assert!(hip.query_stream(1, stream).unwrap() && hip.query_event(1, event).unwrap());
            assert!(!hip.query_stream(0, StreamHandle(0x600)).unwrap());
            assert!(!hip.query_event(0, EventHandle(0x600)).unwrap());
            assert_eq!(inside.ask("fake_last_error"), 0, "not being ready is an answer");
            assert_eq!(hip.elapsed(0, EventHandle(0x1000), EventHandle(0x1010)).unwrap(), 16.0);
            hip.synchronize_stream(1, stream).unwrap();
            hip.synchronize_event(1, event).unwrap();
            hip.destroy_event(1, event).unwrap();
            hip.destroy_stream(1, stream).unwrap();
            assert_eq!(code(hip.destroy_stream(0, StreamHandle(0))), 400);
        }
        assert_eq!(hip.current_device().unwrap(), 0);
    }

    fn errors(hip: &dyn Backend, inside: &Inside) {
        let bad = StreamHandle(0x700);
        let error = unsafe { hip.query_stream(1, bad) }.unwrap_err().to_string();
        let start = "hipStreamQuery failed on hip:1: hipErrorIllegalAddress (700): an illegal memory access";
        assert!(error.starts_with(start) && error.contains("stream 0x700; a kernel or copy"), "{error}");
        assert!(error.contains("only a new process"), "{error}");
        let error = unsafe { hip.copy(0, crate::copies::DOWN, 8, 1 << 60 | 16, 5, bad) }.unwrap_err().to_string();
        assert!(
            error.starts_with("hipMemcpyAsync failed on hip:0")
                && error.contains("5 bytes from 0x1000000000000010 to 0x8"),
            "{error}"
        );
        unsafe { hip.copy(0, crate::copies::DOWN, 0, 0, 0, bad).unwrap() };
        for device in [-1, 2, i32::MAX] {
            let error = hip.set_current_device(device).unwrap_err();
            assert_eq!(error.code(), Some(101));
            let part = format!("device {device} was asked for; there are 2 devices");
            assert!(error.to_string().contains(&part), "{error}");
            assert_eq!(code(hip.allocate(device, 8)), 101);
        }
        assert_eq!(hip.error_name(700), "hipErrorIllegalAddress");
        assert_eq!(hip.error_text(911), "unrecognized error code", "the runtime gave NULL");
        assert_eq!((hip.current_device().unwrap(), inside.ask("fake_last_error")), (0, 0));
    }

    fn reset(hip: &dyn Backend) {
        for device in [0, 1] {
            hip.set_current_device(device).unwrap();
            unsafe { hip.reset_device(1).unwrap() };
            assert_eq!(hip.current_device().unwrap(), device);
        }
        hip.set_current_device(0).unwrap();
        let inside = Inside::open();
        let resets = unsafe { inside.0.get::<unsafe extern "C" fn(i32) -> i32>("fake_resets").unwrap() };
        assert_eq!(unsafe { (resets(0), resets(1)) }, (0, 2));
    }

    #[test]
    #[ignore = "run by the tests above, in a separate process"]
    fn forked_process_can_use_cpu_only() {
        if is_alone() {
            return;
        }
        let (hip, cpu) = (default_backend().unwrap(), by_name("cpu").unwrap());
        assert_eq!(hip.kind(), BackendKind::Hip);
        hip.synchronize_device(0).unwrap();
        // In the forked process, each failed check sets a bit of the exit code. A panic would run the parent's test
        // harness in the forked process.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let forked = |result: Result<()>, operation: &str| matches!(result, Err(Error::Forked { operation: found, backend: "hip" }) if found == operation);
            let wrong = i32::from(!forked(hip.allocate(0, 8).map(drop), "hipMalloc"))
                | i32::from(!forked(hip.pointer_kind(8).map(drop), "hipPointerGetAttributes")) << 1
                | i32::from(!forked(hip.set_current_device(0), "hipSetDevice")) << 2
                | i32::from(!forked(hip.properties(0).map(drop), "hipDeviceGetAttribute")) << 3
                | i32::from(!forked(hip.current_device().map(drop), "hipGetDevice")) << 4
                | i32::from(cpu.allocate(0, 8).is_err()) << 5;
            unsafe { libc::_exit(wrong) };
        }
        let mut status = 0;
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status));
        assert_eq!(libc::WEXITSTATUS(status), 0);
        hip.synchronize_device(0).unwrap();
    }
}
