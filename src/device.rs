//! Devices: a backend and a number, and the guard that leaves the thread's current device as it was found.
//!
//! A `Device` is a plain value, since backends live as long as the process. The current device is the driver's own, per
//! thread, so that what another library made current is current here too.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::backend::{self, Backend, BackendKind, DeviceProperties, MemoryInfo};
use crate::error::{Error, Result};

/// One device of one backend.
#[derive(Clone, Copy)]
pub struct Device {
    backend: &'static dyn Backend,
    index: i32,
    /// The backend's, kept here because every array asks for it when it is made and when it ends.
    kind: BackendKind,
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index && self.kind == other.kind
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            BackendKind::Cpu => f.write_str("cpu"),
            kind => write!(f, "{}:{}", kind.name(), self.index),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Most devices of one backend that keep state of their own; drivers themselves stop at 64.
pub const MAX_DEVICES: usize = 64;

/// How often each device was reset. What was made before a reset must not reach the driver after it.
static EPOCHS: [[AtomicU32; MAX_DEVICES]; 3] = [const { [const { AtomicU32::new(0) }; MAX_DEVICES] }; 3];

impl Device {
    /// Device `index` of a backend.
    ///
    /// # Errors
    /// `ValueError` when there is no such device.
    pub fn new(backend: &'static dyn Backend, index: i32) -> Result<Self> {
        let count = backend.device_count();
        if index < 0 || index >= count.min(MAX_DEVICES as i32) {
            let name = backend.kind().name();
            return Err(Error::value(format!(
                "device {index} does not exist: the {name} backend has {count} device(s), numbered from 0"
            )));
        }
        Ok(Self::of(backend, index))
    }

    fn of(backend: &'static dyn Backend, index: i32) -> Self {
        Self { backend, index, kind: backend.kind() }
    }

    /// The calling thread's current device of the default backend.
    ///
    /// # Errors
    /// The backend's, and `Unavailable` when `PYGPU_BACKEND` names one that is not there.
    #[inline]
    pub fn current() -> Result<Self> {
        let backend = backend::default_backend()?;
        let index = if backend.kind() == BackendKind::Cpu { 0 } else { backend.current_device()? };
        Ok(Self::of(backend, index))
    }

    /// The device named `cpu`, `cuda`, `cuda:1`, `hip:0`.
    ///
    /// # Errors
    /// `ValueError` for a name of another form or a number out of range; `Unavailable` for a backend that is not there.
    pub fn parse(name: &str) -> Result<Self> {
        let (kind, index) = name.split_once(':').map_or((name, None), |(kind, index)| (kind, Some(index)));
        let backend = backend::by_name(kind)?;
        let index = match index {
            Some(text) => text.parse().map_err(|_| {
                Error::value(format!("device '{name}': '{text}' is no device number; write for example 'cuda:0'"))
            })?,
            None if backend.kind() == BackendKind::Cpu => 0,
            None => backend.current_device()?,
        };
        Self::new(backend, index)
    }

    /// The host as a device.
    ///
    /// # Errors
    /// None in practice: the CPU backend is always there.
    pub fn cpu() -> Result<Self> {
        Ok(Self::of(backend::by_name("cpu")?, 0))
    }

    /// What the device can do.
    #[inline]
    pub fn backend(self) -> &'static dyn Backend {
        self.backend
    }

    /// Its number among the devices of its backend.
    #[inline]
    pub fn index(self) -> i32 {
        self.index
    }

    /// The family of its driver.
    #[inline]
    pub fn kind(self) -> BackendKind {
        self.kind
    }

    /// Whether its memory is host memory that NumPy and C functions read directly.
    #[inline]
    pub fn is_cpu(self) -> bool {
        self.kind == BackendKind::Cpu
    }

    /// What it is.
    ///
    /// # Errors
    /// The driver's.
    pub fn properties(self) -> Result<DeviceProperties> {
        self.backend.properties(self.index)
    }

    /// Its free and total memory.
    ///
    /// # Errors
    /// The driver's.
    pub fn memory_info(self) -> Result<MemoryInfo> {
        self.backend.memory_info(self.index)
    }

    /// Waits until it has nothing left to do.
    ///
    /// # Errors
    /// The driver's, which may be that of earlier asynchronous work.
    pub fn synchronize(self) -> Result<()> {
        self.backend.synchronize_device(self.index)
    }

    /// Makes it current for the calling thread, for every library that shares the driver.
    ///
    /// # Errors
    /// The driver's.
    pub fn make_current(self) -> Result<()> {
        self.backend.set_current_device(self.index)
    }

    /// Makes it current until the guard is dropped.
    ///
    /// # Errors
    /// The driver's.
    pub fn guard(self) -> Result<DeviceGuard> {
        let found = self.backend.current_device()?;
        if found == self.index {
            return Ok(DeviceGuard { restore: None });
        }
        self.make_current()?;
        Ok(DeviceGuard { restore: Some(Self { index: found, ..self }) })
    }

    /// How often it was reset.
    pub fn epoch(self) -> u32 {
        self.epoch_cell().load(Ordering::Acquire)
    }

    /// Destroys everything the process holds on it and starts a new epoch, in which what was made before is dead. On the CPU
    /// there is nothing to destroy.
    ///
    /// # Safety
    /// No library of the process may use memory, streams or events of the device afterwards.
    ///
    /// # Errors
    /// The driver's.
    pub unsafe fn reset(self) -> Result<()> {
        if self.is_cpu() {
            return Ok(());
        }
        self.epoch_cell().fetch_add(1, Ordering::AcqRel);
        // SAFETY: promised by the caller; PyGPU's own handles are dead from the line above on.
        unsafe { self.backend.reset_device(self.index) }
    }

    fn epoch_cell(self) -> &'static AtomicU32 {
        &EPOCHS[self.kind() as usize][self.slot()]
    }

    /// Its place in tables of per-device state.
    pub fn slot(self) -> usize {
        self.index as usize % MAX_DEVICES
    }
}

/// Puts the thread's current device back when dropped.
#[must_use]
pub struct DeviceGuard {
    restore: Option<Device>,
}

impl Drop for DeviceGuard {
    fn drop(&mut self) {
        if let Some(device) = self.restore {
            // A driver that refuses here refuses every later call too, and says so there.
            let _ = device.make_current();
        }
    }
}
