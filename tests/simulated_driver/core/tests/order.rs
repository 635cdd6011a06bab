//! Tests that the operations of a stream run asynchronously and in order, that the default stream waits for blocking
//! streams, and that events order streams.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use common::{DEFAULT, LONG, driver, slow, stream};
use simulated_core::Driver;
use simulated_core::config::Delay;
use simulated_core::error_codes::{INVALID_HANDLE, LAUNCH_FAILED, NOT_READY};
use simulated_core::fault::Fault;
use simulated_core::stream::PER_THREAD;
use simulated_core::worker::fail_next;

type Log = Arc<Mutex<Vec<u32>>>;

fn say(driver: &Driver, log: &Log, stream: u64, what: u32) {
    let log = log.clone();
    driver.launch_host("say", 0, stream, move || log.lock().unwrap().push(what)).unwrap();
}

fn said(driver: &Driver, log: &Log) -> Vec<u32> {
    driver.synchronize_device(0).unwrap();
    log.lock().unwrap().clone()
}

#[test]
fn stream_runs_operations_asynchronously_and_in_order() {
    let (driver, log) = (driver(), Log::default());
    let stream = slow(&driver, true);
    (0..3).for_each(|number| say(&driver, &log, stream, number));
    assert_eq!(driver.query_stream("query", 0, stream), Err(NOT_READY));
    assert!(log.lock().unwrap().is_empty());
    driver.synchronize_stream("wait", 0, stream).unwrap();
    assert_eq!(driver.query_stream("query", 0, stream), Ok(()));
    assert_eq!(*log.lock().unwrap(), [0, 1, 2]);
}

#[test]
fn default_and_blocking_streams_wait_for_each_other() {
    let (driver, log) = (driver(), Log::default());
    let (first, second) = (slow(&driver, false), driver.create_stream(0, false, 0).unwrap());
    say(&driver, &log, first, 1);
    say(&driver, &log, 0, 2);
    say(&driver, &log, second, 3);
    say(&driver, &log, PER_THREAD, 4);
    assert_eq!(said(&driver, &log)[..2], [1, 2]);
}

#[test]
fn non_blocking_stream_does_not_wait_for_default_stream() {
    let (driver, log) = (driver(), Log::default());
    driver.delay(DEFAULT, Delay::of(LONG));
    say(&driver, &log, DEFAULT, 1);
    say(&driver, &log, stream(&driver), 2);
    assert_eq!(said(&driver, &log), [2, 1]);
}

#[test]
fn default_streams_of_two_devices_are_distinct() {
    let (driver, log) = (driver(), Log::default());
    let slow = slow(&driver, false);
    say(&driver, &log, slow, 1);
    let ran = Arc::new(AtomicUsize::new(0));
    let count = ran.clone();
    let add = move || {
        count.fetch_add(1, Ordering::SeqCst);
    };
    driver.launch_host("say", 1, 0, add).unwrap();
    driver.synchronize_device(1).unwrap();
    assert_eq!((ran.load(Ordering::SeqCst), log.lock().unwrap().len()), (1, 0));
}

#[test]
fn wait_for_default_stream_includes_blocking_streams() {
    let (driver, log) = (driver(), Log::default());
    say(&driver, &log, slow(&driver, false), 1);
    assert_eq!(driver.query_stream("query", 0, 0), Err(NOT_READY));
    driver.synchronize_stream("wait", 0, 0).unwrap();
    assert_eq!(*log.lock().unwrap(), [1]);
}

#[test]
fn each_thread_has_its_own_default_stream() {
    let (driver, log) = (driver(), Log::default());
    driver.launch_host("sleep", 0, PER_THREAD, || std::thread::sleep(Duration::from_micros(LONG))).unwrap();
    say(&driver, &log, PER_THREAD, 1);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| {
            say(&driver, &log, PER_THREAD, 2);
            driver.synchronize_stream("wait", 0, PER_THREAD)
        });
        other.join().unwrap().unwrap();
    });
    assert_eq!(said(&driver, &log), [2, 1]);
}

#[test]
fn stream_wait_uses_latest_recording_before_the_wait() {
    let (driver, log) = (driver(), Log::default());
    let (first, second, event) = (slow(&driver, true), stream(&driver), driver.create_event(0, false).unwrap());
    driver.record_event("record", 0, event, second).unwrap();
    driver.wait_event("wait", 0, second, event).unwrap();
    say(&driver, &log, first, 1);
    driver.record_event("record", 0, event, first).unwrap();
    say(&driver, &log, second, 2);
    driver.wait_event("wait", 0, second, event).unwrap();
    // The wait refers to the recording at the time of its submission, so a later recording of the event does not affect
    // the wait.
    driver.record_event("record", 0, event, second).unwrap();
    driver.destroy_event("destroy", event).unwrap();
    say(&driver, &log, second, 3);
    assert_eq!(said(&driver, &log), [2, 1, 3]);
}

#[test]
fn event_query_succeeds_after_stream_passes_recorded_point() {
    let driver = driver();
    let (stream, event) = (slow(&driver, true), driver.create_event(0, true).unwrap());
    assert_eq!(driver.query_event("query", event), Ok(()));
    driver.record_event("record", 0, event, stream).unwrap();
    assert_eq!(driver.query_event("query", event), Err(NOT_READY));
    driver.synchronize_event("wait", event).unwrap();
    assert_eq!(driver.query_event("query", event), Ok(()));
}

