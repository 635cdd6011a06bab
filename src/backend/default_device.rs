//! Stores the default device, which is used by threads that have not set a current device. It is device 0, unless
//! `PYGPU_DEVICE` or the program selects another device.
//!
//! A driver stores the current device of each thread. Without a default device, a program that uses device 1 would have
//! to make this device current in each thread, including the threads of library thread pools.

use std::sync::atomic::{AtomicI32, Ordering};

use super::{Backend, BackendKind};
use pygpu_base::error::{Error, Result};
use pygpu_base::settings::{Settings, Variable};

static FIRST: [AtomicI32; 3] = [const { AtomicI32::new(0) }; 3];

/// Returns the default device of a backend.
#[inline]
pub fn default_device(kind: BackendKind) -> i32 {
    FIRST[kind as usize].load(Ordering::Relaxed)
}

/// Sets the default device of a backend; the device must exist.
pub fn set_default_device(kind: BackendKind, index: i32) {
    FIRST[kind as usize].store(index, Ordering::Relaxed);
}

/// Reads the default device of the default backend from the environment variable.
///
/// # Errors
/// `Value` for a value that is not a device of the backend.
pub(super) fn read(settings: &Settings, backend: &dyn Backend) -> Result<()> {
    let Some(text) = settings.text(Variable::DEVICE) else { return Ok(()) };
    let (kind, count) = (backend.kind(), backend.device_count());
    let number = text.strip_prefix(kind.name()).and_then(|rest| rest.strip_prefix(':')).unwrap_or(&text);
    let index = number.parse().ok().filter(|index| (0..count).contains(index)).ok_or_else(|| {
        let (name, variable) = (kind.name(), Variable::DEVICE.name());
        Error::value(format!(
            "{variable}={text} names no device: the {name} backend, which is the default here, has {count} device(s), numbered \
             from 0; write '{name}:0', or 0"
        ))
    })?;
    set_default_device(kind, index);
    Ok(())
}
