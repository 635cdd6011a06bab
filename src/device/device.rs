//! Defines devices, each a backend and an index, and the guard that restores the thread's current device.
//!
//! A `Device` is a plain value, because backends exist as long as the process. PyGPU stores no current device: it uses
//! the driver's, which is set per thread. If another library makes a device current, it is therefore current for PyGPU
//! too.

use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use pygpu_backend::libraries::HandleKey;
use pygpu_backend::{self as backend, Backend, BackendKind, DeviceProperties, MemoryInfo};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeOnce;

/// A device of a backend. The value is only a pointer to the device's static state, because every array, stream and
/// block contains one.
#[derive(Clone, Copy)]
pub struct Device(&'static DeviceInner);

struct DeviceInner {
    backend: &'static dyn Backend,
    index: i32,
    kind: BackendKind,
    /// Number of resets of the device. Objects created before a reset must not be passed to the driver after the reset.
    epoch: AtomicU32,
    /// Number of times that the host has begun to wait for the whole device. `wait_ended` is the number of the latest
    /// of these waits that has ended.
    waits_begun: AtomicU64,
    wait_ended: AtomicU64,
}

/// Maximum number of devices of a backend; drivers support at most 64.
pub const MAX_DEVICES: usize = 64;

/// State of every device that was requested, by kind of backend and index. A process has at most one backend of each
/// kind.
static DEVICES: PerDevice<ForkSafeOnce<DeviceInner>> = crate::per_device!(ForkSafeOnce::new());

/// Table with one value per device, in which other modules store state. The macro `per_device!` creates it.
pub struct PerDevice<T>(#[doc(hidden)] pub [[T; MAX_DEVICES]; 3]);

impl<T> PerDevice<T> {
    /// Returns the value for a device.
    #[inline]
    pub fn of(&self, device: Device) -> &T {
        self.at(device.0.kind, device.0.index)
    }

    /// Returns the value for every device, including devices that were never requested.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }

    #[inline]
    fn at(&self, kind: BackendKind, index: i32) -> &T {
        &self.0[kind as usize][index as usize % MAX_DEVICES]
    }
}

/// Creates a [`PerDevice`] in which all devices have the same initial value.
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
    /// Returns device `index` of a backend.
    ///
    /// # Errors
    /// `ValueError` if the device does not exist.
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

    /// Returns the device with an index that is known to be valid for the backend.
    #[inline]
    fn of(backend: &'static dyn Backend, index: i32) -> Self {
        let kind = backend.kind();
        Self(DEVICES.at(kind, index).get_or_init(|| DeviceInner {
            backend,
            index,
            kind,
            epoch: AtomicU32::new(0),
            waits_begun: AtomicU64::new(0),
            wait_ended: AtomicU64::new(0),
        }))
    }

    /// Returns the calling thread's current device of the default backend.
    ///
    /// # Errors
    /// Errors of the backend; `Unavailable` if the backend named by `PYGPU_BACKEND` is unavailable.
    #[inline]
    pub fn current() -> Result<Self> {
        let backend = backend::default_backend()?;
        Ok(Self::of(backend, backend.current_device()?))
    }

    /// Returns the device with a name such as `cpu`, `cuda`, `cuda:1` or `hip:0`.
    ///
    /// # Errors
    /// `ValueError` for a malformed name or an index out of range; `Unavailable` if the backend is unavailable.
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

    /// Returns the CPU device; if several are configured, the one that is current for the calling thread.
    ///
    /// # Errors
    /// None in practice: the CPU backend is always available.
    pub fn cpu() -> Result<Self> {
        static CPU: ForkSafeOnce<&'static dyn Backend> = ForkSafeOnce::new();
        let backend = match CPU.get() {
            Some(backend) => *backend,
            None => {
                let backend = backend::by_name("cpu")?;
                *CPU.get_or_init(|| backend)
            }
        };
        Ok(Self::of(backend, backend.current_device()?))
    }

    /// Returns the device's backend.
    #[inline]
    pub fn backend(self) -> &'static dyn Backend {
        self.0.backend
    }

    /// Returns the index of the device within its backend.
    #[inline]
    pub fn index(self) -> i32 {
        self.0.index
    }

    /// Returns the kind of the device's backend.
    #[inline]
    pub fn kind(self) -> BackendKind {
        self.0.kind
    }

    /// Returns whether the device's memory is host memory, which NumPy and C functions read directly.
    #[inline]
    pub fn is_cpu(self) -> bool {
        self.0.kind == BackendKind::Cpu
    }

    /// Returns the properties of the device.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn properties(self) -> Result<DeviceProperties> {
        self.0.backend.properties(self.0.index)
    }

    /// Returns the free and total memory of the device.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn memory_info(self) -> Result<MemoryInfo> {
        self.0.backend.memory_info(self.0.index)
    }

    /// Blocks the host until all work of the device is complete.
    ///
    /// # Errors
    /// Errors of the driver, including those of earlier asynchronous work.
    pub fn synchronize(self) -> Result<()> {
        let wait = self.0.waits_begun.fetch_add(1, Ordering::AcqRel) + 1;
        self.0.backend.synchronize_device(self.0.index)?;
        self.0.wait_ended.fetch_max(wait, Ordering::AcqRel);
        Ok(())
    }

    /// Returns the number of waits for the device so far, to be passed to [`Self::was_waited_for_since`] later.
    pub fn now(self) -> u64 {
        self.0.waits_begun.load(Ordering::Acquire)
    }

    /// Returns whether the host has begun and completed a wait for the whole device since [`Self::now`] returned
    /// `time`. Makes no driver call.
    pub fn was_waited_for_since(self, time: u64) -> bool {
        self.0.wait_ended.load(Ordering::Acquire) > time
    }

    /// Makes the device current for the calling thread. The device is then also current for other libraries that share
    /// the driver.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn make_current(self) -> Result<()> {
        self.0.backend.set_current_device(self.0.index)
    }

    /// Makes the device current until the guard is dropped.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn guard(self) -> Result<DeviceGuard> {
        let found = self.0.backend.current_device()?;
        if found == self.0.index {
            return Ok(DeviceGuard { restore: None });
        }
        self.make_current()?;
        Ok(DeviceGuard { restore: Some(Self::of(self.0.backend, found)) })
    }

    /// Returns the number of resets of the device.
    #[inline]
    pub fn epoch(self) -> u32 {
        self.0.epoch.load(Ordering::Acquire)
    }

    /// Returns the key under which pools keep the device's idle library handles. A device reset changes the key.
    pub fn handle_key(self) -> HandleKey {
        (self.kind(), self.index(), self.epoch())
    }

    /// Destroys all objects of the process on the device and starts a new epoch, which invalidates all earlier objects.
    /// Does nothing on the CPU.
    ///
    /// # Safety
    /// No library of the process may use memory, streams or events of the device afterwards.
    ///
    /// # Errors
    /// Errors of the driver. In this case no object was destroyed, and all objects stay valid.
    pub unsafe fn reset(self) -> Result<()> {
        if self.is_cpu() {
            return Ok(());
        }
        self.0.epoch.fetch_add(1, Ordering::AcqRel);
        // SAFETY: the caller guarantees that no library uses objects of the device; the new epoch above already
        // invalidates PyGPU's own handles.
        let outcome = unsafe { self.0.backend.reset_device(self.0.index) };
        if outcome.is_err() {
            self.0.epoch.fetch_sub(1, Ordering::AcqRel);
        }
        outcome
    }

    /// Returns the index of the device in the tables that hold one value per device.
    pub fn slot(self) -> usize {
        self.0.index as usize % MAX_DEVICES
    }
}

/// When dropped, restores the device that was current for the thread before the guard was created.
#[must_use]
pub struct DeviceGuard {
    restore: Option<Device>,
}

impl Drop for DeviceGuard {
    fn drop(&mut self) {
        if let Some(device) = self.restore {
            // An error of the call that makes the previous device current is ignored: a driver that fails here also
            // fails in every later call, which reports the error.
            let _ = device.make_current();
        }
    }
}
