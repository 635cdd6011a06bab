//! Tests that memory blocks have bounds, a lifetime, poison values when they are new and when they are freed, and a
//! size limit.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod common;
use common::{across, down, driver, host, kinds, none, only, stream, up};
use simulated_core::Driver;
use simulated_core::arena::{FREED, FRESH};
use simulated_core::byte_region::Extent;
use simulated_core::config::Config;
use simulated_core::copy::{Copy, Memory, Side};
use simulated_core::error_codes::{
    CONTEXT_IS_DESTROYED, HOST_MEMORY_ALREADY_REGISTERED, HOST_MEMORY_NOT_REGISTERED, INVALID_CONTEXT, INVALID_VALUE,
    OUT_OF_MEMORY, PEER_ACCESS_ALREADY_ENABLED,
};
use simulated_core::fill::Fill;
use simulated_core::finding::Kind;
use simulated_core::host::HostKind;

#[test]
fn fresh_memory_is_poisoned_and_blocks_are_aligned() {
    let driver = driver();
    for bytes in [1, 511, 513] {
        let block = driver.allocate(0, bytes).unwrap();
        assert_eq!(block % 512, 0);
        assert_eq!(down(&driver, block, bytes as usize, 0).unwrap(), vec![FRESH; bytes as usize]);
    }
    let block = driver.allocate_from_pool("alloc", 0, None, 700, 0).unwrap();
    assert_eq!(down(&driver, block, 700, 0).unwrap(), [FRESH; 700]);
}

#[test]
fn freed_memory_is_poisoned() {
    // Without quarantine, the next block gets the addresses of the freed block. The pattern of new memory fills only
    // the requested bytes of this block.
    let driver = Driver::new(Config { quarantine: 0, ..Config::default() }).unwrap();
    let block = driver.allocate(0, 4096).unwrap();
    driver.free("free", block).unwrap();
    let again = driver.allocate(0, 100).unwrap();
    assert_eq!(again, block);
    driver.unseal(0, true).unwrap();
    // SAFETY: the test made the device's memory accessible to the host, and the block has these bytes.
    let bytes = unsafe { std::slice::from_raw_parts(block as *const u8, 4096) };
    assert_eq!((bytes[99], bytes[100], bytes[4095]), (FRESH, FREED, FREED));
}

#[test]
fn freed_block_is_quarantined_and_late_use_reported() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    driver.free("free", block).unwrap();
    assert_ne!(driver.allocate(0, 64).unwrap(), block);
    assert_eq!(up(&driver, block, &[0; 8], 0), Err(INVALID_VALUE));
    only(&driver, Kind::UseAfterFree);
}

#[test]
fn copy_one_byte_beyond_block_is_rejected_and_reported() {
    let driver = driver();
    let (block, _next) = (driver.allocate(0, 512).unwrap(), driver.allocate(0, 512).unwrap());
    up(&driver, block, &[1; 512], 0).unwrap();
    none(&driver);
    assert_eq!(up(&driver, block, &[1; 513], 0), Err(INVALID_VALUE));
    assert_eq!(down(&driver, block + 1, 512, 0), Err(INVALID_VALUE));
    assert_eq!(kinds(&driver), ["out_of_bounds", "out_of_bounds"]);
}

#[test]
fn copy_beyond_requested_size_of_block_is_reported() {
    let driver = driver();
    let block = driver.allocate(0, 10).unwrap();
    assert_eq!(up(&driver, block, &[1; 11], 0), Err(INVALID_VALUE));
    only(&driver, Kind::OutOfBounds);
}

#[test]
fn host_and_device_addresses_are_not_interchangeable() {
    let driver = driver();
    let (block, bytes) = (driver.allocate(0, 64).unwrap(), [0_u8; 64]);
    assert_eq!(across(&driver, block, bytes.as_ptr() as u64, 64, 0), Err(INVALID_VALUE));
    let copy = Copy::line((Memory::Device, block), (Memory::Host, block), 8, false);
    // SAFETY: the driver rejects this copy before it accesses memory.
    assert_eq!(unsafe { driver.copy("copy", 0, copy, 0) }, Err(INVALID_VALUE));
    assert_eq!(kinds(&driver), ["bad_address", "bad_address"]);
}

#[test]
fn double_free_and_free_of_unknown_address_are_reported() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    assert_eq!(driver.free("free", block + 8), Err(INVALID_VALUE));
    driver.free("free", block).unwrap();
    assert_eq!(driver.free("free", block), Err(INVALID_VALUE));
    assert_eq!(driver.free_in_order("free", 0, block, 0), Err(INVALID_VALUE));
    assert_eq!(kinds(&driver), ["bad_address", "double_free", "double_free"]);
    assert_eq!(driver.free("free", 0), Ok(()));
}

