//! A device's primary context, made current for the length of one call.
//!
//! Retains one for each device that is used, for the rest of the process: other libraries of the process (CUDA's runtime, and
//! through it PyTorch and CuPy) share it, and releasing it at exit would race with them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::driver::Cuda;
use super::sys::{CUcontext, CUdevice};
use crate::codes::SUCCESS;
use crate::vendor::{Current, Driver, Slot, VendorContexts, fork};
use crate::{BackendKind, first_device};
use pygpu_base::error::Result;

/// The context was pushed, and is to be popped.
pub struct Pushed;

impl VendorContexts for Cuda {
    type Found = Pushed;

    #[inline]
    fn enter(driver: &Driver<Self>, device: i32, slot: &Slot<Self>) -> Result<Option<Pushed>> {
        let context = driver.retained(device, slot)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // SAFETY: the target is writable.
        let code = unsafe { (driver.api.cuCtxGetCurrent)(&mut found) };
        if code == SUCCESS && found == context {
            return Ok(None);
        }
        driver.switch(device, context, found)
    }

    fn leave(driver: &Driver<Self>, _: &Pushed) {
        let mut popped = std::ptr::null_mut();
        // The driver refuses only if the call itself has changed the stack, and then there is nothing to put back.
        // SAFETY: the target is writable; the context was pushed by `enter`.
        unsafe { (driver.api.cuCtxPopCurrent_v2)(&mut popped) };
    }
}

/// The context that is known of a device.
fn known(slot: &AtomicPtr<c_void>) -> Option<CUcontext> {
    std::ptr::NonNull::new(slot.load(Ordering::Acquire)).map(|context| context.as_ptr().cast())
}

impl Driver<Cuda> {
    #[cold]
    fn switch(&self, device: i32, context: CUcontext, found: CUcontext) -> Result<Option<Pushed>> {
        // A thread without a context is on device 0 for everybody, or on the one that the program has named. Setting it for
        // good, as CUDA's runtime does, changes nothing that can be seen and saves two calls every time.
        let stays = found.is_null() && device == first_device(BackendKind::Cuda);
        let (code, operation) = if stays {
            // SAFETY: a retained primary context.
            (unsafe { (self.api.cuCtxSetCurrent)(context) }, "cuCtxSetCurrent")
        } else {
            // SAFETY: a retained primary context.
            (unsafe { (self.api.cuCtxPushCurrent_v2)(context) }, "cuCtxPushCurrent")
        };
        if code != SUCCESS {
            return Err(self.refusal(code, operation, Some(device), String::new()));
        }
        Ok((!stays).then_some(Pushed))
    }

    /// The primary context of a device, retained on first use.
    #[inline]
    fn retained(&self, device: i32, slot: &Slot<Cuda>) -> Result<CUcontext> {
        match known(&slot.own) {
            Some(context) => Ok(context),
            None => self.retain(device, slot),
        }
    }

    #[cold]
    fn retain(&self, device: i32, slot: &Slot<Cuda>) -> Result<CUcontext> {
        let mut context: CUcontext = std::ptr::null_mut();
        // Two threads at once both retain and get the same context; being never released, one count more is no harm.
        // SAFETY: the target is writable and the device exists.
        let code = unsafe { (self.api.cuDevicePrimaryCtxRetain)(&mut context, slot.handle) };
        if code != SUCCESS {
            let detail = "creating the context that all libraries of a process share".to_owned();
            return Err(self.refusal(code, "cuDevicePrimaryCtxRetain", Some(device), detail));
        }
        slot.own.store(context.cast(), Ordering::Release);
        Ok(context)
    }

    /// The primary context of a device that need not be current.
    pub fn context_of(&self, device: i32, operation: &'static str) -> Result<CUcontext> {
        fork::refuse(BackendKind::Cuda, operation)?;
        self.retained(device, self.slot(device, operation)?)
    }

    /// Forgets a context that has ended; the next use retains anew.
    pub fn forget_context(&self, slot: &Slot<Cuda>) {
        slot.own.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// The device whose retained primary context this is.
    pub fn owner(&self, context: CUcontext) -> Option<i32> {
        let same = |slot: &Slot<Cuda>| known(&slot.own) == Some(context);
        self.slots.iter().position(same).and_then(|position| i32::try_from(position).ok())
    }

    /// The device of the context that is current. Those of our own need no further call.
    pub fn device_of(&self, found: CUcontext) -> Result<i32> {
        if let Some(device) = self.owner(found) {
            return Ok(device);
        }
        self.device_of_current()
    }

    fn device_of_current(&self) -> Result<i32> {
        let mut handle: CUdevice = 0;
        let ask = |driver: &Self| {
            // SAFETY: the target is writable.
            unsafe { (driver.api.cuCtxGetDevice)(&mut handle) }
        };
        self.call_anywhere("cuCtxGetDevice", ask, String::new)?;
        self.number(handle, "cuCtxGetDevice")
    }

    /// The device of a context that is not one of our own and need not be current.
    pub fn device_of_other(&self, context: CUcontext) -> Result<i32> {
        // SAFETY: the driver gave the context as that of a living stream.
        let push = |driver: &Self| unsafe { (driver.api.cuCtxPushCurrent_v2)(context) };
        self.call_anywhere("cuCtxPushCurrent", push, String::new)?;
        let device = self.device_of_current();
        let mut popped: CUcontext = std::ptr::null_mut();
        // SAFETY: the target is writable; the context was pushed above.
        let pop = |driver: &Self| unsafe { (driver.api.cuCtxPopCurrent_v2)(&mut popped) };
        self.call_anywhere("cuCtxPopCurrent", pop, String::new)?;
        device
    }
}

/// The current context.
pub fn current(on: &Current<'_, Cuda>) -> CUcontext {
    let mut context = std::ptr::null_mut();
    // SAFETY: the target is writable.
    let code = unsafe { (on.api.cuCtxGetCurrent)(&mut context) };
    debug_assert_eq!(code, SUCCESS, "a context was made current for the call");
    context
}
