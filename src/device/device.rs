//! Devices: a backend and a number, and the guard that leaves the thread's current device as it was found.
//!
//! A `Device` is a plain value, since backends live as long as the process. The current device is the driver's own, per
//! thread, so that what another library made current is current here too.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pygpu_backend::{self as backend, Backend, BackendKind, DeviceProperties, MemoryInfo};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Once;

/// One device of one backend: a pointer to what is kept of it, since every array, stream and block holds one.
#[derive(Clone, Copy)]
pub struct Device(&'static Inner);

struct Inner {
    backend: &'static dyn Backend,
    index: i32,
    kind: BackendKind,
    /// How often the device was reset. What was made before a reset must not reach the driver after it.
    epoch: AtomicU32,
    /// How many waits for the whole device were begun, and the latest one of these that has ended.
    waits_begun: AtomicU64,
    wait_ended: AtomicU64,
}

/// Most devices of one backend; drivers themselves stop at 64.
pub const MAX_DEVICES: usize = 64;

/// Every device that was asked for. A process has one backend of a kind.
static DEVICES: PerDevice<Once<Inner>> = crate::per_device!(Once::new());

/// What is kept of each device, by those who know more of it than is known here. [`per_device`] makes one.
pub struct PerDevice<T>(#[doc(hidden)] pub [[T; MAX_DEVICES]; 3]);

impl<T> PerDevice<T> {
    /// What is kept of a device.
    #[inline]
    pub fn of(&self, device: Device) -> &T {
        self.at(device.0.kind, device.0.index)
    }

    /// What is kept of any device, also of those that were never asked for.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    #[inline]
    fn at(&self, kind: BackendKind, index: i32) -> &T {
        &self.0[kind as usize][index as usize % MAX_DEVICES]
    }
}

/// The same for each device, to begin with.
#[macro_export]
macro_rules! per_device {
    ($each:expr) => {
        $crate::PerDevice([const { [const { $each }; $crate::MAX_DEVICES] }; 3])
    };
}

impl PartialEq for Device {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Device {}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            BackendKind::Cpu if self.0.backend.device_count() == 1 => f.write_str("cpu"),
            kind => write!(f, "{}:{}", kind.name(), self.0.index),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

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

    /// The device of a number that the backend is known to have.
    #[inline]
    fn of(backend: &'static dyn Backend, index: i32) -> Self {
        let kind = backend.kind();
        Self(DEVICES.at(kind, index).get_or_init(|| Inner {
            backend,
            index,
            kind,
            epoch: AtomicU32::new(0),
            waits_begun: AtomicU64::new(0),
            wait_ended: AtomicU64::new(0),
        }))
    }

    /// The calling thread's current device of the default backend.
    ///
    /// # Errors
    /// The backend's, and `Unavailable` when `PYGPU_BACKEND` names one that is not there.
    #[inline]
    pub fn current() -> Result<Self> {
        let backend = backend::default_backend()?;
        Ok(Self::of(backend, backend.current_device()?))
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
            None => backend.current_device()?,
        };
        Self::new(backend, index)
    }

    /// The host as a device: the calling thread's current one, where it has several numbers.
    ///
    /// # Errors
    /// None in practice: the CPU backend is always there.
    pub fn cpu() -> Result<Self> {
        static CPU: Once<&'static dyn Backend> = Once::new();
        let backend = match CPU.get() {
            Some(backend) => *backend,
            None => {
                let backend = backend::by_name("cpu")?;
                *CPU.get_or_init(|| backend)
            }
        };
        Ok(Self::of(backend, backend.current_device()?))
    }

    /// What the device can do.
    #[inline]
    pub fn backend(self) -> &'static dyn Backend {
        self.0.backend
    }

    /// Its number among the devices of its backend.
    #[inline]
    pub fn index(self) -> i32 {
        self.0.index
    }

    /// The family of its driver.
    #[inline]
    pub fn kind(self) -> BackendKind {
        self.0.kind
    }

    /// Whether its memory is host memory that NumPy and C functions read directly.
    #[inline]
    pub fn is_cpu(self) -> bool {
        self.0.kind == BackendKind::Cpu
    }

    /// What it is.
    ///
    /// # Errors
    /// The driver's.
    pub fn properties(self) -> Result<DeviceProperties> {
        self.0.backend.properties(self.0.index)
    }

    /// Its free and total memory.
    ///
    /// # Errors
    /// The driver's.
    pub fn memory_info(self) -> Result<MemoryInfo> {
        self.0.backend.memory_info(self.0.index)
    }

    /// Waits until it has nothing left to do.
    ///
    /// # Errors
    /// The driver's, which may be that of earlier asynchronous work.
    pub fn synchronize(self) -> Result<()> {
        let wait = self.0.waits_begun.fetch_add(1, Ordering::AcqRel) + 1;
        self.0.backend.synchronize_device(self.0.index)?;
        self.0.wait_ended.fetch_max(wait, Ordering::AcqRel);
        Ok(())
    }

    /// A point in time, for [`Self::was_waited_for_since`].
    pub fn now(self) -> u64 {
        self.0.waits_begun.load(Ordering::Acquire)
    }

    /// Whether somebody has waited for all that the device had to do at that time. Costs no driver call.
    pub fn was_waited_for_since(self, time: u64) -> bool {
        self.0.wait_ended.load(Ordering::Acquire) > time
    }

    /// Makes it current for the calling thread, for every library that shares the driver.
    ///
    /// # Errors
    /// The driver's.
    pub fn make_current(self) -> Result<()> {
        self.0.backend.set_current_device(self.0.index)
    }

    /// Makes it current until the guard is dropped.
    ///
    /// # Errors
    /// The driver's.
    pub fn guard(self) -> Result<DeviceGuard> {
        let found = self.0.backend.current_device()?;
        if found == self.0.index {
            return Ok(DeviceGuard { restore: None });
        }
        self.make_current()?;
        Ok(DeviceGuard { restore: Some(Self::of(self.0.backend, found)) })
    }

    /// How often it was reset.
    #[inline]
    pub fn epoch(self) -> u32 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// Destroys everything the process holds on it and starts a new epoch, in which what was made before is dead. On the CPU
    /// there is nothing to destroy.
    ///
    /// # Safety
    /// No library of the process may use memory, streams or events of the device afterwards.
    ///
    /// # Errors
    /// The driver's; then nothing was destroyed, and what was made before still lives.
    pub unsafe fn reset(self) -> Result<()> {
        if self.is_cpu() {
            return Ok(());
        }
        self.0.epoch.fetch_add(1, Ordering::AcqRel);
        // SAFETY: promised by the caller; PyGPU's own handles are dead from the line above on.
        let outcome = unsafe { self.0.backend.reset_device(self.0.index) };
        if outcome.is_err() {
            self.0.epoch.fetch_sub(1, Ordering::AcqRel);
        }
        outcome
    }

    /// Its place in tables of per-device state.
    pub fn slot(self) -> usize {
        self.0.index as usize % MAX_DEVICES
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
