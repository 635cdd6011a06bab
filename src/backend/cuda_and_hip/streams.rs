//! Creates streams of CUDA or HIP, waits for them, and queries them.

use std::ffi::{c_uint, c_void};

use super::current_context::CurrentDeviceGuard;
use super::devices::VendorDevices;
use super::driver::Driver;
use super::symbols::Raw;
use crate::error_codes::{NOT_READY, SUCCESS};
use crate::{EventHandle, HostFunction, StreamFlags, StreamHandle, Streams};
use pygpu_base::error::{Error, Result};

pub const NON_BLOCKING: c_uint = 1;

/// Highest handle with a special meaning: 1 and 2 denote the legacy and the per-thread default stream of the current
/// device.
const LAST_SPECIAL: usize = 2;

/// Vendor-specific part of streams, which CUDA and HIP implement differently.
pub trait VendorStreams: VendorDevices {
    /// Implements [`Streams::stream_device`] for a driver without a function that returns a stream's device. The stream
    /// is not a default stream.
    ///
    /// # Safety
    /// The stream is alive.
    unsafe fn device_by_context(_driver: &Driver<Self>, _stream: StreamHandle) -> Result<Option<i32>> {
        Ok(None)
    }
}

pub fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorStreams> Streams for Driver<V> {
    /// Creates a stream. The driver clamps the priority to the range that it supports.
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
        let mut stream = Raw::NONE;
        let bits = if flags.non_blocking { NON_BLOCKING } else { 0 };
        self.call(
            device,
            V::NAMES.stream_create,
            // SAFETY: the out-parameter is writable.
            |on| unsafe { (on.symbols.stream_create)(&mut stream, bits, flags.priority) },
            || format!("{flags:?}"),
        )?;
        Ok(StreamHandle(stream.number()))
    }

    unsafe fn destroy_stream(&self, device: i32, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.stream_destroy,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| unsafe { (on.symbols.stream_destroy)(Raw::of(stream.0)) },
            || described(stream),
        )
    }

    unsafe fn synchronize_stream(&self, device: i32, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.stream_synchronize,
            // SAFETY: the caller guarantees the conditions of the driver call.
            |on| self.beside_captures(|| unsafe { (on.symbols.stream_synchronize)(Raw::of(stream.0)) }),
            || described(stream),
        )
    }

    unsafe fn query_stream(&self, device: i32, stream: StreamHandle) -> Result<bool> {
        let mut done = true;
        let ask = |on: &CurrentDeviceGuard<'_, V>| {
            // SAFETY: the caller guarantees the conditions of the driver call.
            let code = self.beside_captures(|| unsafe { (on.symbols.stream_query)(Raw::of(stream.0)) });
            done = code != NOT_READY;
            self.tolerated(code, NOT_READY)
        };
        self.call(device, V::NAMES.stream_query, ask, || described(stream))?;
        Ok(done)
    }

    unsafe fn stream_flags(&self, device: i32, stream: StreamHandle) -> Result<StreamFlags> {
        let (mut bits, mut priority) = (0, 0);
        self.call(
            device,
            V::NAMES.stream_flags,
            // SAFETY: the caller guarantees that the stream is alive; the out-parameter is writable.
            |on| unsafe { (on.symbols.stream_flags)(Raw::of(stream.0), &mut bits) },
            || described(stream),
        )?;
        self.call(
            device,
            V::NAMES.stream_priority,
            // SAFETY: the caller guarantees that the stream is alive; the out-parameter is writable.
            |on| unsafe { (on.symbols.stream_priority)(Raw::of(stream.0), &mut priority) },
            || described(stream),
        )?;
        Ok(StreamFlags { non_blocking: bits & NON_BLOCKING != 0, priority })
    }

    #[inline]
    unsafe fn wait_event(&self, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.stream_wait_event,
            // SAFETY: the caller guarantees the conditions of the driver call; 0 is the only valid value of the flags.
            |on| unsafe { (on.symbols.stream_wait_event)(Raw::of(stream.0), Raw::of(event.0), 0) },
            || format!("{}, event {:#x}", described(stream), event.0),
        )
    }

    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>> {
        if stream.0 <= LAST_SPECIAL {
            return Ok(None);
        }
        let Some(ask) = self.symbols.stream_device else {
            // SAFETY: the caller guarantees the conditions of `device_by_context`.
            return unsafe { V::device_by_context(self, stream) };
        };
        let (operation, mut device) = (V::NAMES.stream_device, 0);
        // SAFETY: the caller guarantees the conditions of the driver call; the target is writable.
        self.call_anywhere(operation, |_| unsafe { ask(Raw::of(stream.0), &mut device) }, || described(stream))?;
        self.number(device, operation).map(Some)
    }

    unsafe fn call_host(
        &self,
        device: i32,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Result<()> {
        let operation = V::NAMES.host_call;
        let current = self.enter(device, operation)?;
        let Some(call) = current.symbols.host_call else {
            return Err(Error::not_supported(format!("the {} has no {operation}: it is too old", V::LIBRARY)));
        };
        // SAFETY: the caller guarantees the conditions of the driver call.
        match unsafe { call(Raw::of(stream.0), Some(function), data) } {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, operation, Some(device), described(stream))),
        }
    }
}
