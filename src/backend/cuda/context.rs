//! Makes a device current for the length of one call.
//!
//! Owns one retained primary context for each device that was used, for the rest of the process: other libraries of the
//! process (CUDA's runtime, and through it PyTorch and CuPy) share it, and releasing it at exit would race with them.
//! Must never leave another device current than it found, except where that is what was asked for.

use std::sync::atomic::{AtomicPtr, Ordering};

use super::driver::Cuda;
use super::errors::{INVALID_DEVICE, PEER_ACCESS_ALREADY_ENABLED, SUCCESS, refusal};
use super::sys::{Api, CUcontext, CUdevice};
use crate::backend::exit::Passage;
use crate::backend::{BackendKind, CaptureMode, fork};
use crate::error::Result;

/// The target of a [`CUcontext`].
type Context = std::ptr::NonNull<std::ffi::c_void>;

/// A device and its primary context.
pub struct Slot {
    /// The driver's handle of the device.
    pub handle: CUdevice,
    /// Pitches above this are refused by the driver.
    pub max_pitch: usize,
    /// Whether the device reads pageable memory by itself, and may therefore do so after a copy has returned.
    pub reads_pageable: bool,
    /// Null until the first use, and again after a reset.
    context: AtomicPtr<std::ffi::c_void>,
}

impl Slot {
    pub fn new(handle: CUdevice, max_pitch: usize, reads_pageable: bool) -> Self {
        Self { handle, max_pitch, reads_pageable, context: AtomicPtr::default() }
    }

    fn context(&self) -> Option<Context> {
        Context::new(self.context.load(Ordering::Acquire))
    }
}

/// The device that was asked for is current while this lives.
pub struct Current<'a> {
    pub api: &'a Api,
    pub slot: &'a Slot,
    /// The primary context of the device.
    pub context: CUcontext,
    pushed: bool,
    _passage: Passage,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if self.pushed {
            let mut popped = std::ptr::null_mut();
            // The driver refuses only if the call itself has changed the stack, and then there is nothing to put back.
            // SAFETY: the target is writable; the context was pushed by `enter`.
            unsafe { (self.api.cuCtxPopCurrent_v2)(&mut popped) };
        }
    }
}

impl Cuda {
    /// The slot of a device number.
    ///
    /// # Errors
    /// The driver's `CUDA_ERROR_INVALID_DEVICE` for a number that no device has.
    pub fn slot(&self, device: i32, operation: &'static str) -> Result<&Slot> {
        let slot = usize::try_from(device).ok().and_then(|position| self.slots.get(position));
        slot.ok_or_else(|| {
            let detail = format!("device {device} was asked for; there are {} devices", self.slots.len());
            refusal(&self.api, INVALID_DEVICE, operation, None, detail)
        })
    }

