//! Tests behaviour that ordinary timing of threads would hide: reused handles, captured copies that read memory at the
//! launch, and legal orders other than the order of submission.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use common::{down, driver, kinds, none, slow, stream, up};
use simulated_core::Driver;
use simulated_core::config::Config;
use simulated_core::copy::{Copy, Memory};
use simulated_core::error_codes::INVALID_HANDLE;
use simulated_core::graph::Mode;
use simulated_core::stream::PER_THREAD;

fn seeded(seed: u64) -> Driver {
    Driver::new(Config { memory: 64 << 20, seed, reorders: true, ..Config::default() }).unwrap()
}

/// Submits one operation to each of two streams and waits for the second stream only. Returns the numbers of the
/// streams whose operations have run when this wait returns.
fn ran(seed: u64, wait: bool) -> Vec<u32> {
    let driver = seeded(seed);
    let (first, second, event) = (stream(&driver), stream(&driver), driver.create_event(0, false).unwrap());
    let log = Arc::new(Mutex::new(Vec::new()));
    let say = |stream, what| {
        let log = log.clone();
        driver.launch_host("say", 0, stream, move || log.lock().unwrap().push(what)).unwrap();
    };
    say(first, 1);
    driver.record_event("record", 0, event, first).unwrap();
    sleep(Duration::from_millis(2)); // A host usually makes its next call sooner.
    if wait {
        driver.wait_event("wait", 0, second, event).unwrap();
    }
    say(second, 2);
    driver.synchronize_stream("synchronize", 0, second).unwrap();
    let seen = log.lock().unwrap().clone();
    driver.synchronize_device(0).unwrap();
    seen
}

#[test]
fn reordering_exposes_missing_wait_within_20_seeds_and_obeys_waits() {
    assert!((0..20).any(|seed| ran(seed, false) == [2]), "the first stream is never overtaken");
    assert!((0..20).any(|seed| ran(seed, false)[0] == 1), "the first stream is always overtaken");
    assert!((0..20).all(|seed| ran(seed, true) == [1, 2]));
}

#[test]
fn held_back_operation_runs_eventually_without_host_wait() {
    for seed in 0..5 {
        let driver = seeded(seed);
        let stream = stream(&driver);
        driver.launch_host("say", 0, stream, || ()).unwrap();
        while driver.query_stream("query", 0, stream).is_err() {
            sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn handle_of_destroyed_stream_is_reused() {
    let driver = driver();
    let first = slow(&driver, true);
    let id = driver.stream_id("id", 0, first).unwrap();
    let done = Arc::new(Mutex::new(Vec::new()));
    let log = done.clone();
    driver.launch_host("say", 0, first, move || log.lock().unwrap().push(1)).unwrap();
    driver.destroy_stream("destroy", 0, first).unwrap();
    let second = stream(&driver);
    assert_eq!(second, first);
    assert_ne!(driver.stream_id("id", 0, second).unwrap(), id);
    // Operations of the second stream do not wait for the first stream, and the seed does not hold them back.
    driver.synchronize_stream("wait", 0, second).unwrap();
    assert!(done.lock().unwrap().is_empty());
    driver.synchronize_device(0).unwrap();
    assert_eq!(*done.lock().unwrap(), [1]);
    none(&driver);
}

#[test]
fn handle_of_destroyed_event_is_reused() {
    let driver = driver();
    let (busy, other) = (slow(&driver, true), stream(&driver));
    let first = driver.create_event(0, false).unwrap();
    driver.launch_host("sleep", 0, busy, || ()).unwrap();
    driver.record_event("record", 0, first, busy).unwrap();
    driver.destroy_event("destroy", first).unwrap();
    assert_eq!(driver.query_event("query", first), Err(INVALID_HANDLE));
    driver.forget_reports();
    let second = driver.create_event(0, false).unwrap();
    assert_eq!(second, first);
    assert_eq!(driver.query_event("query", second), Ok(()));
    driver.wait_event("wait", 0, other, second).unwrap();
    driver.synchronize_stream("wait", 0, other).unwrap();
    none(&driver);
}

#[test]
fn stream_handle_is_reused_after_device_reset() {
    let driver = driver();
    let old = stream(&driver);
    driver.retain(0).unwrap();
    driver.reset(0).unwrap();
    assert_eq!(driver.query_stream("query", 0, old), Err(INVALID_HANDLE));
    assert_eq!(stream(&driver), old);
}

#[test]
fn default_streams_of_two_threads_have_different_ids() {
    let driver = driver();
    let here = driver.stream_id("id", 0, PER_THREAD).unwrap();
    let there = std::thread::scope(|scope| scope.spawn(|| driver.stream_id("id", 0, PER_THREAD)).join().unwrap());
    assert_ne!(there.unwrap(), here);
    assert_eq!(driver.stream_id("id", 0, PER_THREAD).unwrap(), here);
}

#[test]
fn captured_copy_reads_pageable_memory_at_each_launch() {
    let driver = driver();
    let (stream, block) = (stream(&driver), driver.allocate(0, 4).unwrap());
    let mut host = vec![1u8; 4];
    driver.begin_capture("begin", 0, stream, Mode::Global).unwrap();
    up(&driver, block, &host, stream).unwrap();
    let graph = driver.end_capture("end", 0, stream).unwrap();
    assert_eq!(kinds(&driver), ["captured_pageable"]);
    driver.forget_reports();
    let executable = driver.instantiate_graph("instantiate", 0, graph).unwrap();
    for value in [7, 9] {
        host.fill(value);
        driver.launch_graph("launch", 0, executable, stream).unwrap();
        driver.synchronize_stream("wait", 0, stream).unwrap();
        assert_eq!(down(&driver, block, 4, stream).unwrap(), [value; 4]);
    }
    none(&driver);
}

#[test]
fn graph_launch_rejects_copy_from_unmapped_memory() {
    let driver = driver();
    let (stream, block) = (stream(&driver), driver.allocate(0, 4).unwrap());
    driver.begin_capture("begin", 0, stream, Mode::Global).unwrap();
    let copy = Copy::line((Memory::Device, block), (Memory::Host, 1 << 46), 4, false);
    // SAFETY: the driver reads nothing while the stream captures, and the launch of the graph fails.
    unsafe { driver.copy("up", 0, copy, stream).unwrap() };
    let graph = driver.end_capture("end", 0, stream).unwrap();
    let executable = driver.instantiate_graph("instantiate", 0, graph).unwrap();
    assert!(driver.launch_graph("launch", 0, executable, stream).is_err());
    assert_eq!(kinds(&driver), ["captured_pageable", "use_after_free"]);
}
