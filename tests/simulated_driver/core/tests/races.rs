//! Tests that uses of memory without an order are reported independently of the threads' timing, and that ordered uses
//! are not reported.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
use common::{across, down, driver, host, kinds, none, only, stream, up};
use simulated_core::Driver;
use simulated_core::byte_region::Extent;
use simulated_core::copy::{Copy, Memory, Side};
use simulated_core::fill::Fill;
use simulated_core::finding::Kind;

fn set(driver: &Driver, start: u64, count: u64, stream: u64) {
    let fill = Fill { start, pitch: 0, size: 1, value: 7, count, height: 1 };
    driver.fill("set", 0, fill, stream).unwrap();
}

fn from_pinned(driver: &Driver, to: u64, from: u64, bytes: u64, stream: u64) {
    let copy = Copy::line((Memory::Device, to), (Memory::Host, from), bytes, false);
    // SAFETY: the copy reads pinned memory that the driver allocated and the test does not free.
    unsafe { driver.copy("from_pinned", 0, copy, stream) }.unwrap();
}

fn to_pinned(driver: &Driver, to: u64, from: u64, bytes: u64, stream: u64) {
    let copy = Copy::line((Memory::Host, to), (Memory::Device, from), bytes, false);
    // SAFETY: the copy writes pinned memory that the driver allocated and the test does not free.
    unsafe { driver.copy("to_pinned", 0, copy, stream) }.unwrap();
}

#[test]
fn write_and_read_on_two_streams_race() {
    let driver = driver();
    let (block, other) = (driver.allocate(0, 64).unwrap(), driver.allocate(0, 64).unwrap());
    set(&driver, block, 64, stream(&driver));
    across(&driver, other, block, 64, stream(&driver)).unwrap();
    only(&driver, Kind::Race);
}

#[test]
fn accesses_on_one_stream_do_not_race() {
    let driver = driver();
    let (block, stream) = (driver.allocate(0, 64).unwrap(), stream(&driver));
    (0..100).for_each(|_| set(&driver, block, 64, stream));
    none(&driver);
}

#[test]
fn adjacent_bytes_do_not_race() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    set(&driver, block, 32, stream(&driver));
    set(&driver, block + 32, 32, stream(&driver));
    none(&driver);
    set(&driver, block + 31, 2, stream(&driver));
    assert_eq!(kinds(&driver), ["race"]);
}

#[test]
fn two_reads_do_not_race() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    set(&driver, block, 64, 0);
    driver.synchronize_device(0).unwrap();
    for _ in 0..3 {
        across(&driver, driver.allocate(0, 64).unwrap(), block, 64, stream(&driver)).unwrap();
    }
    none(&driver);
}

#[test]
fn one_event_or_two_consecutive_events_order_accesses() {
    let driver = driver();
    let (block, streams) = (driver.allocate(0, 64).unwrap(), [(); 3].map(|()| stream(&driver)));
    let event = driver.create_event(0, false).unwrap();
    set(&driver, block, 64, streams[0]);
    for pair in streams.windows(2) {
        driver.record_event("record", 0, event, pair[0]).unwrap();
        driver.wait_event("wait", 0, pair[1], event).unwrap();
    }
    set(&driver, block, 64, streams[2]);
    none(&driver);
}

#[test]
fn event_recorded_before_write_does_not_order_write() {
    let driver = driver();
    let (block, first, second) = (driver.allocate(0, 64).unwrap(), stream(&driver), stream(&driver));
    let event = driver.create_event(0, false).unwrap();
    driver.record_event("record", 0, event, first).unwrap();
    set(&driver, block, 64, first);
    driver.wait_event("wait", 0, second, event).unwrap();
    set(&driver, block, 64, second);
    only(&driver, Kind::Race);
}

#[test]
fn host_wait_orders_accesses_and_mere_completion_does_not() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    let (first, second) = (stream(&driver), stream(&driver));
    set(&driver, block, 64, first);
    driver.synchronize_stream("wait", 0, first).unwrap();
    set(&driver, block, 64, second);
    none(&driver);
    std::thread::sleep(std::time::Duration::from_millis(20));
    set(&driver, block, 64, first);
    only(&driver, Kind::Race);
}

#[test]
fn default_stream_orders_only_blocking_streams() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    let [first, second] = [(); 2].map(|()| driver.create_stream(0, false, 0).unwrap());
    set(&driver, block, 64, first);
    set(&driver, block, 64, 0);
    set(&driver, block, 64, second);
    none(&driver);
    set(&driver, block, 64, first);
    only(&driver, Kind::Race);
    driver.forget_reports();
    set(&driver, block, 64, stream(&driver));
    assert_eq!(kinds(&driver), ["race"]);
}

