//! Wraps every HIP call: counts it, applies injected faults, stores the last error, and catches panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

pub use simulated_core::argument::{In, Out};
use simulated_core::error_codes::{INVALID_DEVICE, SUCCESS, UNKNOWN};
use simulated_core::fault::Manner;
use simulated_core::worker::fail_next;
use simulated_core::{Driver, Outcome, exit};

use crate::{current_device, error};

/// Functions that return no error or another error on a machine without devices. All other functions return
/// `INVALID_DEVICE` there, as in AMD's runtime.
const WITHOUT_DEVICE: [&str; 6] = [
    "hipInit",
    "hipRuntimeGetVersion",
    "hipDriverGetVersion",
    "hipGetDeviceCount",
    "hipGetLastError",
    "hipPeekAtLastError",
];

/// The call that is being executed.
pub struct Call {
    pub name: &'static str,
    pub driver: &'static Driver,
}

impl Call {
    /// Returns the current device, on which no work has failed. The first call for a device creates its context.
    pub fn device(&self) -> Outcome<usize> {
        let device = current_device::device();
        let context = match self.driver.context(self.driver.device(device)?) {
            Some(context) => context,
            None => self.driver.retain(device)?,
        };
        self.driver.usable(context)
    }
}

/// Runs the body of a call; returns the error code of the call.
pub fn call(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> u32 {
    let outcome = catch_unwind(AssertUnwindSafe(|| counted(name, body)));
    match outcome.unwrap_or(Err(UNKNOWN)) {
        Ok(()) => SUCCESS,
        Err(code) => error::remember(code),
    }
}

fn counted(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> Outcome<()> {
    exit::refuse()?;
    let driver = Driver::of_process().ok_or(UNKNOWN)?;
    let fault = driver.faults.count(name);
    match fault {
        Some((code, Manner::Times(_))) => return Err(code),
        Some((code, Manner::Sticky)) => {
            driver.break_device(current_device::device() as usize, code);
            return Err(code);
        }
        Some((code, Manner::Asynchronous)) => fail_next(Some(code)),
        None => {}
    }
    if driver.device_count() == 0 && !WITHOUT_DEVICE.contains(&name) {
        return Err(INVALID_DEVICE);
    }
    let outcome = body(&Call { name, driver });
    if fault.is_some() {
        fail_next(None);
    }
    outcome
}

/// Defines the functions that the library exports. Each body returns an `Outcome<()>`; inside each body, the variable
/// `on` is the current [`Call`].
macro_rules! export {
    ($(fn $name:ident($on:ident $(, $arg:ident: $type:ty)* $(,)?) $body:block)*) => {
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
        $(
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($arg: $type),*) -> u32 {
                $crate::entry::call(stringify!($name), |$on| $body)
            }
        )*
    };
}
pub(crate) use export;
