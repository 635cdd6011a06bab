//! Makes a device's primary context current for the length of one call.
//!
//! The context of each used device is retained for the rest of the process. Other libraries of the process (the CUDA
//! runtime, and through it PyTorch and CuPy) share the context, and releasing it at exit would race with them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::driver::Cuda;
use super::sys::{CUcontext, CUdevice};
use crate::cuda_and_hip::{CurrentDeviceGuard, DeviceSlot, Driver, VendorContexts, fork_guard};
use crate::error_codes::SUCCESS;
use crate::{BackendKind, default_device};
use pygpu_base::error::Result;

/// Token that `enter` returns after it has pushed a context onto the thread's stack. The owner of the token must pop
/// the context.
pub struct Pushed;

impl VendorContexts for Cuda {
    type PreviousDevice = Pushed;

    #[inline]
    fn enter(driver: &Driver<Self>, device: i32, slot: &DeviceSlot<Self>) -> Result<Option<Pushed>> {
        let context = driver.retained(device, slot)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable.
        let code = unsafe { (driver.api.cuCtxGetCurrent)(&mut found) };
        if code == SUCCESS && found == context {
            return Ok(None);
        }
        driver.switch(device, context, found)
    }

    fn leave(driver: &Driver<Self>, _: &Pushed) {
        let mut popped = std::ptr::null_mut();
        // The pop fails only if the guarded call itself changed the stack of contexts. In that case no context needs to
        // be restored, so the error is ignored.
        // SAFETY: the out-parameter is writable; `enter` pushed the context.
        unsafe { (driver.api.cuCtxPopCurrent_v2)(&mut popped) };
    }
}

/// Returns the retained context of a device, or `None` before the first use and after a reset.
fn cached_context(slot: &AtomicPtr<c_void>) -> Option<CUcontext> {
    std::ptr::NonNull::new(slot.load(Ordering::Acquire)).map(|context| context.as_ptr().cast())
}

impl Driver<Cuda> {
    #[cold]
    fn switch(&self, device: i32, context: CUcontext, found: CUcontext) -> Result<Option<Pushed>> {
        // A thread without a current context implicitly uses device 0, or the device set by the program. After a PyGPU
        // call on this device, the device's context therefore stays current, as in the CUDA runtime. This has no
        // visible effect, and saves two driver calls in each later PyGPU call.
        let stays = found.is_null() && device == default_device(BackendKind::Cuda);
        let (code, operation) = if stays {
            // SAFETY: the context is a retained primary context.
            (unsafe { (self.api.cuCtxSetCurrent)(context) }, "cuCtxSetCurrent")
        } else {
            // SAFETY: the context is a retained primary context.
            (unsafe { (self.api.cuCtxPushCurrent_v2)(context) }, "cuCtxPushCurrent")
        };
        if code != SUCCESS {
            return Err(self.refusal(code, operation, Some(device), String::new()));
        }
        Ok((!stays).then_some(Pushed))
    }

    /// Returns the primary context of a device, retaining it on first use.
    #[inline]
    fn retained(&self, device: i32, slot: &DeviceSlot<Cuda>) -> Result<CUcontext> {
        match cached_context(&slot.own) {
            Some(context) => Ok(context),
            None => self.retain(device, slot),
        }
    }

    #[cold]
    fn retain(&self, device: i32, slot: &DeviceSlot<Cuda>) -> Result<CUcontext> {
        let mut context: CUcontext = std::ptr::null_mut();
        // If two threads retain the context at the same time, both get the same context. The second reference to the
        // context has no effect, because PyGPU never releases the context.
        // SAFETY: the out-parameter is writable and the device exists.
        let code = unsafe { (self.api.cuDevicePrimaryCtxRetain)(&mut context, slot.handle) };
        if code != SUCCESS {
            let detail = "creating the context that all libraries of a process share".to_owned();
            return Err(self.refusal(code, "cuDevicePrimaryCtxRetain", Some(device), detail));
        }
        slot.own.store(context.cast(), Ordering::Release);
        Ok(context)
    }

    /// Returns the primary context of a device, without making it current.
    pub fn context_of(&self, device: i32, operation: &'static str) -> Result<CUcontext> {
        fork_guard::refuse(BackendKind::Cuda, operation)?;
        self.retained(device, self.slot(device, operation)?)
    }

    /// Clears the stored context of a device after a reset; the next use retains it again.
    pub fn forget_context(&self, slot: &DeviceSlot<Cuda>) {
        slot.own.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Returns the device whose retained primary context is `context`.
    pub fn owner(&self, context: CUcontext) -> Option<i32> {
        let same = |slot: &DeviceSlot<Cuda>| cached_context(&slot.own) == Some(context);
        self.slots.iter().position(same).and_then(|position| i32::try_from(position).ok())
    }

    /// Returns the device of the current context. For PyGPU's retained contexts this needs no driver call.
    pub fn device_of(&self, found: CUcontext) -> Result<i32> {
        if let Some(device) = self.owner(found) {
            return Ok(device);
        }
        self.device_of_current()
    }

    fn device_of_current(&self) -> Result<i32> {
        let mut handle: CUdevice = 0;
        let ask = |driver: &Self| {
            // SAFETY: the out-parameter is writable.
            unsafe { (driver.api.cuCtxGetDevice)(&mut handle) }
        };
        self.call_anywhere("cuCtxGetDevice", ask, String::new)?;
        self.number(handle, "cuCtxGetDevice")
    }

    /// Returns the device of any context, whether it is current or not.
    pub fn device_of_other(&self, context: CUcontext) -> Result<i32> {
        // SAFETY: the context is valid, because the driver returned it as the context of a live stream.
        let push = |driver: &Self| unsafe { (driver.api.cuCtxPushCurrent_v2)(context) };
        self.call_anywhere("cuCtxPushCurrent", push, String::new)?;
        let device = self.device_of_current();
        let mut popped: CUcontext = std::ptr::null_mut();
        // SAFETY: the out-parameter is writable; the context was pushed above.
        let pop = |driver: &Self| unsafe { (driver.api.cuCtxPopCurrent_v2)(&mut popped) };
        self.call_anywhere("cuCtxPopCurrent", pop, String::new)?;
        device
    }
}

/// Returns the thread's current context.
pub fn current(on: &CurrentDeviceGuard<'_, Cuda>) -> CUcontext {
    let mut context = std::ptr::null_mut();
    // SAFETY: the out-parameter is writable.
    let code = unsafe { (on.api.cuCtxGetCurrent)(&mut context) };
    debug_assert_eq!(code, SUCCESS, "a context was made current for the call");
    context
}