    /// Makes a device current until the result is dropped. Costs one call of the driver if it already is.
    ///
    /// # Errors
    /// An unknown device, a forked process, or what the driver says to a new context.
    #[inline]
    pub fn enter(&self, device: i32, operation: &'static str) -> Result<Current<'_>> {
        fork::refuse(BackendKind::Cuda, operation)?;
        let passage = Passage::begin();
        let slot = self.slot(device, operation)?;
        let context = self.retained(device, slot)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // SAFETY: the target is writable.
        let code = unsafe { (self.api.cuCtxGetCurrent)(&mut found) };
        if code == SUCCESS && found == context {
            return Ok(Current { api: &self.api, slot, context, pushed: false, _passage: passage });
        }
        self.switch(device, slot, context, found, passage)
    }

    #[cold]
    fn switch<'a>(
        &'a self,
        device: i32,
        slot: &'a Slot,
        context: CUcontext,
        found: CUcontext,
        passage: Passage,
    ) -> Result<Current<'a>> {
        // A thread without a context is on device 0 for everybody. Setting it for good, as CUDA's runtime does, changes
        // nothing that can be seen and saves two calls every time.
        let stays = found.is_null() && device == 0;
        let (code, operation) = if stays {
            // SAFETY: a retained primary context.
            (unsafe { (self.api.cuCtxSetCurrent)(context) }, "cuCtxSetCurrent")
        } else {
            // SAFETY: a retained primary context.
            (unsafe { (self.api.cuCtxPushCurrent_v2)(context) }, "cuCtxPushCurrent")
        };
        if code != SUCCESS {
            return Err(refusal(&self.api, code, operation, Some(device), String::new()));
        }
        Ok(Current { api: &self.api, slot, context, pushed: !stays, _passage: passage })
    }

    /// The primary context of a device, retained on first use.
    fn retained(&self, device: i32, slot: &Slot) -> Result<CUcontext> {
        match slot.context() {
            Some(context) => Ok(context.as_ptr().cast()),
            None => self.retain(device, slot),
        }
    }

    #[cold]
    fn retain(&self, device: i32, slot: &Slot) -> Result<CUcontext> {
        let mut context: CUcontext = std::ptr::null_mut();
        // Two threads at once both retain and get the same context; being never released, one count more is no harm.
        // SAFETY: the target is writable and the device exists.
        let code = unsafe { (self.api.cuDevicePrimaryCtxRetain)(&mut context, slot.handle) };
        if code != SUCCESS {
            let detail = "creating the context that all libraries of a process share".to_owned();
            return Err(refusal(&self.api, code, "cuDevicePrimaryCtxRetain", Some(device), detail));
        }
        slot.context.store(context.cast(), Ordering::Release);
        Ok(context)
    }

    /// A call with a device current; `detail` is asked only if the driver refuses.
    #[inline]
    pub fn call(
        &self,
        device: i32,
        operation: &'static str,
        call: impl FnOnce(&Current<'_>) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        let current = self.enter(device, operation)?;
        match call(&current) {
            SUCCESS => Ok(()),
            code => Err(refusal(&self.api, code, operation, Some(device), detail())),
        }
    }

    /// A call that needs no context.
    #[inline]
    pub fn call_anywhere(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Api) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        fork::refuse(BackendKind::Cuda, operation)?;
        let _passage = Passage::begin();
        match call(&self.api) {
            SUCCESS => Ok(()),
            code => Err(refusal(&self.api, code, operation, None, detail())),
        }
    }

    pub fn current(&self) -> Result<i32> {
        const OPERATION: &str = "cuCtxGetCurrent";
        fork::refuse(BackendKind::Cuda, OPERATION)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // Not through the door that closes at the end of the process: the call only reads a variable of the thread, and it is
        // the one that is made with the GIL held, which a thread that stays outside for ever would then keep.
        // SAFETY: the target is writable.
        let code = unsafe { (self.api.cuCtxGetCurrent)(&mut found) };
        if code != SUCCESS {
            return Err(refusal(&self.api, code, OPERATION, None, String::new()));
        }
        if found.is_null() { Ok(0) } else { self.device_of(found) }
    }

    /// The device number of the context that is current. Those of our own need no further call.
    fn device_of(&self, found: CUcontext) -> Result<i32> {
        if let Some(device) = self.owner(found) {
            return Ok(device);
        }
        self.device_of_current()
    }

    fn device_of_current(&self) -> Result<i32> {
        let mut handle: CUdevice = 0;
        // SAFETY: the target is writable.
        self.call_anywhere("cuCtxGetDevice", |api| unsafe { (api.cuCtxGetDevice)(&mut handle) }, String::new)?;
        self.number(handle, "cuCtxGetDevice")
    }

    /// The device whose retained primary context this is.
    pub fn owner(&self, context: CUcontext) -> Option<i32> {
        let same = |slot: &Slot| slot.context().is_some_and(|own| own.as_ptr().cast() == context);
        self.slots.iter().position(same).and_then(|position| i32::try_from(position).ok())
    }

    /// The device of a context that is not one of our own and need not be current.
    pub fn device_of_other(&self, context: CUcontext) -> Result<i32> {
        // SAFETY: the driver gave the context as that of a living stream.
        self.call_anywhere("cuCtxPushCurrent", |api| unsafe { (api.cuCtxPushCurrent_v2)(context) }, String::new)?;
        let device = self.device_of_current();
        let mut popped: CUcontext = std::ptr::null_mut();
        // SAFETY: the target is writable; the context was pushed above.
        self.call_anywhere("cuCtxPopCurrent", |api| unsafe { (api.cuCtxPopCurrent_v2)(&mut popped) }, String::new)?;
        device
    }

    /// The device number of a driver's handle.
    pub fn number(&self, handle: CUdevice, operation: &'static str) -> Result<i32> {
        let position = self.slots.iter().position(|slot| slot.handle == handle);
        position.and_then(|position| i32::try_from(position).ok()).ok_or_else(|| {
            let detail = format!("the driver names device {handle}; there are {} devices", self.slots.len());
            refusal(&self.api, INVALID_DEVICE, operation, None, detail)
        })
    }

    pub fn set_current(&self, device: i32) -> Result<()> {
        fork::refuse(BackendKind::Cuda, "cuCtxSetCurrent")?;
        let slot = self.slot(device, "cuCtxSetCurrent")?;
        let context = self.retained(device, slot)?;
        // SAFETY: a retained primary context.
        match unsafe { (self.api.cuCtxSetCurrent)(context) } {
            SUCCESS => Ok(()),
            code => Err(refusal(&self.api, code, "cuCtxSetCurrent", Some(device), String::new())),
        }
    }

    pub fn synchronize(&self, device: i32) -> Result<()> {
        // SAFETY: has no preconditions beyond a current context.
        self.call(device, "cuCtxSynchronize", |on| unsafe { (on.api.cuCtxSynchronize)() }, String::new)
    }

    /// Destroys what the process has on a device. The thread's current device stays what it was.
    ///
    /// # Safety
    /// Nothing of the device is used afterwards.
    pub unsafe fn reset(&self, device: i32) -> Result<()> {
        let operation = "cuDevicePrimaryCtxReset";
        fork::refuse(BackendKind::Cuda, operation)?;
        let _passage = Passage::begin();
        let slot = self.slot(device, operation)?;
        let mut found: CUcontext = std::ptr::null_mut();
        // SAFETY: the target is writable.
        self.call_anywhere("cuCtxGetCurrent", |api| unsafe { (api.cuCtxGetCurrent)(&mut found) }, String::new)?;
        let was_current = !found.is_null() && self.owner(found) == Some(device);
        // SAFETY: the caller promises that nothing of the device is used afterwards.
        let code = unsafe { (self.api.cuDevicePrimaryCtxReset_v2)(slot.handle) };
        if code != SUCCESS {
            return Err(refusal(&self.api, code, operation, Some(device), String::new()));
        }
        // The next use retains anew; until then the handle is dead, and no thread may find it current by comparison.
        slot.context.store(std::ptr::null_mut(), Ordering::Release);
        // What was there is destroyed, and an error would say that it is not. A driver that refuses here refuses every
        // later call too, and says so there.
        let _ = match (was_current, device) {
            (false, _) => Ok(()),
            // Without a context the thread is on device 0 anyway, and no context need be made.
            (true, 0) => {
                let none = std::ptr::null_mut();
                // SAFETY: no context at all is always allowed.
                self.call_anywhere("cuCtxSetCurrent", |api| unsafe { (api.cuCtxSetCurrent)(none) }, String::new)
            }
            (true, _) => self.set_current(device),
        };
        Ok(())
    }

    pub fn can_access(&self, device: i32, peer: i32) -> Result<bool> {
        let operation = "cuDeviceCanAccessPeer";
        let (own, other) = (self.slot(device, operation)?.handle, self.slot(peer, operation)?.handle);
        let mut can = 0;
        // SAFETY: the target is writable; both devices exist.
        let ask = |api: &Api| unsafe { (api.cuDeviceCanAccessPeer)(&mut can, own, other) };
        self.call_anywhere(operation, ask, || format!("device {device}, peer {peer}"))?;
        Ok(can != 0)
    }

    pub fn enable_access(&self, device: i32, peer: i32) -> Result<()> {
        let operation = "cuCtxEnablePeerAccess";
        let other = self.context_of(peer, operation)?;
        let enable = |on: &Current<'_>| {
            // SAFETY: a retained primary context; the only flags are 0.
            match unsafe { (on.api.cuCtxEnablePeerAccess)(other, 0) } {
                PEER_ACCESS_ALREADY_ENABLED => SUCCESS,
                code => code,
            }
        };
        self.call(device, operation, enable, || format!("device {device}, peer {peer}"))
    }

    /// The primary context of a device that need not be current.
    pub fn context_of(&self, device: i32, operation: &'static str) -> Result<CUcontext> {
        fork::refuse(BackendKind::Cuda, operation)?;
        self.retained(device, self.slot(device, operation)?)
    }
}

/// Makes a call that a capture under way, of whatever library and in some modes in whatever thread, forbids and is spoiled by,
/// though the call has nothing to do with it: to make or free memory, to ask or wait for an event or a stream. The exchange of the
/// thread's mode costs less than 10 ns (H200, CUDA 13.0); who captures elsewhere cannot be seen.
#[inline]
pub fn beside_captures<T>(api: &Api, call: impl FnOnce() -> T) -> T {
    let mut mode = CaptureMode::Relaxed as u32;
    // SAFETY: the target is writable and as wide as the driver's.
    let exchange = |mode: &mut u32| unsafe { (api.cuThreadExchangeStreamCaptureMode)(std::ptr::from_mut(mode).cast()) };
    let is_relaxed = exchange(&mut mode) == SUCCESS;
    let result = call();
    if is_relaxed {
        // A driver that refuses here refuses every later call too, and says so there.
        let _ = exchange(&mut mode);
    }
    result
}
