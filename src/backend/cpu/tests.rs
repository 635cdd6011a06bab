//! Tests of the CPU backend through its traits.
//!
//! The unsafe calls of this file are sound for one reason: each test owns the memory and the handles that it passes,
//! and keeps them until the call has completed. Calls that must fail, or access no memory, may pass any address.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use super::driver::{CPU, FIRST_STREAM};
use super::error_codes;
use super::error_codes::{INVALID_DEVICE, INVALID_HANDLE, INVALID_VALUE, NOT_SUPPORTED};
use crate::*;
use pygpu_base::error::{Error, Result};

const S: StreamHandle = StreamHandle::DEFAULT;
const TIMED: EventFlags = EventFlags { timing: true, blocking_sync: false, interprocess: false };

/// Permission for copies from host memory. These tests always have it, because no stream captures.
// SAFETY: nothing is captured, and the host memory exists until a copy is complete.
const UP: Direction = Direction::HostToDevice(unsafe { HostUse::promised() });
// SAFETY: nothing is captured, and the host memory exists until a copy is complete.
const DOWN: Direction = Direction::DeviceToHost(unsafe { HostUse::promised() });

fn address<T>(values: &mut [T]) -> Address {
    values.as_mut_ptr().expose_provenance()
}

fn code<T>(result: Result<T>) -> u32 {
    result.err().unwrap().code().unwrap()
}

#[test]
fn memory_is_aligned_to_cache_line_and_small_blocks_to_16_bytes() {
    for bytes in [1, 63, 64, 65, 1023, 1024, 1 << 20] {
        let block = CPU.allocate(0, bytes).unwrap();
        assert_eq!(block % if bytes < 1024 { 16 } else { 64 }, 0);
        // SAFETY: the block has this many bytes, and only this test uses it.
        unsafe {
            CPU.fill(0, block, 0, Pattern::U8(7), bytes, 1, S).unwrap();
            CPU.free(0, block, bytes).unwrap();
        }
    }
}

