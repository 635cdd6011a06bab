//! PyGPU functions that a stream calls.

use std::ffi::c_void;

use pygpu_backend::HostFunction;
use pygpu_base::error::Result;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_device::stream::Stream;

/// A value that a stream calls, on any thread.
pub(crate) trait HostCall: Send + Sync + 'static {
    /// Runs the call.
    fn run(&self);
}

/// Runs a call once, and drops it.
extern "C" fn run_once<C: HostCall>(data: *mut c_void) {
    catch_panic((), || {
        // SAFETY: `call_once` created it for this single call.
        let call = unsafe { Box::from_raw(data.cast::<C>()) };
        call.run();
    });
}

/// Runs a call at each launch of a graph, which owns it.
extern "C" fn run_each_launch<C: HostCall>(data: *mut c_void) {
    catch_panic((), || {
        // SAFETY: alive while the graph exists, and only shared.
        let call = unsafe { &*data.cast::<C>() };
        call.run();
    });
}

/// Enqueues a call on a stream.
///
/// # Safety
/// `function` may be called with `data` once the driver has accepted it.
unsafe fn enqueue(stream: &Stream, function: HostFunction, data: *mut c_void) -> Result<()> {
    let device = stream.device();
    // SAFETY: the stream is borrowed, and so alive; the caller guarantees the rest.
    unsafe { device.backend().call_host(device.index(), stream.handle(), function, data) }
}

/// Enqueues a call on a stream, and drops it after it has run.
///
/// # Errors
/// The driver's.
pub(crate) fn call_once<C: HostCall>(stream: &Stream, call: Box<C>) -> Result<()> {
    let data = Box::into_raw(call);
    // SAFETY: the function is called once, and takes ownership then.
    let result = unsafe { enqueue(stream, run_once::<C>, data.cast()) };
    if result.is_err() {
        // SAFETY: the driver rejected it, so no other owner exists.
        drop(unsafe { Box::from_raw(data) });
    }
    result
}

/// Records a call in the capture of a stream.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// The call stays at its address while the graph may be launched.
pub(crate) unsafe fn call_on_each_launch<C: HostCall>(stream: &Stream, call: &C) -> Result<()> {
    let data = std::ptr::from_ref(call).cast_mut().cast();
    // SAFETY: guaranteed by the caller.
    unsafe { enqueue(stream, run_each_launch::<C>, data) }
}
