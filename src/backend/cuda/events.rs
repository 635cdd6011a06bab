//! Events.

use std::ffi::c_uint;

use super::context::{Current, beside_captures};
use super::driver::Cuda;
use super::errors::{NOT_READY, NOT_SUPPORTED, SUCCESS};
use super::streams::raw as raw_stream;
use super::sys::CUevent;
use crate::backend::{EventFlags, EventHandle, StreamHandle};
use crate::error::Result;

const BLOCKING_SYNC: c_uint = 1;
const DISABLE_TIMING: c_uint = 2;
const INTERPROCESS: c_uint = 4;

/// The driver's handle.
pub fn raw(event: EventHandle) -> CUevent {
    std::ptr::with_exposed_provenance_mut(event.0)
}

fn described(event: EventHandle) -> String {
    format!("event {:#x}", event.0)
}

/// An event.
pub fn create(cuda: &Cuda, device: i32, flags: EventFlags) -> Result<EventHandle> {
    let bits = if flags.blocking_sync { BLOCKING_SYNC } else { 0 }
        | if flags.timing { 0 } else { DISABLE_TIMING }
        | if flags.interprocess { INTERPROCESS } else { 0 };
    let mut event: CUevent = std::ptr::null_mut();
    // SAFETY: the target is writable.
    let create = |on: &Current<'_>| unsafe { (on.api.cuEventCreate)(&mut event, bits) };
    cuda.call(device, "cuEventCreate", create, || format!("{flags:?}"))?;
    Ok(EventHandle(event.expose_provenance()))
}

/// Ends an event.
///
/// # Safety
/// It is alive and not used again.
pub unsafe fn destroy(cuda: &Cuda, device: i32, event: EventHandle) -> Result<()> {
    // SAFETY: the caller's promise is the driver's condition.
    cuda.call(device, "cuEventDestroy", |on| unsafe { (on.api.cuEventDestroy_v2)(raw(event)) }, || described(event))
}

/// Marks a point of a stream.
///
/// # Safety
/// Both are alive and of one device.
#[inline]
pub unsafe fn record(cuda: &Cuda, device: i32, event: EventHandle, stream: StreamHandle) -> Result<()> {
    cuda.call(
        device,
        "cuEventRecord",
        // SAFETY: the caller's promise is the driver's condition.
        |on| unsafe { (on.api.cuEventRecord)(raw(event), raw_stream(stream)) },
        || format!("{}, stream {:#x}", described(event), stream.0),
    )
}

/// Marks a point of all streams of a device; `false` where the driver is too old for it or cannot.
///
/// # Safety
/// The event is alive and of the device.
pub unsafe fn record_device(cuda: &Cuda, device: i32, event: EventHandle) -> Result<bool> {
    let Some(record) = cuda.api.cuCtxRecordEvent else { return Ok(false) };
    let operation = "cuCtxRecordEvent";
    let context = cuda.context_of(device, operation)?;
    let mut recorded = true;
    let record = |_: &Current<'_>| {
        // SAFETY: a retained primary context; the event is alive and of the device.
        let code = unsafe { record(context, raw(event)) };
        recorded = code != NOT_SUPPORTED;
        if recorded { code } else { SUCCESS }
    };
    cuda.call(device, operation, record, || described(event))?;
    Ok(recorded)
}

/// Whether the marked point was reached.
///
/// # Safety
/// It is alive.
pub unsafe fn query(cuda: &Cuda, device: i32, event: EventHandle) -> Result<bool> {
    let mut reached = true;
    let ask = |on: &Current<'_>| {
        // SAFETY: the caller's promise is the driver's condition.
        let code = beside_captures(on.api, || unsafe { (on.api.cuEventQuery)(raw(event)) });
        reached = code != NOT_READY;
        if reached { code } else { SUCCESS }
    };
    cuda.call(device, "cuEventQuery", ask, || described(event))?;
    Ok(reached)
}

/// Waits for the marked point.
///
/// # Safety
/// It is alive.
pub unsafe fn synchronize(cuda: &Cuda, device: i32, event: EventHandle) -> Result<()> {
    let operation = "cuEventSynchronize";
    // SAFETY: the caller's promise is the driver's condition.
    cuda.call(
        device,
        operation,
        |on| beside_captures(on.api, || unsafe { (on.api.cuEventSynchronize)(raw(event)) }),
        || described(event),
    )
}

/// Milliseconds between two events.
///
/// # Safety
/// Both are alive.
pub unsafe fn elapsed(cuda: &Cuda, device: i32, start: EventHandle, end: EventHandle) -> Result<f32> {
    let mut milliseconds = 0.0;
    // SAFETY: the target is writable; both events are alive.
    let ask = |on: &Current<'_>| unsafe { (on.api.cuEventElapsedTime)(&mut milliseconds, raw(start), raw(end)) };
    cuda.call(device, "cuEventElapsedTime", ask, || format!("from {} to {}", described(start), described(end)))?;
    Ok(milliseconds)
}
