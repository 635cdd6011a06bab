//! Makes a device current for the length of one call.
//!
//! Must never leave another device current than it found, except where that is what was asked for.

use super::driver::{Driver, Slot};
use super::errors::VendorErrors;
use super::exit::Passage;
use super::fork;
use super::symbols::Symbols;
use crate::CaptureMode;
use crate::codes::{INVALID_DEVICE, SUCCESS};
use pygpu_base::error::Result;

/// How a vendor's library makes a device current.
pub trait VendorContexts: VendorErrors {
    /// What has to be done to put back what was current.
    type Found;
    /// Makes a device current for the calling thread; `None` if it is already.
    ///
    /// # Errors
    /// What the driver says to a device that it cannot use.
    fn enter(driver: &Driver<Self>, device: i32, slot: &Slot<Self>) -> Result<Option<Self::Found>>;
    /// Puts back what was current.
    fn leave(driver: &Driver<Self>, found: &Self::Found);
}

/// The device that was asked for is current while this lives.
pub struct Current<'a, V: VendorContexts> {
    pub symbols: &'a Symbols<V>,
    pub api: &'a V::Api,
    pub slot: &'a Slot<V>,
    driver: &'a Driver<V>,
    found: Option<V::Found>,
    _passage: Passage,
}

impl<V: VendorContexts> Drop for Current<'_, V> {
    #[inline]
    fn drop(&mut self) {
        if let Some(found) = &self.found {
            V::leave(self.driver, found);
        }
    }
}

impl<V: VendorContexts> Driver<V> {
    /// The slot of a device number.
    ///
    /// # Errors
    /// The driver's code for an invalid device, for a number that no device has.
    #[inline]
    pub fn slot(&self, device: i32, operation: &'static str) -> Result<&Slot<V>> {
        let slot = usize::try_from(device).ok().and_then(|position| self.slots.get(position));
        slot.ok_or_else(|| {
            let detail = format!("device {device} was asked for; there are {} devices", self.slots.len());
            self.refusal(INVALID_DEVICE, operation, None, detail)
        })
    }

    /// Makes a device current until the result is dropped. Costs one call of the driver if it already is.
    ///
    /// # Errors
    /// An unknown device, a forked process, or what the driver says to a device that it cannot use.
    #[inline]
    pub fn enter(&self, device: i32, operation: &'static str) -> Result<Current<'_, V>> {
        fork::refuse(V::KIND, operation)?;
        let passage = Passage::begin();
        let slot = self.slot(device, operation)?;
        let found = V::enter(self, device, slot)?;
        Ok(Current { symbols: &self.symbols, api: &self.api, slot, driver: self, found, _passage: passage })
    }

    /// A call with a device current; `detail` is asked only if the driver refuses.
    #[inline]
    pub fn call(
        &self,
        device: i32,
        operation: &'static str,
        call: impl FnOnce(&Current<'_, V>) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        let current = self.enter(device, operation)?;
        match call(&current) {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, operation, Some(device), detail())),
        }
    }

    /// A call for which it does not matter which device is current.
    #[inline]
    pub fn call_anywhere(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Self) -> u32,
        detail: impl FnOnce() -> String,
    ) -> Result<()> {
        fork::refuse(V::KIND, operation)?;
        let _passage = Passage::begin();
        match call(self) {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, operation, None, detail())),
        }
    }

    /// Makes a call that a capture under way, of whatever library and in some modes in whatever thread, forbids and is spoiled by,
    /// though the call has nothing to do with it: to make or free memory, to ask or wait for an event or a stream. The exchange of
    /// the thread's mode costs less than 10 ns (H200, CUDA 13.0); who captures elsewhere cannot be seen.
    #[inline]
    pub fn beside_captures<T>(&self, call: impl FnOnce() -> T) -> T {
        let mut mode = CaptureMode::Relaxed as u32;
        let exchange = |mode: &mut u32| {
            // SAFETY: the target is writable and as wide as the driver's.
            unsafe { (self.symbols.capture_exchange_mode)(std::ptr::from_mut(mode).cast()) }
        };
        let is_relaxed = exchange(&mut mode) == SUCCESS;
        let result = call();
        if is_relaxed {
            // A driver that refuses here refuses every later call too, and says so there.
            let _ = exchange(&mut mode);
        }
        result
    }
}
