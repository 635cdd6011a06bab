//! Stores the number of devices of the CPU backend, and the current device of each thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::{BackendKind, default_device};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings::{Settings, Variable};

/// Maximum number of devices of any backend.
pub const MOST: i32 = 64;

static COUNT: AtomicI32 = AtomicI32::new(1);

thread_local! {
    static CURRENT: Cell<Option<i32>> = const { Cell::new(None) };
}

/// Returns the number of devices.
#[inline]
pub fn count() -> i32 {
    COUNT.load(Ordering::Relaxed)
}

/// Reads the number of devices from the environment variables.
///
/// # Errors
/// `Value` for an invalid number.
pub fn read_count(settings: &Settings) -> Result<()> {
    let Some(text) = settings.text(Variable::CPU_DEVICES) else { return Ok(()) };
    let count = text.parse().ok().filter(|count| (1..=MOST).contains(count)).ok_or_else(|| {
        let variable = Variable::CPU_DEVICES.name();
        Error::value(format!("{variable}={text} is no number of devices from 1 to {MOST}"))
    })?;
    COUNT.store(count, Ordering::Relaxed);
    Ok(())
}

/// Returns the calling thread's current device.
#[inline]
pub fn current() -> i32 {
    match count() {
        1 => 0,
        _ => CURRENT.with(Cell::get).unwrap_or_else(|| default_device(BackendKind::Cpu)),
    }
}

/// Sets the calling thread's current device, which must exist.
pub fn set_current(device: i32) {
    CURRENT.with(|current| current.set(Some(device)));
}
