//! The thread's current device, put in place for the length of one call.
//!
//! It is the runtime's, and shared with every other library of the process. Owns nothing: the runtime keeps one context for each
//! device and shares it among all libraries.

use std::cell::Cell;

use super::driver::Hip;
use crate::codes::SUCCESS;
use crate::vendor::{Driver, Slot, VendorContexts};
use crate::{BackendKind, Contexts, first_device};
use pygpu_base::error::Result;

thread_local! {
    /// Whether a device was made current here.
    static HAS_CHOSEN: Cell<bool> = const { Cell::new(false) };
}

impl VendorContexts for Hip {
    /// The device to put back.
    type Found = i32;

    /// Costs one call of the runtime, which only reads a variable of the thread, if the device is already current.
    #[inline]
    fn enter(driver: &Driver<Self>, device: i32, _: &Slot<Self>) -> Result<Option<i32>> {
        let found = driver.found()?;
        if found != device {
            driver.switch(device)?;
        }
        Ok((found != device).then_some(found))
    }

    fn leave(driver: &Driver<Self>, found: &i32) {
        // It was current before, so the runtime has no reason to refuse it, and nobody could be told.
        // SAFETY: takes any number.
        unsafe { (driver.api.hipSetDevice)(*found) };
    }
}

/// HIP has no contexts to set anything of.
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
        // SAFETY: the target is writable.
        match unsafe { (self.api.hipGetDevice)(&mut found) } {
            SUCCESS if found == 0 && first_device(BackendKind::Hip) != 0 => self.begin_thread(),
            SUCCESS => Ok(found),
            code => Err(self.refusal(code, "hipGetDevice", None, String::new())),
        }
    }

    /// The runtime does not tell a thread that chose device 0 from one that chose none: who comes here first has not, unless
    /// it went to device 0 by another library.
    #[cold]
    fn begin_thread(&self) -> Result<i32> {
        let first = first_device(BackendKind::Hip);
        match HAS_CHOSEN.with(Cell::get) {
            true => Ok(0),
            false => self.switch(first).map(|()| first),
        }
    }

    pub fn switch(&self, device: i32) -> Result<()> {
        HAS_CHOSEN.with(|chosen| chosen.set(true));
        // SAFETY: takes any number.
        match unsafe { (self.api.hipSetDevice)(device) } {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, "hipSetDevice", Some(device), String::new())),
        }
    }
}