#[test]
fn elapsed_time_is_measured_and_requires_two_timed_recordings() {
    let driver = driver();
    let stream = slow(&driver, true);
    let [start, end] = [(); 2].map(|()| driver.create_event(0, true).unwrap());
    assert_eq!(driver.elapsed("elapsed", start, end), Err(INVALID_HANDLE));
    driver.record_event("record", 0, start, stream).unwrap();
    driver.record_event("record", 0, end, stream).unwrap();
    assert_eq!(driver.elapsed("elapsed", start, end), Err(NOT_READY));
    driver.synchronize_stream("wait", 0, stream).unwrap();
    let least = LONG as f32 / 1e3 * 0.9;
    assert!(driver.elapsed("elapsed", start, end).unwrap() >= least);
    assert!(driver.elapsed("elapsed", end, start).unwrap() <= -least);
    let untimed = driver.create_event(0, false).unwrap();
    driver.record_event("record", 0, untimed, stream).unwrap();
    driver.synchronize_stream("wait", 0, stream).unwrap();
    assert_eq!(driver.elapsed("elapsed", start, untimed), Err(INVALID_HANDLE));
}

#[test]
fn device_event_covers_all_streams_of_device() {
    let (driver, log) = (driver(), Log::default());
    let (first, other) = (slow(&driver, true), stream(&driver));
    say(&driver, &log, first, 1);
    let event = driver.create_event(0, false).unwrap();
    driver.record_event_of_device("record", 0, event).unwrap();
    driver.wait_event("wait", 0, other, event).unwrap();
    say(&driver, &log, other, 2);
    assert_eq!(said(&driver, &log), [1, 2]);
}

#[test]
fn event_record_rejects_stream_of_other_device() {
    let driver = driver();
    let event = driver.create_event(1, false).unwrap();
    assert_eq!(driver.record_event("record", 0, event, stream(&driver)), Err(INVALID_HANDLE));
}

#[test]
fn destroyed_stream_finishes_work_and_its_handle_becomes_invalid() {
    let (driver, log) = (driver(), Log::default());
    let stream = slow(&driver, true);
    say(&driver, &log, stream, 1);
    driver.destroy_stream("destroy", 0, stream).unwrap();
    assert_eq!(driver.query_stream("query", 0, stream), Err(INVALID_HANDLE));
    assert_eq!(driver.destroy_stream("destroy", 0, stream), Err(INVALID_HANDLE));
    assert_eq!(said(&driver, &log), [1]);
    assert_eq!(common::kinds(&driver), ["bad_handle", "bad_handle"]);
}

#[test]
fn synchronize_rejects_invalid_handles() {
    let driver = driver();
    for number in [3, 0xdead_beef, u64::MAX] {
        assert_eq!(driver.synchronize_stream("wait", 0, number), Err(INVALID_HANDLE));
        assert_eq!(driver.synchronize_event("wait", number), Err(INVALID_HANDLE));
    }
    assert_eq!(driver.destroy_stream("destroy", 0, 0), Err(INVALID_HANDLE));
}

#[test]
fn delay_of_one_stream_overrides_delay_of_all_streams() {
    let driver = driver();
    let log = Log::default();
    driver.delay(0, Delay::of(LONG));
    let quick = stream(&driver);
    driver.delay(quick, Delay::of(0));
    let start = Instant::now();
    say(&driver, &log, quick, 1);
    driver.synchronize_stream("wait", 0, quick).unwrap();
    assert!(start.elapsed() < Duration::from_micros(LONG));
    say(&driver, &log, stream(&driver), 2);
    driver.synchronize_device(0).unwrap();
    assert!(start.elapsed() >= Duration::from_micros(LONG));
}

#[test]
fn asynchronous_error_is_returned_by_next_wait_and_later_calls() {
    let (driver, log) = (driver(), Log::default());
    let stream = stream(&driver);
    fail_next(Some(LAUNCH_FAILED));
    say(&driver, &log, stream, 1);
    assert_eq!(driver.synchronize_stream("wait", 0, stream), Err(LAUNCH_FAILED));
    assert_eq!(driver.synchronize_device(0), Err(LAUNCH_FAILED));
    assert_eq!(driver.synchronize_device(1), Ok(()));
    assert!(log.lock().unwrap().is_empty());
    driver.revive();
    assert_eq!(driver.synchronize_device(0), Ok(()));
}

#[test]
fn reset_of_driver_state_removes_injected_faults() {
    let driver = driver();
    driver.faults.arm(Fault::parse("call:1:2").unwrap());
    driver.revive();
    assert_eq!(driver.faults.count("call"), None);
}

#[test]
fn thousand_destroyed_streams_leave_no_live_object() {
    let (driver, log) = (driver(), Log::default());
    for number in 0..1000 {
        let stream = stream(&driver);
        say(&driver, &log, stream, number);
        driver.destroy_stream("destroy", 0, stream).unwrap();
    }
    assert_eq!(said(&driver, &log).len(), 1000);
    assert!(driver.live().contains(r#""streams": []"#));
}
