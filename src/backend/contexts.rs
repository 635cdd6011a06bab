//! What can be set of a device's context, where there is one.

use pygpu_base::error::{Error, Result};

/// Contexts of one backend's devices.
pub trait Contexts: Send + Sync {
    /// The driver's handle of the device's context; 0 where there are no contexts.
    fn context(&self, device: i32) -> Result<usize> {
        let _ = device;
        Ok(0)
    }
    /// Runs calls of another library of the vendor's, which works on the device that is current; in no capture's way.
    ///
    /// # Errors
    /// `NotSupported` where there are no such libraries; the driver's.
    fn within(&self, device: i32, operation: &'static str, work: &mut dyn FnMut()) -> Result<()> {
        let _ = (device, operation, work);
        Err(Error::not_supported("the vendors' libraries work on GPUs"))
    }
    /// A limit of the device's context by the driver's number: bytes of stack, of `printf`'s buffer, of the heap.
    fn limit(&self, device: i32, number: i32) -> Result<usize> {
        let _ = (device, number);
        Err(Error::not_supported("this backend has no limits of a context"))
    }
    /// Sets such a limit.
    fn set_limit(&self, device: i32, number: i32, value: usize) -> Result<()> {
        let _ = (device, number, value);
        Err(Error::not_supported("this backend has no limits of a context"))
    }
    /// What the first-level cache is rather used for: 0 no preference, 1 shared memory, 2 cache, 3 equal.
    fn cache_preference(&self, device: i32) -> Result<i32> {
        let _ = device;
        Err(Error::not_supported("this backend has no preference of a context's cache"))
    }
    /// Sets that preference.
    fn set_cache_preference(&self, device: i32, preference: i32) -> Result<()> {
        let _ = (device, preference);
        Err(Error::not_supported("this backend has no preference of a context's cache"))
    }
}
