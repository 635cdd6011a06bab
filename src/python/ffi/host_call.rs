//! Functions of ours that a stream calls.

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

/// Called once, and ends what it is called with.
extern "C" fn run_once<C: HostCall>(data: *mut c_void) {
    catch_panic((), || {
        // SAFETY: `call_once` made it for this one call.
        let call = unsafe { Box::from_raw(data.cast::<C>()) };
        call.run();
    });
}

/// Called at each launch of a graph, which holds what it is called with.
extern "C" fn run_again<C: HostCall>(data: *mut c_void) {
    catch_panic((), || {
        // SAFETY: alive as long as the graph, and only shared.
        let call = unsafe { &*data.cast::<C>() };
        call.run();
    });
}

/// Puts a call on a stream.
///
/// # Safety
/// `function` may be called with `data` once the driver has it.
unsafe fn put(stream: &Stream, function: HostFunction, data: *mut c_void) -> Result<()> {
    let device = stream.device();
    // SAFETY: the stream is borrowed, and so alive; the rest is promised.
    unsafe { device.backend().call_host(device.index(), stream.handle(), function, data) }
}

/// Puts a call on a stream, which ends after it.
///
/// # Errors
/// The driver's.
pub(crate) fn call_once<C: HostCall>(stream: &Stream, call: Box<C>) -> Result<()> {
    let data = Box::into_raw(call);
    // SAFETY: the function is called once, and takes the call then.
    let result = unsafe { put(stream, run_once::<C>, data.cast()) };
    if result.is_err() {
        // SAFETY: nobody has taken it.
        drop(unsafe { Box::from_raw(data) });
    }
    result
}

/// Puts a call into the capture of a stream.
///
/// # Errors
/// The driver's.
///
/// # Safety
/// The call stays where it is as long as the graph may be launched.
pub(crate) unsafe fn call_again<C: HostCall>(stream: &Stream, call: &C) -> Result<()> {
    let data = std::ptr::from_ref(call).cast_mut().cast();
    // SAFETY: promised by the caller.
    unsafe { put(stream, run_again::<C>, data) }
}
