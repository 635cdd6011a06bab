//! Implements streams for the CPU backend. A stream is an identity that can take part in captures.

use std::ffi::c_void;
use std::sync::atomic::Ordering;

use super::captures::{is_blocking, stream_handle};
use super::device_numbers::{self, MOST};
use super::driver::{Cpu, FIRST_STREAM, check_device};
use super::event_table::EventMark;
use crate::{EventHandle, HostFunction, StreamFlags, StreamHandle, Streams};
use pygpu_base::error::Result;

impl Streams for Cpu {
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
        check_device("create_stream", device)?;
        // A stream's number encodes its device: the remainder modulo `MOST`, the maximum number of devices.
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed) * MOST as usize + device as usize;
        Ok(stream_handle(number, flags.non_blocking))
    }

    unsafe fn destroy_stream(&self, _: i32, stream: StreamHandle) -> Result<()> {
        self.captures.forget(stream);
        Ok(())
    }

    unsafe fn synchronize_stream(&self, _: i32, stream: StreamHandle) -> Result<()> {
        self.captures.refuse("synchronize_stream", stream)
    }

    unsafe fn query_stream(&self, _: i32, stream: StreamHandle) -> Result<bool> {
        self.captures.refuse("query_stream", stream)?;
        Ok(true)
    }

    unsafe fn stream_flags(&self, _: i32, stream: StreamHandle) -> Result<StreamFlags> {
        Ok(StreamFlags { non_blocking: stream.0 >= FIRST_STREAM && !is_blocking(stream), priority: 0 })
    }

    unsafe fn wait_event(&self, _: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
        match self.events.mark("wait_event", event)? {
            EventMark::None => Ok(()),
            EventMark::Outside => self.captures.refuse_outside("wait_event", stream),
            EventMark::Captured(capture) => self.captures.join("wait_event", stream, capture),
        }
    }

    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>> {
        if stream.0 < FIRST_STREAM {
            // A low number denotes a default stream, which belongs to the current device.
            return Ok(Some(device_numbers::current()));
        }
        Ok(Some((stream.0 / 2 % MOST as usize) as i32))
    }

    unsafe fn call_host(&self, _: i32, stream: StreamHandle, function: HostFunction, data: *mut c_void) -> Result<()> {
        // The data pointer of the host function is stored as an integer, because any thread may launch the graph, and
        // Rust does not allow sending a raw pointer to another thread.
        let data = data.expose_provenance();
        self.run("call_host", stream, move || {
            function(std::ptr::with_exposed_provenance_mut(data));
            Ok(())
        })
    }
}
