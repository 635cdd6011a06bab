//! Streams.

use std::ffi::c_uint;

use super::context::{Current, beside_captures};
use super::driver::Cuda;
use super::errors::{NOT_READY, SUCCESS};
use super::events::raw as raw_event;
use super::sys::{Api, CUcontext, CUdevice, CUstream};
use crate::backend::{EventHandle, StreamFlags, StreamHandle};
use crate::error::Result;

const NON_BLOCKING: c_uint = 1;

/// 1 and 2 are the driver's own names for the legacy and for the per-thread default stream of whatever device is current.
const LAST_SPECIAL: usize = 2;

/// The driver's handle.
pub fn raw(stream: StreamHandle) -> CUstream {
    std::ptr::with_exposed_provenance_mut(stream.0)
}

fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}

/// A stream; the driver brings the priority into its range.
pub fn create(cuda: &Cuda, device: i32, flags: StreamFlags) -> Result<StreamHandle> {
    let mut stream: CUstream = std::ptr::null_mut();
    let bits = if flags.non_blocking { NON_BLOCKING } else { 0 };
    cuda.call(
        device,
        "cuStreamCreateWithPriority",
        // SAFETY: the target is writable.
        |on| unsafe { (on.api.cuStreamCreateWithPriority)(&mut stream, bits, flags.priority) },
        || format!("{flags:?}"),
    )?;
    Ok(StreamHandle(stream.expose_provenance()))
}

/// Ends a stream.
///
/// # Safety
/// It is alive and not used again.
pub unsafe fn destroy(cuda: &Cuda, device: i32, stream: StreamHandle) -> Result<()> {
    // SAFETY: the caller's promise is the driver's condition.
    cuda.call(device, "cuStreamDestroy", |on| unsafe { (on.api.cuStreamDestroy_v2)(raw(stream)) }, || described(stream))
}

/// Waits for a stream.
///
/// # Safety
/// It is alive.
pub unsafe fn synchronize(cuda: &Cuda, device: i32, stream: StreamHandle) -> Result<()> {
    let operation = "cuStreamSynchronize";
    // SAFETY: the caller's promise is the driver's condition.
    cuda.call(
        device,
        operation,
        |on| beside_captures(on.api, || unsafe { (on.api.cuStreamSynchronize)(raw(stream)) }),
        || described(stream),
    )
}

/// Whether a stream is done.
///
/// # Safety
/// It is alive.
pub unsafe fn query(cuda: &Cuda, device: i32, stream: StreamHandle) -> Result<bool> {
    let mut done = true;
    let ask = |on: &Current<'_>| {
        // SAFETY: the caller's promise is the driver's condition.
        let code = beside_captures(on.api, || unsafe { (on.api.cuStreamQuery)(raw(stream)) });
        done = code != NOT_READY;
        if done { code } else { SUCCESS }
    };
    cuda.call(device, "cuStreamQuery", ask, || described(stream))?;
    Ok(done)
}

/// Lets a stream wait for an event.
///
/// # Safety
/// Both are alive.
#[inline]
pub unsafe fn wait(cuda: &Cuda, device: i32, stream: StreamHandle, event: EventHandle) -> Result<()> {
    cuda.call(
        device,
        "cuStreamWaitEvent",
        // SAFETY: the caller's promise is the driver's condition; the only flags are 0.
        |on| unsafe { (on.api.cuStreamWaitEvent)(raw(stream), raw_event(event), 0) },
        || format!("{}, event {:#x}", described(stream), event.0),
    )
}

/// The device of a stream; `None` for the default streams, which belong to whatever device is current.
///
/// # Safety
/// It is alive.
pub unsafe fn device(cuda: &Cuda, stream: StreamHandle) -> Result<Option<i32>> {
    if stream.0 <= LAST_SPECIAL {
        return Ok(None);
    }
    if let Some(get_device) = cuda.api.cuStreamGetDevice {
        let operation = "cuStreamGetDevice";
        let mut handle: CUdevice = 0;
        // SAFETY: the target is writable and the stream alive.
        cuda.call_anywhere(operation, |_| unsafe { get_device(raw(stream), &mut handle) }, || described(stream))?;
        return cuda.number(handle, operation).map(Some);
    }
    let Some(get_context) = cuda.api.cuStreamGetCtx else { return Ok(None) };
    let mut context: CUcontext = std::ptr::null_mut();
    let ask = |_: &Api| {
        // SAFETY: the target is writable and the stream alive.
        unsafe { get_context(raw(stream), &mut context) }
    };
    cuda.call_anywhere("cuStreamGetCtx", ask, || described(stream))?;
    match cuda.owner(context) {
        Some(device) => Ok(Some(device)),
        None => cuda.device_of_other(context).map(Some),
    }
}
