//! Enqueues host functions, i.e. Rust functions of PyGPU that a stream calls on a thread of the host.

use std::ffi::c_void;

use pygpu_backend::HostFunction;
use pygpu_base::error::Result;
use pygpu_base::ffi_guard::catch_panic;
use pygpu_device::stream::Stream;

/// A host function with its data. A stream calls the method `run`, on any thread.
pub(crate) trait HostCall: Send + Sync + 'static {
    /// Does the work of the host function. The stream calls `run` after its earlier work is complete.
    fn run(&self);
}

/// Executes a [`HostCall`] once, and then drops the [`HostCall`].
extern "C" fn run_once<C: HostCall>(data: *mut c_void) {
    catch_panic((), || {
        // SAFETY: `data` is the address of a box that `call_once` leaked for this single call, so the box has no other
        // owner.
        let call = unsafe { Box::from_raw(data.cast::<C>()) };
        call.run();
    });
}

/// Executes a [`HostCall`] at each launch of a graph. The [`HostCall`] is not dropped afterwards, because the graph
/// owns it.
extern "C" fn run_each_launch<C: HostCall>(data: *mut c_void) {
    catch_panic((), || {
        // SAFETY: the graph, which owns the [`HostCall`], keeps it alive during the launch, and the function only reads
        // it.
        let call = unsafe { &*data.cast::<C>() };
        call.run();
    });
}

/// Enqueues a C function on a stream.
///
/// # Safety
/// The caller guarantees that `function` may be called with `data` at any time after the driver has accepted it.
unsafe fn enqueue(stream: &Stream, function: HostFunction, data: *mut c_void) -> Result<()> {
    let device = stream.device();
    // SAFETY: the stream is borrowed and therefore alive; the caller guarantees that `function` may be called with
    // `data` at any later time.
    unsafe { device.backend().call_host(device.index(), stream.handle(), function, data) }
}

/// Enqueues a [`HostCall`] on a stream. The stream executes the [`HostCall`] once, and then the value is dropped.
///
/// # Errors
/// Driver errors.
pub(crate) fn call_once<C: HostCall>(stream: &Stream, call: Box<C>) -> Result<()> {
    let data = Box::into_raw(call);
    // SAFETY: the stream calls the function only once, and this call takes ownership of `data`.
    let result = unsafe { enqueue(stream, run_once::<C>, data.cast()) };
    if result.is_err() {
        // SAFETY: the driver rejected the call and will never use `data`, so this function is the box's only owner.
        drop(unsafe { Box::from_raw(data) });
    }
    result
}

/// Records a [`HostCall`] in a stream capture. Each launch of the captured graph executes the [`HostCall`].
///
/// # Errors
/// Driver errors.
///
/// # Safety
/// The [`HostCall`] stays alive and at its address while the graph may be launched.
pub(crate) unsafe fn call_on_each_launch<C: HostCall>(stream: &Stream, call: &C) -> Result<()> {
    let data = std::ptr::from_ref(call).cast_mut().cast();
    // SAFETY: the caller guarantees that the [`HostCall`] stays alive and at its address while the graph may be
    // launched.
    unsafe { enqueue(stream, run_each_launch::<C>, data) }
}