#[test]
fn memory_limit_is_enforced_and_freed_memory_is_available() {
    let driver = driver();
    driver.set_memory_limit(0, 1 << 20).unwrap();
    let block = driver.allocate(0, 1 << 20).unwrap();
    assert_eq!(driver.memory_info(0), (0, 1 << 20));
    assert_eq!(driver.allocate(0, 1), Err(OUT_OF_MEMORY));
    assert_eq!(driver.allocate_from_pool("alloc", 0, None, 1, 0), Err(OUT_OF_MEMORY));
    assert!(driver.allocate(1, 1 << 20).is_ok());
    driver.free("free", block).unwrap();
    assert!(driver.allocate_from_pool("alloc", 0, None, 1 << 20, 0).is_ok());
    let rest = driver.allocate_from_pool("alloc", 0, None, 1, 0);
    assert_eq!(rest, Err(OUT_OF_MEMORY));
    for bytes in [0, u64::MAX, u64::MAX - 511] {
        assert!(driver.allocate(0, bytes).is_err());
        assert!(driver.allocate_from_pool("alloc", 0, None, bytes, 0).is_err());
    }
}

#[test]
fn pool_keeps_memory_up_to_threshold() {
    let driver = driver();
    let pool = driver.create_pool(0).unwrap();
    let block = driver.allocate_from_pool("alloc", 0, Some(pool), 5 << 20, 0).unwrap();
    let figures = |driver: &Driver| {
        let pool = driver.pool("ask", pool).unwrap();
        [pool.used, pool.used_peak, pool.reserved, pool.reserved_peak].map(|bytes| bytes >> 20)
    };
    assert_eq!(figures(&driver), [5, 5, 6, 6]);
    driver.free_in_order("free", 0, block, 0).unwrap();
    assert_eq!(figures(&driver), [0, 5, 6, 6]);
    driver.change_pool("set", pool, |pool| pool.threshold = 4 << 20).unwrap();
    driver.synchronize_stream("wait", 0, 0).unwrap();
    assert_eq!(figures(&driver), [0, 5, 4, 6]);
    driver.trim_pool("trim", pool, 1 << 20).unwrap();
    assert_eq!(figures(&driver), [0, 5, 1, 6]);
}

#[test]
fn memory_kept_by_pool_counts_once_when_pool_grows() {
    let driver = driver();
    driver.set_memory_limit(0, 8 << 20).unwrap();
    let pool = driver.create_pool(0).unwrap();
    let block = driver.allocate_from_pool("alloc", 0, Some(pool), 6 << 20, 0).unwrap();
    driver.change_pool("set", pool, |pool| pool.threshold = u64::MAX).unwrap();
    driver.free_in_order("free", 0, block, 0).unwrap();
    assert_eq!(driver.allocate_from_pool("alloc", 0, Some(pool), 9 << 20, 0), Err(OUT_OF_MEMORY));
    assert!(driver.allocate_from_pool("alloc", 0, Some(pool), 8 << 20, 0).is_ok());
}

#[test]
fn destroyed_pool_lives_as_long_as_its_blocks() {
    let driver = driver();
    let pool = driver.create_pool(0).unwrap();
    let block = driver.allocate_from_pool("alloc", 0, Some(pool), 64, 0).unwrap();
    driver.destroy_pool("destroy", pool).unwrap();
    assert_eq!(driver.destroy_pool("destroy", pool), Err(INVALID_VALUE));
    up(&driver, block, &[1; 64], 0).unwrap();
    driver.free_in_order("free", 0, block, 0).unwrap();
    driver.synchronize_device(0).unwrap();
    assert_eq!(driver.memory_info(0).0, driver.memory_info(0).1);
}

#[test]
fn boxes_are_copied_row_by_row_between_all_kinds_of_memory() {
    let driver = driver();
    let (block, pinned) = (driver.allocate(0, 6 * 32).unwrap(), host(&driver, 60));
    let bytes: Vec<u8> = (0..60).collect();
    let extent = Extent { width: 5, height: 3, depth: 2 };
    let side = |memory, start, row_pitch, planes| Side { memory, start, row_pitch, plane_pitch: row_pitch * planes };
    let device = side(Memory::Device, block, 8, 4);
    let run = |target, source| {
        // SAFETY: both endpoints contain the whole box, and the call returns only after the copy.
        unsafe { driver.copy("copy", 0, Copy { target, source, extent, waits: true }, 0) }.unwrap();
    };
    run(device, side(Memory::Host, bytes.as_ptr() as u64, 10, 3));
    run(side(Memory::Either, pinned, 5, 3), device);
    // SAFETY: the driver allocated this pinned memory, which the test frees only after this access.
    let got = unsafe { std::slice::from_raw_parts(pinned as *const u8, 30) };
    let expected: Vec<u8> = (0..60).filter(|byte| byte % 10 < 5).collect();
    assert_eq!(got, expected);
    none(&driver);
}

