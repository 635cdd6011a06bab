//! Tests captures of the CPU backend. Each test has its own backend, because during a capture some calls are rejected
//! for the whole device.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use super::super::driver::Cpu;
use super::super::error_codes::{
    CAPTURE_IMPLICIT, CAPTURE_INVALIDATED, CAPTURE_ISOLATION, CAPTURE_MERGE, CAPTURE_UNMATCHED, CAPTURE_UNSUPPORTED,
    CAPTURED_EVENT, ILLEGAL_STATE,
};
use super::{CaptureRegistry, Captures};
use crate::*;
use pygpu_base::error::Result;
use pygpu_base::fork_safe::ForkSafeMutex;

const FLAGS: EventFlags = EventFlags { timing: false, blocking_sync: false, interprocess: false };

fn host() -> Cpu {
    Cpu::new(Captures::new(Box::leak(Box::new(ForkSafeMutex::new(CaptureRegistry::new())))))
}

fn stream(cpu: &Cpu) -> StreamHandle {
    cpu.create_stream(0, StreamFlags { non_blocking: true, priority: 0 }).unwrap()
}

fn code<T>(result: Result<T>) -> u32 {
    result.err().unwrap().code().unwrap()
}

fn begin(cpu: &Cpu, stream: StreamHandle) {
    // SAFETY: no test destroys a stream.
    unsafe { cpu.begin_capture(0, stream, CaptureMode::Relaxed).unwrap() };
}

/// Fills one byte: immediately, or at each launch of the graph if the stream captures.
fn fill(cpu: &Cpu, byte: &mut u8, value: u8, stream: StreamHandle) -> Result<()> {
    // SAFETY: the stream is alive; each test launches its capture while the byte exists.
    unsafe { cpu.fill(0, std::ptr::from_mut(byte).expose_provenance(), 1, Pattern::U8(value), 1, 1, stream) }
}

#[test]
fn captured_work_runs_in_order_at_each_launch_only() {
    let (cpu, mut byte, mut copied) = (host(), 0u8, 0u8);
    let (one, other) = (stream(&cpu), stream(&cpu));
    let mark = cpu.create_event(0, FLAGS).unwrap();
    begin(&cpu, one);
    // SAFETY: streams, event and bytes exist until the end of the test; the backend rejects destroyed handles, which
    // are only numbers.
    unsafe {
        fill(&cpu, &mut byte, 7, one).unwrap();
        cpu.record_event(0, mark, one).unwrap();
        cpu.wait_event(0, other, mark).unwrap();
        assert_eq!(cpu.capture_of(0, other).unwrap(), cpu.capture_of(0, one).unwrap());
        let (to, from) = ((&raw mut copied).expose_provenance(), (&raw const byte).expose_provenance());
        cpu.copy(0, Direction::DeviceToDevice, to, from, 1, other).unwrap();
        assert_eq!(code(cpu.end_capture(0, other)), CAPTURE_UNMATCHED);
        assert_eq!(code(cpu.end_capture(0, one)), CAPTURE_INVALIDATED);
        assert_eq!(code(cpu.end_capture(0, one)), ILLEGAL_STATE);

        begin(&cpu, one);
        fill(&cpu, &mut byte, 8, one).unwrap();
        cpu.record_event(0, mark, one).unwrap();
        cpu.wait_event(0, other, mark).unwrap();
        cpu.copy(0, Direction::DeviceToDevice, to, from, 1, other).unwrap();
        let graph = cpu.end_capture(0, one).unwrap();
        assert_eq!(cpu.capture_of(0, other).unwrap(), None);
        assert_eq!((byte, copied, cpu.node_count(0, graph).unwrap()), (0, 0, 2));
        let executable = cpu.instantiate(0, graph).unwrap();
        cpu.destroy_graph(0, graph).unwrap();
        for _ in 0..2 {
            (byte, copied) = (0, 0);
            cpu.launch_graph(0, executable, one).unwrap();
            assert_eq!((byte, copied), (8, 8));
        }
        cpu.destroy_executable(0, executable).unwrap();
        assert!(cpu.launch_graph(0, executable, one).is_err());
    }
}

