//! Streams.

use std::ffi::{c_uint, c_void};

use super::context::{Current, VendorContexts};
use super::driver::Driver;
use super::symbols::Raw;
use crate::codes::{NOT_READY, SUCCESS};
use crate::{EventHandle, HostFunction, StreamFlags, StreamHandle, Streams};
use pygpu_base::error::{Error, Result};

pub const NON_BLOCKING: c_uint = 1;

/// Handles 1 and 2 denote the legacy and the per-thread default stream of the current device.
const LAST_SPECIAL: usize = 2;

/// Vendor-specific part of streams.
pub trait VendorStreams: VendorContexts {
    /// Implements [`Streams::stream_device`], for streams other than default streams.
    ///
    /// # Safety
    /// It is alive.
    unsafe fn device_of(driver: &Driver<Self>, stream: StreamHandle) -> Result<Option<i32>>;
    /// Name of the function that calls a host function.
    const HOST_CALL: &'static str;
    /// Calls a host function in stream order. A returned number is the driver's code; `None` means that the driver
    /// has no such call.
    ///
    /// # Safety
    /// See [`Streams::call_host`].
    unsafe fn host_call(
        driver: &Driver<Self>,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Option<u32>;
}

pub fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorStreams> Streams for Driver<V> {
    /// The driver clamps the priority to its range.
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
            // SAFETY: see above.
            |on| unsafe { (on.symbols.stream_destroy)(Raw::of(stream.0)) },
            || described(stream),
        )
    }

    unsafe fn synchronize_stream(&self, device: i32, stream: StreamHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.stream_synchronize,
            // SAFETY: see above.
            |on| self.beside_captures(|| unsafe { (on.symbols.stream_synchronize)(Raw::of(stream.0)) }),
            || described(stream),
        )
    }

    unsafe fn query_stream(&self, device: i32, stream: StreamHandle) -> Result<bool> {
        let mut done = true;
        let ask = |on: &Current<'_, V>| {
            // SAFETY: see above.
            let code = self.beside_captures(|| unsafe { (on.symbols.stream_query)(Raw::of(stream.0)) });
            done = code != NOT_READY;
            self.tolerated(code, NOT_READY)
        };
        self.call(device, V::NAMES.stream_query, ask, || described(stream))?;
        Ok(done)
    }

    #[inline]
    unsafe fn wait_event(&self, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
        self.call(
            device,
            V::NAMES.stream_wait_event,
            // SAFETY: see above; 0 is the only valid value of the flags.
            |on| unsafe { (on.symbols.stream_wait_event)(Raw::of(stream.0), Raw::of(event.0), 0) },
            || format!("{}, event {:#x}", described(stream), event.0),
        )
    }

    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>> {
        if stream.0 <= LAST_SPECIAL {
            return Ok(None);
        }
        // SAFETY: the caller guarantees the conditions of the called function.
        unsafe { V::device_of(self, stream) }
    }

    unsafe fn call_host(
        &self,
        device: i32,
        stream: StreamHandle,
        function: HostFunction,
        data: *mut c_void,
    ) -> Result<()> {
        let mut is_there = true;
        let call = |_: &Current<'_, V>| {
            // SAFETY: see above.
            let code = unsafe { V::host_call(self, stream, function, data) };
            is_there = code.is_some();
            code.unwrap_or(SUCCESS)
        };
        self.call(device, V::HOST_CALL, call, || described(stream))?;
        if is_there {
            return Ok(());
        }
        Err(Error::not_supported(format!("the {} has no {}: it is too old", V::LIBRARY, V::HOST_CALL)))
    }
}
