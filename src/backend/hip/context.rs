//! Makes a device current for the length of one call.
//!
//! The current device is the runtime's, per thread, and shared with every other library of the process. Must never leave
//! another device current than it found, except where that is what was asked for. Owns nothing: the runtime keeps one
//! context for each device and shares it among all libraries.

use super::driver::Hip;
use super::errors::{INVALID_DEVICE, PEER_ACCESS_ALREADY_ENABLED, SUCCESS, refusal, tolerated};
use super::sys::Api;
use crate::backend::exit::Passage;
use crate::backend::{BackendKind, CaptureMode, fork};
use crate::error::Result;

/// What is asked of a device once, when the runtime is opened.
pub struct Slot {
    /// Pitches above this are refused by the runtime.
    pub max_pitch: usize,
    /// Whether the device reads pageable memory by itself, and may therefore do so after a copy has returned.
    pub reads_pageable: bool,
}

/// The device that was asked for is current while this lives.
pub struct Current<'a> {
    pub api: &'a Api,
    pub slot: &'a Slot,
    /// The device to put back; `None` if it is the same.
    found: Option<i32>,
    _passage: Passage,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if let Some(found) = self.found {
            // It was current before, so the runtime has no reason to refuse it, and nobody could be told.
            // SAFETY: takes any number.
            unsafe { (self.api.hipSetDevice)(found) };
        }
    }
}

impl Hip {
    /// The slot of a device number.
    ///
    /// # Errors
    /// The runtime's `hipErrorInvalidDevice` for a number that no device has.
    pub fn slot(&self, device: i32, operation: &'static str) -> Result<&Slot> {
        let slot = usize::try_from(device).ok().and_then(|position| self.slots.get(position));
        slot.ok_or_else(|| {
            let detail = format!("device {device} was asked for; there are {} devices", self.slots.len());
            refusal(&self.api, INVALID_DEVICE, operation, None, detail)
        })
    }

    /// Makes a device current until the result is dropped. Costs one call of the runtime, which only reads a variable of the
    /// thread, if it already is.
    ///
    /// # Errors
    /// An unknown device, a forked process, or what the runtime says to a device that it cannot use.
    #[inline]
    pub fn enter(&self, device: i32, operation: &'static str) -> Result<Current<'_>> {
        fork::refuse(BackendKind::Hip, operation)?;
        let passage = Passage::begin();
        let slot = self.slot(device, operation)?;
        let found = self.found()?;
        if found != device {
            self.switch(device)?;
        }
        Ok(Current { api: &self.api, slot, found: (found != device).then_some(found), _passage: passage })
    }

    fn found(&self) -> Result<i32> {
        let mut found = 0;
        // SAFETY: the target is writable.
        match unsafe { (self.api.hipGetDevice)(&mut found) } {
            SUCCESS => Ok(found),
            code => Err(refusal(&self.api, code, "hipGetDevice", None, String::new())),
        }
    }

    fn switch(&self, device: i32) -> Result<()> {
        // SAFETY: takes any number.
        match unsafe { (self.api.hipSetDevice)(device) } {
            SUCCESS => Ok(()),
            code => Err(refusal(&self.api, code, "hipSetDevice", Some(device), String::new())),
        }
    }

    /// A call with a device current; `detail` is asked only if the runtime refuses.
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

    /// A call for which it does not matter which device is current.
    #[inline]
    pub fn call_anywhere(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Api) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        fork::refuse(BackendKind::Hip, operation)?;
        let _passage = Passage::begin();
        match call(&self.api) {
            SUCCESS => Ok(()),
            code => Err(refusal(&self.api, code, operation, None, detail())),
        }
    }

    pub fn current(&self) -> Result<i32> {
        fork::refuse(BackendKind::Hip, "hipGetDevice")?;
        // Not through the door that closes at the end of the process: the call only reads a variable of the thread, and it is
        // the one that is made with the GIL held, which a thread that stays outside for ever would then keep.
        self.found()
    }

    /// The device number that the runtime itself gave.
    pub fn number(&self, device: i32, operation: &'static str) -> Result<i32> {
        if usize::try_from(device).is_ok_and(|position| position < self.slots.len()) {
            return Ok(device);
        }
        let detail = format!("the runtime names device {device}; there are {} devices", self.slots.len());
        Err(refusal(&self.api, INVALID_DEVICE, operation, None, detail))
    }

    pub fn set_current(&self, device: i32) -> Result<()> {
        fork::refuse(BackendKind::Hip, "hipSetDevice")?;
        self.slot(device, "hipSetDevice")?;
        self.switch(device)
    }

    pub fn synchronize(&self, device: i32) -> Result<()> {
        // SAFETY: has no preconditions beyond a current device.
        self.call(device, "hipDeviceSynchronize", |on| unsafe { (on.api.hipDeviceSynchronize)() }, String::new)
    }

    /// Destroys what the process has on a device. The thread's current device stays what it was.
    ///
    /// # Safety
    /// Nothing of the device is used afterwards.
    pub unsafe fn reset(&self, device: i32) -> Result<()> {
        // SAFETY: the caller promises that nothing of the device is used afterwards.
        self.call(device, "hipDeviceReset", |on| unsafe { (on.api.hipDeviceReset)() }, String::new)
    }

    pub fn can_access(&self, device: i32, peer: i32) -> Result<bool> {
        let operation = "hipDeviceCanAccessPeer";
        self.slot(device, operation)?;
        self.slot(peer, operation)?;
        let mut can = 0;
        // SAFETY: the target is writable; both devices exist.
        let ask = |api: &Api| unsafe { (api.hipDeviceCanAccessPeer)(&mut can, device, peer) };
        self.call_anywhere(operation, ask, || format!("device {device}, peer {peer}"))?;
        Ok(can != 0)
    }

    pub fn enable_access(&self, device: i32, peer: i32) -> Result<()> {
        let operation = "hipDeviceEnablePeerAccess";
        self.slot(peer, operation)?;
        let enable = |on: &Current<'_>| {
            // SAFETY: the peer exists; the only flags are 0.
            let code = unsafe { (on.api.hipDeviceEnablePeerAccess)(peer, 0) };
            tolerated(on.api, code, PEER_ACCESS_ALREADY_ENABLED)
        };
        self.call(device, operation, enable, || format!("device {device}, peer {peer}"))
    }
}

/// Makes a call that a capture under way, of whatever library and in some modes in whatever thread, forbids and is spoiled by,
/// though the call has nothing to do with it: to make or free memory, to ask or wait for an event or a stream. The exchange of the
/// thread's mode costs less than 10 ns (H200, CUDA 13.0); who captures elsewhere cannot be seen.
#[inline]
pub fn beside_captures<T>(api: &Api, call: impl FnOnce() -> T) -> T {
    let mut mode = CaptureMode::Relaxed as u32;
    // SAFETY: the target is writable and as wide as the runtime's.
    let exchange =
        |mode: &mut u32| unsafe { (api.hipThreadExchangeStreamCaptureMode)(std::ptr::from_mut(mode).cast()) };
    let is_relaxed = exchange(&mut mode) == SUCCESS;
    let result = call();
    if is_relaxed {
        // A runtime that refuses here refuses every later call too, and says so there.
        let _ = exchange(&mut mode);
    }
    result
}
