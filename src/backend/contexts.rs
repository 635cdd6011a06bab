//! Settings of a device's context, for drivers with contexts.

use pygpu_base::error::{Error, Result};

/// Contexts of one backend's devices.
pub trait Contexts: Send + Sync {
    /// Returns the driver's handle of the device's context; 0 for drivers without contexts.
    fn context(&self, device: i32) -> Result<usize> {
        let _ = device;
        Ok(0)
    }
    /// Runs calls of another library of the vendor, which uses the current device. The calls do not invalidate a
    /// capture in progress.
    ///
    /// # Errors
    /// `NotSupported` if the vendor has no such libraries; errors of the driver.
    fn within(&self, device: i32, operation: &'static str, work: &mut dyn FnMut()) -> Result<()> {
        let _ = (device, operation, work);
        Err(Error::not_supported("the vendors' libraries work on GPUs"))
    }
    /// Returns a limit of the device's context by the driver's number: bytes of stack, of the `printf` buffer, of the
    /// heap.
    fn limit(&self, device: i32, number: i32) -> Result<usize> {
        let _ = (device, number);
        Err(Error::not_supported("this backend has no limits of a context"))
    }
    /// Sets a limit of the device's context.
    fn set_limit(&self, device: i32, number: i32, value: usize) -> Result<()> {
        let _ = (device, number, value);
        Err(Error::not_supported("this backend has no limits of a context"))
    }
    /// Returns the preferred use of the first-level cache: 0 no preference, 1 shared memory, 2 cache, 3 equal.
    fn cache_preference(&self, device: i32) -> Result<i32> {
        let _ = device;
        Err(Error::not_supported("this backend has no preference of a context's cache"))
    }
    /// Sets the preferred use of the first-level cache.
    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()> {
        let _ = (device, preference);
        Err(Error::not_supported("this backend has no preference of a context's cache"))
    }
}
