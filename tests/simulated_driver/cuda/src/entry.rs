//! Wraps every CUDA call: counts it, applies injected faults, and catches panics.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

pub use simulated_core::argument::{In, Out};
use simulated_core::error_codes::{NOT_INITIALIZED, SUCCESS, UNKNOWN};
use simulated_core::fault::Manner;
use simulated_core::worker::fail_next;
use simulated_core::{Driver, Outcome, exit};

use crate::context;

pub static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// Functions that programs may call before `cuInit`.
const ANYTIME: [&str; 4] = ["cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"];

/// The call that is being executed.
pub struct Call {
    pub name: &'static str,
    pub driver: &'static Driver,
}

impl Call {
    /// Returns the current device, on which no work has failed.
    pub fn device(&self) -> Outcome<usize> {
        self.driver.usable(context::top()?)
    }
}

/// Runs the body of a call; returns the error code of the call.
pub fn call(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> u32 {
    let outcome = catch_unwind(AssertUnwindSafe(|| counted(name, body)));
    match outcome.unwrap_or(Err(UNKNOWN)) {
        Ok(()) => SUCCESS,
        Err(code) => code,
    }
}

fn counted(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> Outcome<()> {
    exit::refuse()?;
    let driver = Driver::of_process().ok_or(UNKNOWN)?;
    let fault = driver.faults.count(name);
    match fault {
        Some((code, Manner::Times(_))) => return Err(code),
        Some((code, Manner::Sticky)) => {
            let device = context::top().and_then(|context| driver.device_of_context(context)).unwrap_or(0);
            driver.break_device(device, code);
            return Err(code);
        }
        Some((code, Manner::Asynchronous)) => fail_next(Some(code)),
        None => {}
    }
    if !INITIALIZED.load(Ordering::Relaxed) && !ANYTIME.contains(&name) {
        return Err(NOT_INITIALIZED);
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
