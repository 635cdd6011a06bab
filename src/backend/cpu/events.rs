//! Implements events for the CPU backend: they store a time, or a point of a capture.

use super::driver::{Cpu, check_device};
use crate::{EventFlags, EventHandle, Events, StreamHandle};
use pygpu_base::error::Result;

impl Events for Cpu {
    fn create_event(&self, device: i32, flags: EventFlags) -> Result<EventHandle> {
        check_device("create_event", device)?;
        self.events.create(flags)
    }

    unsafe fn destroy_event(&self, _: i32, event: EventHandle) -> Result<()> {
        self.events.destroy(event)
    }

    unsafe fn record_event(&self, _: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
        let capture = if self.captures.is_any() { self.captures.next("record_event", stream)? } else { None };
        self.events.record("record_event", event, capture)
    }

    unsafe fn record_event_of_device(&self, _: i32, event: EventHandle) -> Result<bool> {
        self.captures.refuse_any("record_event_of_device")?;
        self.events.record("record_event_of_device", event, None)?;
        Ok(true)
    }

    unsafe fn query_event(&self, _: i32, event: EventHandle) -> Result<bool> {
        self.events.check("query_event", event)?;
        Ok(true)
    }

    unsafe fn synchronize_event(&self, _: i32, event: EventHandle) -> Result<()> {
        self.events.check("synchronize_event", event)
    }

    unsafe fn elapsed(&self, _: i32, start: EventHandle, end: EventHandle) -> Result<f32> {
        self.events.elapsed(start, end)
    }
}