#[test]
fn concurrent_writes_of_different_columns_do_not_race() {
    let driver = driver();
    let block = driver.allocate(0, 1024).unwrap();
    for column in [0, 16] {
        let fill = Fill { start: block + column, pitch: 32, size: 4, value: 1, count: 4, height: 32 };
        driver.fill("set", 0, fill, stream(&driver)).unwrap();
    }
    none(&driver);
    let fill = Fill { start: block + 12, pitch: 32, size: 4, value: 1, count: 2, height: 32 };
    driver.fill("set", 0, fill, stream(&driver)).unwrap();
    only(&driver, Kind::Race);
}

#[test]
fn pinned_memory_is_read_when_the_copy_runs() {
    let driver = driver();
    let (block, memory) = (driver.allocate(0, 64).unwrap(), host(&driver, 64));
    let slow = common::slow(&driver, true);
    from_pinned(&driver, block, memory, 64, slow);
    // SAFETY: the driver allocated this pinned memory with at least 64 bytes.
    unsafe { (memory as *mut u8).write_bytes(9, 64) };
    assert_eq!(down(&driver, block, 64, slow).unwrap(), [9; 64]);
}

#[test]
fn pageable_memory_is_read_before_the_copy_call_returns() {
    let driver = driver();
    let (block, slow) = (driver.allocate(0, 64).unwrap(), common::slow(&driver, true));
    let mut bytes = [5_u8; 64];
    up(&driver, block, &bytes, slow).unwrap();
    bytes.fill(6);
    assert_eq!(down(&driver, block, 64, slow).unwrap(), [5; 64]);
}

#[test]
fn two_copies_into_one_pinned_block_race() {
    let driver = driver();
    let (block, memory) = (driver.allocate(0, 64).unwrap(), host(&driver, 64));
    to_pinned(&driver, memory, block, 64, stream(&driver));
    to_pinned(&driver, memory, block, 64, stream(&driver));
    only(&driver, Kind::Race);
}

#[test]
fn pool_block_used_on_other_stream_is_reported_as_race() {
    let driver = driver();
    let (pool, first) = (driver.create_pool(0).unwrap(), stream(&driver));
    let block = driver.allocate_from_pool("alloc", 0, Some(pool), 64, first).unwrap();
    set(&driver, block, 64, first);
    none(&driver);
    let block = driver.allocate_from_pool("alloc", 0, Some(pool), 64, first).unwrap();
    set(&driver, block, 64, stream(&driver));
    only(&driver, Kind::Race);
}

#[test]
fn free_after_unordered_use_is_reported() {
    let driver = driver();
    let (first, second) = (stream(&driver), stream(&driver));
    let block = driver.allocate_from_pool("alloc", 0, None, 64, first).unwrap();
    driver.synchronize_stream("wait", 0, first).unwrap();
    set(&driver, block, 64, second);
    driver.free_in_order("free", 0, block, first).unwrap();
    only(&driver, Kind::UseAfterFree);
}

#[test]
fn free_after_ordered_use_is_accepted() {
    let driver = driver();
    let (first, second) = (stream(&driver), stream(&driver));
    let block = driver.allocate_from_pool("alloc", 0, None, 64, first).unwrap();
    let event = driver.create_event(0, false).unwrap();
    driver.record_event("record", 0, event, first).unwrap();
    driver.wait_event("wait", 0, second, event).unwrap();
    set(&driver, block, 64, second);
    driver.record_event("record", 0, event, second).unwrap();
    driver.wait_event("wait", 0, first, event).unwrap();
    driver.free_in_order("free", 0, block, first).unwrap();
    none(&driver);
}

#[test]
fn unpinning_during_copy_is_reported() {
    let driver = driver();
    let mut memory = vec![0_u8; 64];
    let address = memory.as_mut_ptr() as u64;
    let block = driver.allocate(0, 64).unwrap();
    driver.register_host(0, address, 64).unwrap();
    from_pinned(&driver, block, address, 64, common::slow(&driver, true));
    driver.unregister_host("unregister", address).unwrap();
    only(&driver, Kind::UseAfterFree);
}

#[test]
fn overlapping_copy_is_reported() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    across(&driver, block + 8, block, 16, 0).unwrap();
    only(&driver, Kind::Overlap);
}

#[test]
fn interleaved_rows_do_not_overlap() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    let side = |start| Side { memory: Memory::Device, start, row_pitch: 16, plane_pitch: 0 };
    let extent = Extent { width: 8, height: 4, depth: 1 };
    let copy = Copy { target: side(block + 8), source: side(block), extent, waits: true };
    // SAFETY: the copy accesses only simulated device memory, no memory owned by the test.
    unsafe { driver.copy("copy", 0, copy, 0) }.unwrap();
    none(&driver);
}