#[test]
fn allocation_of_impossible_size_raises_out_of_memory() {
    for bytes in [usize::MAX, isize::MAX as usize, 1 << 60] {
        match CPU.allocate(0, bytes) {
            Err(Error::OutOfMemory(error)) => {
                assert_eq!((error.requested, error.device.as_str(), error.used), (bytes, "cpu", 0));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(code(CPU.allocate(0, 0)), INVALID_VALUE);
}

#[test]
fn overlapping_copy_behaves_like_memmove() {
    let mut values: Vec<u8> = (0..10).collect();
    let first = address(&mut values);
    // SAFETY: both ranges lie inside `values`.
    unsafe { CPU.copy(0, Direction::DeviceToDevice, first + 2, first, 8, S).unwrap() };
    assert_eq!(values, [0, 1, 0, 1, 2, 3, 4, 5, 6, 7]);
    // SAFETY: a copy of no bytes accesses no memory.
    unsafe { CPU.copy(0, Direction::DeviceToDevice, 0, 0, 0, S).unwrap() };
}

#[test]
fn pitched_copy_skips_gaps_between_rows() {
    let mut source: Vec<u8> = (0..60).collect();
    let mut target = vec![255u8; 60];
    let from = Pitched { address: address(&mut source) + 1, row_pitch: 5, plane_pitch: 20 };
    let to = Pitched { address: address(&mut target), row_pitch: 4, plane_pitch: 12 };
    let extent = Extent { width: 3, height: 2, depth: 3 };
    // SAFETY: the boxes lie inside `source` and `target`.
    unsafe { CPU.copy_pitched(0, UP, to, from, extent, S).unwrap() };
    let mut expected = vec![255u8; 60];
    for (plane, row, byte) in (0..3).flat_map(|p| (0..2).flat_map(move |r| (0..3).map(move |b| (p, r, b)))) {
        expected[plane * 12 + row * 4 + byte] = (1 + plane * 20 + row * 5 + byte) as u8;
    }
    assert_eq!(target, expected);
}

#[test]
fn pitched_copy_skips_gaps_between_planes() {
    let mut source: Vec<u8> = (0..24).collect();
    let mut target = vec![0u8; 16];
    let from = Pitched { address: address(&mut source), row_pitch: 4, plane_pitch: 12 };
    let to = Pitched { address: address(&mut target), row_pitch: 4, plane_pitch: 8 };
    // SAFETY: the boxes lie inside `source` and `target`.
    unsafe {
        CPU.copy_pitched(0, DOWN, to, from, Extent { width: 4, height: 2, depth: 2 }, S).unwrap();
    }
    assert_eq!(target, [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19]);
}

#[test]
fn empty_box_touches_no_memory_for_any_pitch() {
    let invalid_memory = Pitched { address: 8, row_pitch: usize::MAX, plane_pitch: usize::MAX };
    for (width, height, depth) in [(0, 2, 2), (2, 0, 2), (2, 2, 0)] {
        let extent = Extent { width, height, depth };
        // SAFETY: an empty box contains no address.
        unsafe { CPU.copy_pitched(0, Direction::DeviceToDevice, invalid_memory, invalid_memory, extent, S).unwrap() };
    }
    // SAFETY: a fill without rows or without elements writes nothing.
    unsafe { CPU.fill(0, 8, usize::MAX, Pattern::U32(1), 0, 5, S).unwrap() };
    // SAFETY: a fill without rows or without elements writes nothing.
    unsafe { CPU.fill(0, 8, usize::MAX, Pattern::U32(1), 5, 0, S).unwrap() };
}

#[test]
fn fill_with_pattern_of_any_size_leaves_gaps_between_rows() {
    let mut words = [0xffff_ffff_u32; 6];
    let first = address(&mut words);
    // SAFETY: the rows lie inside `words`.
    unsafe { CPU.fill(0, first, 12, Pattern::U32(0x0102_0304), 2, 2, S).unwrap() };
    assert_eq!(words, [0x0102_0304, 0x0102_0304, u32::MAX, 0x0102_0304, 0x0102_0304, u32::MAX]);
    // SAFETY: the rows lie inside `words`.
    unsafe { CPU.fill(0, first, 4, Pattern::U16(0xabcd), 2, 6, S).unwrap() };
    assert_eq!(words, [0xabcd_abcd; 6]);
    // SAFETY: the rows lie inside `words`.
    unsafe { CPU.fill(0, first, 12, Pattern::U16(0), 4, 2, S).unwrap() };
    assert_eq!(words, [0, 0, 0xabcd_abcd, 0, 0, 0xabcd_abcd]);
    // SAFETY: the rows lie inside `words`.
    unsafe { CPU.fill(0, first, 8, Pattern::U8(1), 1, 3, S).unwrap() };
    assert_eq!(words, [1, 0, 0xabcd_ab01, 0, 1, 0xabcd_abcd]);
}

#[test]
fn streams_are_distinct_nonzero_and_always_complete() {
    let streams: Vec<_> = (0..3).map(|_| CPU.create_stream(0, StreamFlags::default()).unwrap()).collect();
    assert!(streams.iter().all(|stream| stream.0 >= FIRST_STREAM));
    assert!(streams[0] != streams[1] && streams[1] != streams[2]);
    for stream in streams {
        // SAFETY: this test owns the stream, and uses it no more after its destruction.
        unsafe {
            assert!(CPU.query_stream(0, stream).unwrap());
            assert_eq!(CPU.stream_device(stream).unwrap(), Some(0));
            CPU.synchronize_stream(0, stream).unwrap();
            CPU.destroy_stream(0, stream).unwrap();
        }
    }
}

#[test]
fn events_measure_the_time_between_their_records() {
    let (start, end) = (CPU.create_event(0, TIMED).unwrap(), CPU.create_event(0, TIMED).unwrap());
    // SAFETY: this test owns the events; the backend rejects the handle of a destroyed event.
    unsafe {
        assert_eq!(code(CPU.elapsed(0, start, end)), INVALID_HANDLE);
        CPU.record_event(0, start, S).unwrap();
        assert_eq!(code(CPU.elapsed(0, start, end)), INVALID_HANDLE);
        std::thread::sleep(std::time::Duration::from_millis(5));
        assert!(CPU.record_event_of_device(0, end).unwrap());
        let milliseconds = CPU.elapsed(0, start, end).unwrap();
        assert!((5.0..5000.0).contains(&milliseconds), "{milliseconds}");
        assert_eq!(CPU.elapsed(0, end, start).unwrap(), -milliseconds);
        CPU.wait_event(0, S, end).unwrap();
        assert!(CPU.query_event(0, end).unwrap());
        CPU.destroy_event(0, start).unwrap();
        assert_eq!(code(CPU.destroy_event(0, start)), INVALID_HANDLE);
        assert_eq!(code(CPU.record_event(0, start, S)), INVALID_HANDLE);
        CPU.destroy_event(0, end).unwrap();
    }
}

#[test]
fn event_without_timing_has_no_time_and_interprocess_event_is_rejected() {
    let event = CPU.create_event(0, EventFlags { timing: false, ..TIMED }).unwrap();
    // SAFETY: this test owns the event, and uses it no more after its destruction.
    unsafe {
        CPU.record_event(0, event, S).unwrap();
        let error = CPU.elapsed(0, event, event).unwrap_err();
        assert!(error.to_string().contains("without timing"), "{error}");
        CPU.destroy_event(0, event).unwrap();
    }
    assert_eq!(code(CPU.create_event(0, EventFlags { interprocess: true, ..TIMED })), NOT_SUPPORTED);
}

#[test]
fn cpu_backend_has_device_0_only() {
    assert_eq!(CPU.current_device().unwrap(), 0);
    CPU.set_current_device(0).unwrap();
    for device in [1, -1, i32::MAX] {
        assert_eq!(code(CPU.set_current_device(device)), INVALID_DEVICE);
        assert_eq!(code(CPU.allocate(device, 8)), INVALID_DEVICE);
        assert_eq!(code(CPU.properties(device)), INVALID_DEVICE);
    }
    let text = CPU.set_current_device(3).unwrap_err().to_string();
    let start = "set_current_device failed on cpu: cudaErrorInvalidDevice (101): invalid device ordinal [device 3";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn cpu_backend_reports_properties_of_host() {
    let properties = CPU.properties(0).unwrap();
    assert!(!properties.name.is_empty());
    assert_eq!(properties.architecture, std::env::consts::ARCH);
    assert!(properties.multiprocessor_count >= 1);
    assert_eq!((properties.warp_size, properties.memory_pools), (32, false));
    let memory = CPU.memory_info(0).unwrap();
    assert!(0 < memory.free && memory.free <= memory.total);
    assert_eq!(memory.total, properties.total_memory);
}

#[test]
fn cpu_backend_has_no_pools_and_no_peers() {
    assert_eq!(CPU.create_pool(0, 0).unwrap(), None);
    assert_eq!(code(CPU.pool_statistics(PoolHandle(1))), INVALID_HANDLE);
    assert!(!CPU.can_access_peer(0, 0).unwrap());
    assert_eq!(code(CPU.enable_peer_access(0, 1)), INVALID_DEVICE);
}

#[test]
fn pinned_memory_is_recognized_until_freed() {
    let block = CPU.allocate_host(0, 100, HostFlags::default()).unwrap();
    let kinds = [block - 1, block, block + 99, block + 100].map(|address| CPU.pointer_kind(address).unwrap());
    let (unknown, pinned) = (PointerKind::Unregistered, PointerKind::Host);
    assert_eq!(kinds, [unknown, pinned, pinned, unknown]);
    // SAFETY: this test owns the block, which is not used any more.
    unsafe { CPU.free_host(0, block, 100).unwrap() };
    assert_eq!(CPU.pointer_kind(block).unwrap(), unknown);
}

#[test]
fn error_codes_have_cuda_names_and_unknown_codes_a_default() {
    assert_eq!(
        (CPU.error_name(400), CPU.error_text(1)),
        ("cudaErrorInvalidResourceHandle".into(), "invalid argument".into())
    );
    assert_eq!(
        (CPU.error_name(12345), CPU.error_text(u32::MAX)),
        (error_codes::name(99999).into(), "unrecognized error code".into())
    );
}