#[test]
fn fill_of_each_width_writes_pattern_and_rejects_wrong_alignment() {
    let driver = driver();
    let block = driver.allocate(0, 64).unwrap();
    let fill = |size, start, pitch, height| Fill { start, pitch, size, value: 0x0403_0201, count: 2, height };
    for size in [1, 2, 4] {
        driver.fill("fill", 0, fill(size, block, 16, 2), 0).unwrap();
        let got = down(&driver, block, 16 + 2 * size as usize, 0).unwrap();
        let expected: Vec<u8> = (0..2 * size).map(|place| (place % size + 1) as u8).collect();
        assert_eq!((&got[..expected.len()], &got[16..]), (&expected[..], &expected[..]));
    }
    assert_eq!(driver.fill("fill", 0, fill(4, block + 2, 16, 1), 0), Err(INVALID_VALUE));
    assert_eq!(driver.fill("fill", 0, fill(4, block, 18, 2), 0), Err(INVALID_VALUE));
    assert_eq!(driver.fill("fill", 0, fill(4, block, 4, 2), 0), Err(INVALID_VALUE));
    none(&driver);
}

#[test]
fn copy_to_other_device_keeps_values() {
    let driver = driver();
    let (here, there) = (driver.allocate(0, 64).unwrap(), driver.allocate(1, 64).unwrap());
    up(&driver, here, &[3; 64], 0).unwrap();
    across(&driver, there, here, 64, 0).unwrap();
    assert_eq!(down(&driver, there, 64, 0).unwrap(), [3; 64]);
    assert_eq!(driver.known(there).map(|known| known.device), Some(1));
    assert_eq!(driver.enable_peer(0, 1), Ok(()));
    assert_eq!(driver.enable_peer(0, 1), Err(PEER_ACCESS_ALREADY_ENABLED));
}

#[test]
fn memory_is_registered_once_and_unregistered_by_its_first_byte() {
    let driver = driver();
    let memory = vec![0_u8; 8192];
    let address = memory.as_ptr() as u64;
    driver.register_host(0, address, 4096).unwrap();
    assert_eq!(driver.register_host(0, address + 100, 8), Err(HOST_MEMORY_ALREADY_REGISTERED));
    assert_eq!(driver.known(address + 5).unwrap().host, Some(HostKind::Registered));
    assert_eq!(driver.unregister_host("unregister", address + 1), Err(HOST_MEMORY_NOT_REGISTERED));
    driver.unregister_host("unregister", address).unwrap();
    assert_eq!(driver.unregister_host("unregister", address), Err(HOST_MEMORY_NOT_REGISTERED));
    assert_eq!(driver.known(address), None);
    assert_eq!(driver.register_host(0, 1 << 46, 4096), Err(INVALID_VALUE));
    assert_eq!(driver.register_host(0, 0, 4096), Err(INVALID_VALUE));
}

#[test]
fn pinned_memory_is_freed_once() {
    let driver = driver();
    let memory = host(&driver, 100);
    assert_eq!(memory % 4096, 0);
    driver.free_host("free", memory).unwrap();
    assert_eq!(driver.free_host("free", memory), Err(INVALID_VALUE));
}

#[test]
fn reset_destroys_objects_of_its_device_only() {
    let driver = driver();
    let (old, other) = (driver.retain(0).unwrap(), driver.retain(1).unwrap());
    let (block, there) = (driver.allocate(0, 64).unwrap(), driver.allocate(1, 64).unwrap());
    let stream = stream(&driver);
    driver.reset(0).unwrap();
    assert_eq!(driver.device_of_context(old), Err(CONTEXT_IS_DESTROYED));
    assert_eq!(driver.device_of_context(77), Err(INVALID_CONTEXT));
    assert_eq!(driver.device_of_context(other), Ok(1));
    assert!(driver.synchronize_stream("wait", 0, stream).is_err());
    assert!(up(&driver, block, &[0; 8], 0).is_err());
    assert!(up(&driver, there, &[0; 8], 0).is_ok());
    assert_eq!(driver.memory_info(0).0, driver.memory_info(0).1);
    assert_ne!(driver.retain(0).unwrap(), old);
}

#[test]
fn ordered_random_work_on_many_streams_has_no_findings() {
    let seed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos() as u64 | 1;
    println!("seed {seed}");
    let mut state = seed;
    let mut random = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let driver = driver();
    driver.delay(0, simulated_core::config::Delay { least: 0, most: 50 });
    let streams: Vec<u64> = (0..4).map(|_| stream(&driver)).collect();
    let event = driver.create_event(0, false).unwrap();
    let mut blocks: Vec<(u64, u8, u64)> = Vec::new();
    for number in 0..2000 {
        let stream = streams[random(4) as usize];
        if blocks.len() < 8 || random(3) == 0 {
            let block = driver.allocate_from_pool("alloc", 0, None, 64, stream).unwrap();
            up(&driver, block, &[number as u8; 64], stream).unwrap();
            blocks.push((block, number as u8, stream));
            continue;
        }
        let (block, value, last) = blocks.swap_remove(random(blocks.len() as u64) as usize);
        driver.record_event("record", 0, event, last).unwrap();
        driver.wait_event("wait", 0, stream, event).unwrap();
        assert_eq!(down(&driver, block, 64, stream).unwrap(), [value; 64], "seed {seed}");
        driver.free_in_order("free", 0, block, stream).unwrap();
    }
    none(&driver);
}