#[test]
fn forbidden_calls_are_rejected_and_invalidate_the_capture() {
    type Call = fn(&Cpu, StreamHandle) -> Result<()>;
    let refusals: [(u32, Call); 7] = [
        // SAFETY: no test destroys a stream or an event.
        (CAPTURE_UNSUPPORTED, |cpu, stream| unsafe { cpu.synchronize_stream(0, stream) }),
        // SAFETY: no test destroys a stream or an event.
        (CAPTURE_UNSUPPORTED, |cpu, stream| unsafe { cpu.query_stream(0, stream).map(drop) }),
        (CAPTURE_UNSUPPORTED, |cpu, _| cpu.synchronize_device(0)),
        // SAFETY: no test destroys a stream or an event.
        (CAPTURE_UNSUPPORTED, |cpu, _| unsafe {
            cpu.record_event_of_device(0, cpu.create_event(0, FLAGS).unwrap()).map(drop)
        }),
        // SAFETY: no test destroys a stream or an event.
        (CAPTURE_ISOLATION, |cpu, stream| unsafe {
            let event = cpu.create_event(0, FLAGS).unwrap();
            cpu.record_event(0, event, self::stream(cpu)).unwrap();
            cpu.wait_event(0, stream, event)
        }),
        // SAFETY: no test destroys a stream or an event.
        (CAPTURE_MERGE, |cpu, stream| unsafe {
            let (event, other) = (cpu.create_event(0, FLAGS).unwrap(), self::stream(cpu));
            begin(cpu, other);
            cpu.record_event(0, event, other).unwrap();
            cpu.wait_event(0, stream, event)
        }),
        // SAFETY: no test destroys a stream or an event.
        (ILLEGAL_STATE, |cpu, stream| unsafe { cpu.begin_capture(0, stream, CaptureMode::Relaxed) }),
    ];
    for (expected, call) in refusals {
        let cpu = host();
        let stream = stream(&cpu);
        begin(&cpu, stream);
        assert_eq!(code(call(&cpu, stream)), expected);
        // SAFETY: the stream is alive.
        let ended = unsafe { cpu.end_capture(0, stream) };
        match expected {
            ILLEGAL_STATE => assert!(ended.is_ok()),
            _ => assert_eq!(code(ended), CAPTURE_INVALIDATED),
        }
    }
}

#[test]
fn default_stream_is_not_captured() {
    let (cpu, mut byte) = (host(), 0u8);
    // SAFETY: the default stream always exists.
    assert_eq!(code(unsafe { cpu.begin_capture(0, StreamHandle::DEFAULT, CaptureMode::Relaxed) }), CAPTURE_UNSUPPORTED);
    let beside = stream(&cpu);
    begin(&cpu, beside);
    fill(&cpu, &mut byte, 3, StreamHandle::DEFAULT).unwrap();
    assert_eq!(byte, 3);
    // SAFETY: the stream is alive.
    assert!(unsafe { cpu.end_capture(0, beside) }.is_ok());

    let blocking = cpu.create_stream(0, StreamFlags::default()).unwrap();
    begin(&cpu, blocking);
    assert_eq!(code(fill(&cpu, &mut byte, 4, StreamHandle::DEFAULT)), CAPTURE_IMPLICIT);
    // SAFETY: the stream is alive.
    assert_eq!((byte, code(unsafe { cpu.end_capture(0, blocking) })), (3, CAPTURE_INVALIDATED));
}

#[test]
fn captured_event_cannot_be_queried_by_host() {
    let cpu = host();
    let (stream, event) = (stream(&cpu), cpu.create_event(0, FLAGS).unwrap());
    begin(&cpu, stream);
    // SAFETY: the stream and the event are alive.
    unsafe {
        cpu.record_event(0, event, stream).unwrap();
        assert_eq!(code(cpu.query_event(0, event)), CAPTURED_EVENT);
        assert_eq!(code(cpu.synchronize_event(0, event)), CAPTURED_EVENT);
        assert_eq!(code(cpu.elapsed(0, event, event)), CAPTURED_EVENT);
        cpu.end_capture(0, stream).unwrap();
        cpu.record_event(0, event, stream).unwrap();
        assert!(cpu.query_event(0, event).unwrap());
    }
}
