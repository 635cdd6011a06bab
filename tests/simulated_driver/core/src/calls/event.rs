//! Implements the calls for events: points of streams that the host and other streams can wait for.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use crate::driver::Driver;
use crate::error_codes::{CAPTURE_ISOLATION, CAPTURED_EVENT, INVALID_HANDLE, INVALID_VALUE, NOT_READY, Outcome};
use crate::handles::Reused;
use crate::state::{Point, State};
use crate::vector_clock::Clock;
use crate::worker::Then;

/// Describes one recording of an event. A wait refers to the recording that is current when the wait is submitted;
/// later recordings do not affect the wait.
#[derive(Default)]
pub(crate) struct Record {
    points: Vec<Point>,
    clock: Clock,
    pub(crate) time: OnceLock<Instant>,
}

pub(crate) struct Event {
    pub(crate) device: usize,
    timing: bool,
    record: Option<Arc<Record>>,
    /// Capture during which the event was last recorded.
    capture: Option<u64>,
}

impl Event {
    fn refuse_captured(&self) -> Outcome<()> {
        if self.capture.is_some() { Err(CAPTURED_EVENT) } else { Ok(()) }
    }
}

impl State {
    pub(crate) fn event(&mut self, call: &'static str, handle: u64) -> Outcome<&mut Event> {
        if !self.events.contains_key(&handle) {
            return self.bad_handle(call, "event", handle);
        }
        self.events.get_mut(&handle).ok_or(INVALID_HANDLE)
    }

    /// Destroys all events of a device.
    pub(crate) fn end_events(&mut self, device: usize) {
        let ended = self.events.extract_if(|_, event| event.device == device).map(|(handle, _)| handle);
        ended.for_each(|handle| self.handles.give(Reused::Event, handle));
    }

    fn is_over(&self, record: &Record) -> bool {
        record.points.iter().all(|&point| self.has_passed(point))
    }
}

impl Driver {
    /// Creates an event.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_event(&self, device: usize, timing: bool) -> Outcome<u64> {
        let mut state = self.lock();
        let handle = state.handles.take_again(Reused::Event);
        state.events.insert(handle, Event { device, timing, record: None, capture: None });
        Ok(handle)
    }

    /// Creates a second event that marks the same point as an existing event, and returns the handle of the new event.
    pub(crate) fn twin_of_event(&self, handle: u64) -> Option<u64> {
        let mut state = self.lock();
        let event = state.events.get(&handle)?;
        let twin = Event { device: event.device, timing: false, record: event.record.clone(), capture: None };
        let handle = state.handles.take_again(Reused::Event);
        state.events.insert(handle, twin);
        Some(handle)
    }

    /// Destroys an event. Streams that already wait for the event continue to wait.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn destroy_event(&self, call: &'static str, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.event(call, handle)?;
        state.events.remove(&handle);
        state.handles.give(Reused::Event, handle);
        Ok(())
    }

    /// Records the current end of a stream in an event. The stream must belong to the event's device.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn record_event(&self, call: &'static str, device: usize, handle: u64, stream: u64) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        let device = state.event(call, handle)?.device;
        if state.streams.get(&stream).is_none_or(|stream| stream.device != device) {
            return Err(INVALID_HANDLE);
        }
        if let Some(capture) = state.capture_of(stream)? {
            let event = state.event(call, handle)?;
            (event.record, event.capture) = (None, Some(capture));
            return Ok(());
        }
        let waits_for = state.order(stream);
        let target = state.streams.get(&stream).ok_or(INVALID_HANDLE)?;
        let number = target.submitted + 1;
        let mut clock = target.clock.clone();
        clock.raise(stream, number);
        let record = Arc::new(Record { points: vec![(stream, number)], clock, time: OnceLock::new() });
        state.push(stream, waits_for, None, Then::Stamp(record.clone()))?;
        let event = state.event(call, handle)?;
        (event.record, event.capture) = (Some(record), None);
        Ok(())
    }

    /// Records the current ends of all streams of a device in an event of that device.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn record_event_of_device(&self, call: &'static str, device: usize, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        if state.event(call, handle)?.device != device {
            return Err(INVALID_HANDLE);
        }
        state.refuse_while_capturing(device)?;
        let (points, clock) = state.frontier(|_, stream| stream.device == device);
        let time = OnceLock::from(Instant::now());
        state.event(call, handle)?.record = Some(Arc::new(Record { points, clock, time }));
        Ok(())
    }

    /// Queries whether the streams have passed the points that an event recorded. An event that was never recorded
    /// counts as passed.
    ///
    /// # Errors
    /// `NOT_READY`, or another error code.
    pub fn query_event(&self, call: &'static str, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let event = state.event(call, handle)?;
        event.refuse_captured()?;
        let device = event.device;
        if let Some(record) = event.record.clone() {
            if !state.is_over(&record) {
                return Err(NOT_READY);
            }
            state.learn(&record.clock);
        }
        state.check(device)
    }

    /// Blocks the calling thread until the streams have passed the points that an event recorded.
    ///
    /// # Errors
    /// The error code of this call, or of earlier work that failed.
    pub fn synchronize_event(&self, call: &'static str, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let event = state.event(call, handle)?;
        event.refuse_captured()?;
        let device = event.device;
        if let Some(record) = event.record.clone() {
            state = self.shared.wait_for(state, &record.points, &record.clock);
        }
        state.settle_pools(device);
        state.check(device)
    }

    /// Makes a stream wait for the points that an event recorded.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn wait_event(&self, call: &'static str, device: usize, stream: u64, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        let stream = state.resolve(call, device, stream)?;
        if let Some(capture) = state.event(call, handle)?.capture {
            return state.join_capture(stream, capture);
        }
        let Some(record) = state.event(call, handle)?.record.clone() else { return Ok(()) };
        if let Some(capture) = state.capture_of(stream)? {
            return state.invalidate(capture, CAPTURE_ISOLATION);
        }
        let mut waits_for = state.order(stream);
        waits_for.extend(record.points.iter().copied());
        // The stream itself is excluded, because a stream that waited for its own end would never continue.
        waits_for.retain(|point| point.0 != stream);
        state.streams.get_mut(&stream).ok_or(INVALID_HANDLE)?.clock.join(&record.clock);
        state.push(stream, waits_for, None, Then::Nothing).map(drop)
    }

    /// Returns the milliseconds between the recordings of two events.
    ///
    /// # Errors
    /// `NOT_READY`, or another error code.
    pub fn elapsed(&self, call: &'static str, start: u64, end: u64) -> Outcome<f32> {
        let mut state = self.lock();
        let mut times = Vec::new();
        let mut devices = Vec::new();
        for handle in [start, end] {
            let event = state.event(call, handle)?;
            let (timing, device, record) = (event.timing, event.device, event.record.clone());
            let Some(record) = record.filter(|_| timing) else { return Err(INVALID_HANDLE) };
            devices.push(device);
            times.push(record);
        }
        if devices[0] != devices[1] {
            return Err(INVALID_HANDLE);
        }
        if !times.iter().all(|record| state.is_over(record)) {
            return Err(NOT_READY);
        }
        let at = |record: &Arc<Record>| record.time.get().copied().ok_or(INVALID_VALUE);
        let (start, end) = (at(&times[0])?, at(&times[1])?);
        let forward = end.saturating_duration_since(start).as_secs_f64();
        let backward = start.saturating_duration_since(end).as_secs_f64();
        Ok(((forward - backward) * 1e3) as f32)
    }
}
