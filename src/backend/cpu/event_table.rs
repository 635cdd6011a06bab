//! Stores the events of the CPU backend. An event is the time at which it was recorded.
//!
//! Events are entries of a table instead of pointers, so that using a destroyed handle is detected.

use std::collections::BTreeMap;
use std::time::Instant;

use super::error_codes::{CAPTURED_EVENT, INVALID_HANDLE, NOT_SUPPORTED, refuse};
use crate::{EventFlags, EventHandle};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

struct EventRecord {
    timing: bool,
    recorded: Option<Instant>,
    /// Id of the capture in which the event was last recorded. A captured event marks a point of a graph and has no
    /// time.
    capture: Option<u64>,
}

/// The point at which an event was last recorded: outside of captures, or in a capture.
pub enum EventMark {
    /// The event was never recorded.
    None,
    /// The event was recorded outside of captures. All work before the event is complete, because every operation of
    /// the CPU backend is complete when its call returns.
    Outside,
    /// The event was recorded in a capture, whose id the field contains.
    Captured(u64),
}

struct EventRecords {
    last: usize,
    events: BTreeMap<usize, EventRecord>,
}

static TABLE: ForkSafeMutex<EventRecords> = ForkSafeMutex::new(EventRecords { last: 0, events: BTreeMap::new() });

/// The table of the events that exist.
pub struct EventTable(());

impl EventTable {
    pub const fn new() -> Self {
        Self(())
    }

    pub fn create(&self, flags: EventFlags) -> Result<EventHandle> {
        if flags.interprocess {
            let detail = "an event of the CPU backend cannot be shared with other processes".to_owned();
            return Err(refuse("create_event", NOT_SUPPORTED, detail));
        }
        let mut table = self.lock();
        table.last += 1;
        let handle = table.last;
        table.events.insert(handle, EventRecord { timing: flags.timing, recorded: None, capture: None });
        Ok(EventHandle(handle))
    }

    pub fn destroy(&self, event: EventHandle) -> Result<()> {
        self.lock().events.remove(&event.0).map(|_| ()).ok_or_else(|| not_alive("destroy_event", event))
    }

    /// Destroys all events.
    pub fn clear(&self) {
        self.lock().events.clear();
    }

    /// Returns an error if an event was last recorded in a capture, because the host may not query a captured event.
    pub fn check(&self, operation: &'static str, event: EventHandle) -> Result<()> {
        match self.mark(operation, event)? {
            EventMark::Captured(_) => Err(refuse(operation, CAPTURED_EVENT, format!("event {}", event.0))),
            EventMark::None | EventMark::Outside => Ok(()),
        }
    }

    /// Returns the point at which an event was last recorded.
    #[inline]
    pub fn mark(&self, operation: &'static str, event: EventHandle) -> Result<EventMark> {
        let table = self.lock();
        let found = table.events.get(&event.0).ok_or_else(|| not_alive(operation, event))?;
        Ok(match (found.capture, found.recorded) {
            (Some(capture), _) => EventMark::Captured(capture),
            (None, Some(_)) => EventMark::Outside,
            (None, None) => EventMark::None,
        })
    }

    /// Records an event: stores the current time in it, or the id `capture` if the event is recorded during a capture.
    pub fn record(&self, operation: &'static str, event: EventHandle, capture: Option<u64>) -> Result<()> {
        let now = Instant::now();
        let mut table = self.lock();
        let found = table.events.get_mut(&event.0).ok_or_else(|| not_alive(operation, event))?;
        (found.recorded, found.capture) = (capture.is_none().then_some(now), capture);
        Ok(())
    }

    /// Returns the milliseconds between two events; negative if `end` was recorded first.
    pub fn elapsed(&self, start: EventHandle, end: EventHandle) -> Result<f32> {
        let table = self.lock();
        let (start, end) = (table.time(start)?, table.time(end)?);
        let seconds = match end.checked_duration_since(start) {
            Some(duration) => duration.as_secs_f64(),
            None => -start.duration_since(end).as_secs_f64(),
        };
        Ok((seconds * 1e3) as f32)
    }

    /// Locks the table of events. Every change is a single step, so a panic under the lock leaves the table consistent.
    fn lock(&self) -> ForkSafeGuard<EventRecords> {
        TABLE.lock()
    }
}

impl EventRecords {
    fn time(&self, event: EventHandle) -> Result<Instant> {
        let found = self.events.get(&event.0).ok_or_else(|| not_alive("elapsed", event))?;
        if found.capture.is_some() {
            return Err(refuse("elapsed", CAPTURED_EVENT, format!("event {}", event.0)));
        }
        if !found.timing {
            let detail = format!("event {} was made without timing", event.0);
            return Err(refuse("elapsed", INVALID_HANDLE, detail));
        }
        found.recorded.ok_or_else(|| {
            let detail = format!("event {} was never recorded", event.0);
            refuse("elapsed", INVALID_HANDLE, detail)
        })
    }
}

fn not_alive(operation: &'static str, event: EventHandle) -> Error {
    refuse(operation, INVALID_HANDLE, format!("event {} does not exist or was destroyed", event.0))
}
