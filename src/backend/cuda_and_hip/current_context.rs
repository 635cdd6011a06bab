//! Makes a device current for the length of one call.
//!
//! The device that was current before must be restored after each call, except a call that changes the current device
//! on purpose.

use super::driver::{DeviceSlot, Driver};
use super::errors::VendorErrors;
use super::exit_guard::DriverCallGuard;
use super::fork_guard;
use super::symbols::Symbols;
use crate::CaptureMode;
use crate::error_codes::{INVALID_DEVICE, SUCCESS};
use pygpu_base::error::Result;

/// The functions by which a vendor's library makes a device current.
pub trait VendorContexts: VendorErrors {
    /// The state that is needed to make the previous device current again.
    type PreviousDevice;
    /// Makes a device current for the calling thread. Returns the state to restore, or `None` if the device is already
    /// current.
    ///
    /// # Errors
    /// The driver's error, for a device that it cannot use.
    fn enter(driver: &Driver<Self>, device: i32, slot: &DeviceSlot<Self>) -> Result<Option<Self::PreviousDevice>>;
    /// Makes the previous device current again.
    fn leave(driver: &Driver<Self>, found: &Self::PreviousDevice);
}

/// Guard of a driver call: the requested device is current until the guard is dropped.
pub struct CurrentDeviceGuard<'a, V: VendorContexts> {
    pub symbols: &'a Symbols<V>,
    pub api: &'a V::Api,
    pub slot: &'a DeviceSlot<V>,
    driver: &'a Driver<V>,
    found: Option<V::PreviousDevice>,
    _passage: DriverCallGuard,
}

impl<V: VendorContexts> Drop for CurrentDeviceGuard<'_, V> {
    #[inline]
    fn drop(&mut self) {
        if let Some(found) = &self.found {
            V::leave(self.driver, found);
        }
    }
}

impl<V: VendorContexts> Driver<V> {
    /// Returns the stored data of a device.
    ///
    /// # Errors
    /// The driver's code for an invalid device, if the device does not exist.
    #[inline]
    pub fn slot(&self, device: i32, operation: &'static str) -> Result<&DeviceSlot<V>> {
        let slot = usize::try_from(device).ok().and_then(|position| self.slots.get(position));
        slot.ok_or_else(|| {
            let detail = format!("device {device} was asked for; there are {} devices", self.slots.len());
            self.refusal(INVALID_DEVICE, operation, None, detail)
        })
    }

    /// Makes a device current until the guard is dropped. If the device is already current, this costs only one driver
    /// call.
    ///
    /// # Errors
    /// An unknown device, a forked process, or the driver's error for a device that it cannot use.
    #[inline]
    pub fn enter(&self, device: i32, operation: &'static str) -> Result<CurrentDeviceGuard<'_, V>> {
        fork_guard::refuse(V::KIND, operation)?;
        let passage = DriverCallGuard::begin();
        let slot = self.slot(device, operation)?;
        let found = V::enter(self, device, slot)?;
        Ok(CurrentDeviceGuard { symbols: &self.symbols, api: &self.api, slot, driver: self, found, _passage: passage })
    }

    /// Makes a driver call with a device current. `detail` describes the arguments, and is evaluated only if the call
    /// fails.
    #[inline]
    pub fn call(
        &self,
        device: i32,
        operation: &'static str,
        call: impl FnOnce(&CurrentDeviceGuard<'_, V>) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        let current = self.enter(device, operation)?;
        match call(&current) {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, operation, Some(device), detail())),
        }
    }

    /// Makes a driver call that does not depend on the current device.
    #[inline]
    pub fn call_anywhere(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Self) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        fork_guard::refuse(V::KIND, operation)?;
        let _passage = DriverCallGuard::begin();
        match call(self) {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, operation, None, detail())),
        }
    }

    /// Makes a driver call that an active capture would forbid, and that would invalidate the capture, although the
    /// call is unrelated to the capture: allocating or freeing memory, querying or waiting for an event or a stream.
    /// The capture may belong to any library and, in some modes, to any thread. Exchanging the thread's capture mode
    /// costs less than 10 ns (H200, CUDA 13.0). The mode is exchanged in each call, because the driver does not report
    /// whether another thread captures.
    #[inline]
    pub fn beside_captures<T>(&self, call: impl FnOnce() -> T) -> T {
        let mut mode = CaptureMode::Relaxed as u32;
        let exchange = |mode: &mut u32| {
            // SAFETY: the out-parameter is writable and as wide as the driver's type.
            unsafe { (self.symbols.capture_exchange_mode)(std::ptr::from_mut(mode).cast()) }
        };
        let is_relaxed = exchange(&mut mode) == SUCCESS;
        let result = call();
        if is_relaxed {
            // The error code of the call that restores the capture mode is ignored. A driver that fails here also fails
            // in every later call, which reports the error.
            let _ = exchange(&mut mode);
        }
        result
    }
}
