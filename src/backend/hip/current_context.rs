//! Makes a device current for the length of one call.
//!
//! The runtime owns the current device, which all libraries of the process share. The runtime also keeps one context
//! per device and shares it among all libraries, so this module owns nothing.

use std::cell::Cell;

use super::driver::Hip;
use crate::cuda_and_hip::{DeviceSlot, Driver, VendorContexts};
use crate::error_codes::SUCCESS;
use crate::{BackendKind, Contexts, default_device};
use pygpu_base::error::Result;

thread_local! {
    /// Whether PyGPU has already set a current device in this thread.
    static HAS_CHOSEN: Cell<bool> = const { Cell::new(false) };
}

impl VendorContexts for Hip {
    /// The device that was current before the guarded call. It must be made current again after the call.
    type PreviousDevice = i32;

    /// Makes the device current and returns the previous one. If the device is already current, the only cost is one
    /// runtime call, which reads a thread-local variable.
    #[inline]
    fn enter(driver: &Driver<Self>, device: i32, _: &DeviceSlot<Self>) -> Result<Option<i32>> {
        let found = driver.found()?;
        if found != device {
            driver.switch(device)?;
        }
        Ok((found != device).then_some(found))
    }

    fn leave(driver: &Driver<Self>, found: &i32) {
        // Makes the previous device current again. The runtime has no reason to reject a device that was current
        // before, and an error could not be reported in a destructor.
        // SAFETY: the runtime accepts any number and rejects invalid ones.
        unsafe { (driver.api.hipSetDevice)(*found) };
    }
}

/// HIP has no contexts, so all methods except `within` are the defaults.
impl Contexts for Driver<Hip> {
    fn within(&self, device: i32, operation: &'static str, work: &mut dyn FnMut()) -> Result<()> {
        let _current = self.enter(device, operation)?;
        self.beside_captures(work);
        Ok(())
    }
}

impl Driver<Hip> {
    #[inline]
    pub fn found(&self) -> Result<i32> {
        let mut found = 0;
        // SAFETY: the out-parameter is writable.
        match unsafe { (self.api.hipGetDevice)(&mut found) } {
            SUCCESS if found == 0 && default_device(BackendKind::Hip) != 0 => self.begin_thread(),
            SUCCESS => Ok(found),
            code => Err(self.refusal(code, "hipGetDevice", None, String::new())),
        }
    }

    /// Sets the default device in a new thread. The runtime does not distinguish a thread that set device 0 from a
    /// thread that set no device. Therefore PyGPU assumes that a new thread has set no device. The assumption is wrong
    /// only if another library has set device 0 in this thread.
    #[cold]
    fn begin_thread(&self) -> Result<i32> {
        let first = default_device(BackendKind::Hip);
        match HAS_CHOSEN.with(Cell::get) {
            true => Ok(0),
            false => self.switch(first).map(|()| first),
        }
    }

    pub fn switch(&self, device: i32) -> Result<()> {
        HAS_CHOSEN.with(|chosen| chosen.set(true));
        // SAFETY: the runtime accepts any number and rejects invalid ones.
        match unsafe { (self.api.hipSetDevice)(device) } {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, "hipSetDevice", Some(device), String::new())),
        }
    }
}
