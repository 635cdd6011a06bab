//! Events.

use super::context::{Current, beside_captures};
use super::driver::Hip;
use super::errors::{NOT_READY, tolerated};
use super::streams::raw as raw_stream;
use super::sys::{
    hipEvent_t, hipEventBlockingSync as BLOCKING_SYNC, hipEventDisableTiming as DISABLE_TIMING,
    hipEventInterprocess as INTERPROCESS,
};
use crate::backend::{EventFlags, EventHandle, StreamHandle};
use crate::error::Result;

/// The runtime's handle.
pub fn raw(event: EventHandle) -> hipEvent_t {
    std::ptr::with_exposed_provenance_mut(event.0)
}

fn described(event: EventHandle) -> String {
    format!("event {:#x}", event.0)
}

/// An event.
pub fn create(hip: &Hip, device: i32, flags: EventFlags) -> Result<EventHandle> {
    let bits = if flags.blocking_sync { BLOCKING_SYNC } else { 0 }
        | if flags.timing { 0 } else { DISABLE_TIMING }
        | if flags.interprocess { INTERPROCESS } else { 0 };
    let mut event: hipEvent_t = std::ptr::null_mut();
    // SAFETY: the target is writable.
    let create = |on: &Current<'_>| unsafe { (on.api.hipEventCreateWithFlags)(&mut event, bits) };
    hip.call(device, "hipEventCreateWithFlags", create, || format!("{flags:?}"))?;
    Ok(EventHandle(event.expose_provenance()))
}

/// Ends an event.
///
/// # Safety
/// It is alive and not used again.
pub unsafe fn destroy(hip: &Hip, device: i32, event: EventHandle) -> Result<()> {
    // SAFETY: the caller's promise is the runtime's condition.
    hip.call(device, "hipEventDestroy", |on| unsafe { (on.api.hipEventDestroy)(raw(event)) }, || described(event))
}

/// Marks a point of a stream.
///
/// # Safety
/// Both are alive and of one device.
#[inline]
pub unsafe fn record(hip: &Hip, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
    hip.call(
        device,
        "hipEventRecord",
        // SAFETY: the caller's promise is the runtime's condition.
        |on| unsafe { (on.api.hipEventRecord)(raw(event), raw_stream(stream)) },
        || format!("{}, stream {:#x}", described(event), stream.0),
    )
}

/// Marks a point of all streams of a device: HIP has no such call, in no version.
///
/// # Safety
/// The event is alive and of the device.
pub unsafe fn record_device(hip: &Hip, device: i32, _: EventHandle) -> Result<bool> {
    hip.slot(device, "hipEventRecord").map(|_| false)
}

/// Whether the marked point was reached.
///
/// # Safety
/// It is alive.
pub unsafe fn query(hip: &Hip, device: i32, event: EventHandle) -> Result<bool> {
    let mut reached = true;
    let ask = |on: &Current<'_>| {
        // SAFETY: the caller's promise is the runtime's condition.
        let code = beside_captures(on.api, || unsafe { (on.api.hipEventQuery)(raw(event)) });
        reached = code != NOT_READY;
        tolerated(on.api, code, NOT_READY)
    };
    hip.call(device, "hipEventQuery", ask, || described(event))?;
    Ok(reached)
}

/// Waits for the marked point.
///
/// # Safety
/// It is alive.
pub unsafe fn synchronize(hip: &Hip, device: i32, event: EventHandle) -> Result<()> {
    let operation = "hipEventSynchronize";
    // SAFETY: the caller's promise is the runtime's condition.
    hip.call(
        device,
        operation,
        |on| beside_captures(on.api, || unsafe { (on.api.hipEventSynchronize)(raw(event)) }),
        || described(event),
    )
}

/// Milliseconds between two events.
///
/// # Safety
/// Both are alive.
pub unsafe fn elapsed(hip: &Hip, device: i32, start: EventHandle, end: EventHandle) -> Result<f32> {
    let mut milliseconds = 0.0;
    // SAFETY: the target is writable; both events are alive.
    let ask = |on: &Current<'_>| unsafe { (on.api.hipEventElapsedTime)(&mut milliseconds, raw(start), raw(end)) };
    hip.call(device, "hipEventElapsedTime", ask, || format!("from {} to {}", described(start), described(end)))?;
    Ok(milliseconds)
}
