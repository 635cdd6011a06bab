//! Streams.

use super::context::{Current, beside_captures};
use super::driver::Hip;
use super::errors::{NOT_READY, tolerated};
use super::events::raw as raw_event;
use super::sys::{hipDevice_t, hipStream_t, hipStreamNonBlocking as NON_BLOCKING};
use crate::backend::{EventHandle, StreamFlags, StreamHandle};
use crate::error::Result;

/// 1 and 2 are the runtime's own names for the legacy and for the per-thread default stream of whatever device is current.
const LAST_SPECIAL: usize = 2;

/// The runtime's handle.
pub fn raw(stream: StreamHandle) -> hipStream_t {
    std::ptr::with_exposed_provenance_mut(stream.0)
}

fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}

/// A stream; the runtime brings the priority into its range.
pub fn create(hip: &Hip, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
    let mut stream: hipStream_t = std::ptr::null_mut();
    let bits = if flags.non_blocking { NON_BLOCKING } else { 0 };
    hip.call(
        device,
        "hipStreamCreateWithPriority",
        // SAFETY: the target is writable.
        |on| unsafe { (on.api.hipStreamCreateWithPriority)(&mut stream, bits, flags.priority) },
        || format!("{flags:?}"),
    )?;
    Ok(StreamHandle(stream.expose_provenance()))
}

/// Ends a stream.
///
/// # Safety
/// It is alive and not used again.
pub unsafe fn destroy(hip: &Hip, device: i32, stream: StreamHandle) -> Result<()> {
    // SAFETY: the caller's promise is the runtime's condition.
    hip.call(device, "hipStreamDestroy", |on| unsafe { (on.api.hipStreamDestroy)(raw(stream)) }, || described(stream))
}

/// Waits for a stream.
///
/// # Safety
/// It is alive.
pub unsafe fn synchronize(hip: &Hip, device: i32, stream: StreamHandle) -> Result<()> {
    let operation = "hipStreamSynchronize";
    // SAFETY: the caller's promise is the runtime's condition.
    hip.call(
        device,
        operation,
        |on| beside_captures(on.api, || unsafe { (on.api.hipStreamSynchronize)(raw(stream)) }),
        || described(stream),
    )
}

/// Whether a stream is done.
///
/// # Safety
/// It is alive.
pub unsafe fn query(hip: &Hip, device: i32, stream: StreamHandle) -> Result<bool> {
    let mut done = true;
    let ask = |on: &Current<'_>| {
        // SAFETY: the caller's promise is the runtime's condition.
        let code = beside_captures(on.api, || unsafe { (on.api.hipStreamQuery)(raw(stream)) });
        done = code != NOT_READY;
        tolerated(on.api, code, NOT_READY)
    };
    hip.call(device, "hipStreamQuery", ask, || described(stream))?;
    Ok(done)
}

/// Lets a stream wait for an event.
///
/// # Safety
/// Both are alive.
#[inline]
pub unsafe fn wait(hip: &Hip, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
    hip.call(
        device,
        "hipStreamWaitEvent",
        // SAFETY: the caller's promise is the runtime's condition; the only flags are 0.
        |on| unsafe { (on.api.hipStreamWaitEvent)(raw(stream), raw_event(event), 0) },
        || format!("{}, event {:#x}", described(stream), event.0),
    )
}

/// The device of a stream; `None` for the default streams, which belong to whatever device is current, and where the runtime
/// is too old to say.
///
/// # Safety
/// It is alive.
pub unsafe fn device(hip: &Hip, stream: StreamHandle) -> Result<Option<i32>> {
    let Some(get_device) = hip.api.hipStreamGetDevice.filter(|_| stream.0 > LAST_SPECIAL) else { return Ok(None) };
    let operation = "hipStreamGetDevice";
    let mut device: hipDevice_t = 0;
    // SAFETY: the target is writable and the stream alive.
    hip.call_anywhere(operation, |_| unsafe { get_device(raw(stream), &mut device) }, || described(stream))?;
    hip.number(device, operation).map(Some)
}
