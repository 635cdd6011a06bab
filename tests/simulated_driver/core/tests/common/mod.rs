//! Provides a private driver for each test, and copies between device memory and Rust slices.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use simulated_core::config::{Config, Delay};
use simulated_core::copy::{Copy, Memory};
use simulated_core::finding::Kind;
use simulated_core::stream::LEGACY;
use simulated_core::{Driver, Outcome};

/// Delay of an operation in microseconds. It is much longer than any call that must not wait for the operation.
pub const LONG: u64 = 50_000;

pub fn driver() -> Driver {
    Driver::new(Config { memory: 64 << 20, ..Config::default() }).unwrap()
}

pub fn up(driver: &Driver, to: u64, bytes: &[u8], stream: u64) -> Outcome<()> {
    let from = bytes.as_ptr() as u64;
    let copy = Copy::line((Memory::Device, to), (Memory::Host, from), bytes.len() as u64, false);
    // SAFETY: the driver reads pageable memory before the call returns, and the slice is alive until then.
    unsafe { driver.copy("up", 0, copy, stream) }
}

pub fn down(driver: &Driver, from: u64, bytes: usize, stream: u64) -> Outcome<Vec<u8>> {
    let mut target = vec![0; bytes];
    let to = target.as_mut_ptr() as u64;
    let copy = Copy::line((Memory::Host, to), (Memory::Device, from), bytes as u64, false);
    // SAFETY: the driver writes pageable memory before the call returns, and the slice is alive until then.
    unsafe { driver.copy("down", 0, copy, stream)? };
    Ok(target)
}

pub fn across(driver: &Driver, to: u64, from: u64, bytes: u64, stream: u64) -> Outcome<()> {
    let copy = Copy::line((Memory::Device, to), (Memory::Device, from), bytes, false);
    // SAFETY: the copy accesses only simulated device memory, no memory owned by the test.
    unsafe { driver.copy("across", 0, copy, stream) }
}

pub fn stream(driver: &Driver) -> u64 {
    driver.create_stream(0, true, 0).unwrap()
}

pub fn slow(driver: &Driver, non_blocking: bool) -> u64 {
    let stream = driver.create_stream(0, non_blocking, 0).unwrap();
    driver.delay(stream, Delay::of(LONG));
    stream
}

/// Returns the kinds of all findings so far.
pub fn kinds(driver: &Driver) -> Vec<String> {
    let reports = driver.reports();
    let kinds = reports.split(r#"{"kind": ""#).skip(1);
    kinds.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

pub fn only(driver: &Driver, kind: Kind) {
    assert_eq!(kinds(driver), [kind.name()], "{}", driver.reports());
}

pub fn none(driver: &Driver) {
    assert_eq!(driver.reports(), "[]");
}

pub fn host(driver: &Driver, bytes: u64) -> u64 {
    driver.allocate_host(0, bytes, simulated_core::host::HostKind::Pinned).unwrap()
}

pub const DEFAULT: u64 = LEGACY;
