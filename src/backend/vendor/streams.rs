//! Streams.

use std::ffi::{c_uint, c_void};

use super::context::{Current, VendorContexts};
use super::driver::Driver;
use super::symbols::Raw;
use crate::codes::{NOT_READY, SUCCESS};
use crate::{EventHandle, HostFunction, StreamFlags, StreamHandle, Streams};
use pygpu_base::error::{Error, Result};

pub const NON_BLOCKING: c_uint = 1;

/// 1 and 2 are the driver's own names for the legacy and for the per-thread default stream of whatever device is current.
const LAST_SPECIAL: usize = 2;

/// What a vendor says of streams for itself.
pub trait VendorStreams: VendorContexts {
    /// As [`Streams::stream_device`], for a stream that is no default stream.
    ///
    /// # Safety
    /// It is alive.
    unsafe fn device_of(driver: &Driver<Self>, stream: StreamHandle) -> Result<Option<i32>>;
    /// The name of the function that calls one of the host.
    const HOST_CALL: &'static str;
    /// Calls a function of the host in the order of a stream; a number is the driver's code, and `None` stands for a driver without
    /// such a call.
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

// The caller's promise is, each time, the driver's condition.
impl<V: VendorStreams> Streams for Driver<V> {
    /// The driver brings the priority into its range.
    fn create_stream(&self, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
        let mut stream = Raw::NONE;
        let bits = if flags.non_blocking { NON_BLOCKING } else { 0 };
        self.call(
            device,
            V::NAMES.stream_create,
            // SAFETY: the target is writable.
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
            // SAFETY: see above; the only flags are 0.
            |on| unsafe { (on.symbols.stream_wait_event)(Raw::of(stream.0), Raw::of(event.0), 0) },
            || format!("{}, event {:#x}", described(stream), event.0),
        )
    }

    unsafe fn stream_device(&self, stream: StreamHandle) -> Result<Option<i32>> {
        if stream.0 <= LAST_SPECIAL {
            return Ok(None);
        }
        // SAFETY: the caller's promise is the same.
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
