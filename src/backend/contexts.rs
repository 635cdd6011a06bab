//! Defines the settings of a device's context, for drivers with contexts.

use pygpu_base::error::{Error, Result};

/// Gives access to the driver's contexts of one backend's devices.
pub trait Contexts: Send + Sync {
    /// Returns the driver's handle of the device's context; 0 for drivers without contexts.
    fn context(&self, device: i32) -> Result<usize> {
        let _ = device;
        Ok(0)
    }
    /// Makes the device current and runs `work`, which calls a further library of the vendor (such as cuFFT). Calls in
    /// `work` that an active capture would forbid do not invalidate the capture.
    ///
    /// # Errors
    /// `NotSupported` if the vendor has no such libraries; errors of the driver.
    fn within(&self, device: i32, operation: &'static str, work: &mut dyn FnMut()) -> Result<()> {
        let _ = (device, operation, work);
        Err(Error::not_supported("the vendors' libraries work on GPUs"))
    }
    /// Returns a limit of the device's context in bytes. `number` is the enum value by which the driver identifies the
    /// limit: stack per thread, `printf` buffer, or heap.
    fn limit(&self, device: i32, number: i32) -> Result<usize> {
        let _ = (device, number);
        Err(Error::not_supported("this backend has no limits of a context"))
    }
    /// Sets one of the limits of the device's context that [`Self::limit`] returns.
    fn set_limit(&self, device: i32, number: i32, value: usize) -> Result<()> {
        let _ = (device, number, value);
        Err(Error::not_supported("this backend has no limits of a context"))
    }
    /// Returns the context's preference between first-level cache and shared memory: 0 for no preference, 1 for more
    /// shared memory, 2 for more cache, 3 for equal sizes.
    fn cache_preference(&self, device: i32) -> Result<i32> {
        let _ = device;
        Err(Error::not_supported("this backend has no preference of a context's cache"))
    }
    /// Sets the context's preference between first-level cache and shared memory, which `cache_preference` returns.
    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()> {
        let _ = (device, preference);
        Err(Error::not_supported("this backend has no preference of a context's cache"))
    }
}
