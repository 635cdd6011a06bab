//! Registers the backends. Each backend is opened on first use, at most once in the process.
//!
//! The registry owns the opened backends and their reports. It opens a backend only when the backend is requested, and
//! opening creates no context. Therefore a report on all backends has no effect on a device.

use super::open_result::OpenResult;
use super::{Attempt, Backend, BackendKind, DeviceProperties, Devices, cpu, cuda, cuda_and_hip, default_device, hip};
use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_base::log_queue::{self, LogLevel};
use pygpu_base::settings::{self, Settings, Variable};

const VARIABLE: &str = Variable::BACKEND.name();

/// Function that opens a backend.
enum Open {
    /// Function that opens a backend independently of environment variables.
    Always(fn() -> OpenResult),
    /// Function that opens a backend depending on environment variables.
    Asking(fn(&Settings) -> OpenResult),
}

struct BackendEntry {
    kind: BackendKind,
    open: Open,
    opening: ForkSafeOnce<OpenResult>,
}

impl BackendEntry {
    const fn new(kind: BackendKind, open: Open) -> Self {
        Self { kind, open, opening: ForkSafeOnce::new() }
    }

    fn opening(&'static self) -> &'static OpenResult {
        match self.open {
            Open::Always(open) => self.opening.get_or_init(open),
            Open::Asking(open) => {
                let settings = settings::get();
                self.opening.get_or_init(|| open(settings))
            }
        }
    }
}

/// One entry for each backend, in the order in which the backends are tried as the default backend.
static TABLE: [BackendEntry; 3] = [
    BackendEntry::new(BackendKind::Cuda, Open::Asking(cuda_and_hip::open::<cuda::Cuda>)),
    BackendEntry::new(BackendKind::Hip, Open::Asking(cuda_and_hip::open::<hip::Hip>)),
    BackendEntry::new(BackendKind::Cpu, Open::Always(cpu::open)),
];

/// A report on one backend. It states whether the backend can be used, and lists the backend's devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BackendReport {
    /// Kind of the backend.
    pub kind: BackendKind,
    /// Reason why the backend cannot be used; `None` if it can.
    pub reason: Option<String>,
    /// Path of the opened driver library; empty on the CPU, and if no library was opened.
    pub library: String,
    /// Driver version in the format of [`Devices::driver_version`]; 0 on the CPU, and if the version is unknown.
    pub driver_version: i32,
    /// Failed attempts to open a driver library.
    pub attempts: Vec<Attempt>,
    /// The backend's devices. A device whose properties cannot be queried has the error as its name.
    pub devices: Vec<DeviceProperties>,
}

/// A report on all backends. The report states which backends can be used, and which one is the default.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// Value of the environment variable `PYGPU_BACKEND`; `None` if it is not set.
    pub forced: Option<String>,
    /// The default backend, or the reason why no backend is the default.
    pub default: std::result::Result<BackendKind, String>,
    /// One entry per backend, in the order in which the backends are tried as the default backend.
    pub backends: Vec<BackendReport>,
}

/// Returns the default backend: the one selected by `PYGPU_BACKEND`, otherwise the first one with a device.
///
/// # Errors
/// `Error::Value` for an unknown name in the environment variable, `Error::Unavailable` if the selected backend cannot
/// be used.
#[inline]
pub fn default_backend() -> Result<&'static dyn Backend> {
    // This function is called for every new array. From the second call on, it only loads this stored value.
    static CHOSEN: ForkSafeOnce<&'static dyn Backend> = ForkSafeOnce::new();
    match CHOSEN.get() {
        Some(backend) => Ok(*backend),
        None => first_default_backend().map(|backend| *CHOSEN.get_or_init(|| backend)),
    }
}

#[cold]
fn first_default_backend() -> Result<&'static dyn Backend> {
    static DEFAULT: ForkSafeOnce<Result<&'static dyn Backend>> = ForkSafeOnce::new();
    let settings = settings::get();
    DEFAULT
        .get_or_init(|| {
            cpu::read_device_count(settings)?;
            cpu::check_order(settings)?;
            let backend = choose(settings)?;
            log_queue::log(LogLevel::Debug, || format!("the backend is {}", backend.kind().name()));
            default_device::read(settings, backend)?;
            Ok(backend)
        })
        .clone()
}

fn choose(settings: &Settings) -> Result<&'static dyn Backend> {
    if let Some(name) = &settings.text(Variable::BACKEND) {
        let entry = entry(name).ok_or_else(|| unknown(name, VARIABLE))?;
        return open(entry, || format!("{VARIABLE}={name} asks for the {name} backend"));
    }
    let usable = TABLE.iter().find_map(|entry| entry.opening().backend.as_ref().ok());
    usable.copied().ok_or_else(|| Error::Unavailable("no backend can be used".to_owned()))
}

/// Returns a backend by its name.
///
/// # Errors
/// `Error::Value` for an unknown name, `Error::Unavailable` if the backend cannot be used.
pub fn by_name(name: &str) -> Result<&'static dyn Backend> {
    let entry = entry(name).ok_or_else(|| unknown(name, "the backend's name"))?;
    open(entry, || format!("the {name} backend was asked for"))
}

/// Returns all backends that can be used.
pub fn available() -> Vec<&'static dyn Backend> {
    TABLE.iter().filter_map(|entry| entry.opening().backend.as_ref().ok().copied()).collect()
}

/// Returns a report on all backends. Opens the driver library of each backend, but creates no context.
pub fn report() -> Report {
    Report {
        forced: settings::get().text(Variable::BACKEND),
        default: default_backend().map(Devices::kind).map_err(|error| error.to_string()),
        backends: TABLE.iter().map(report_of).collect(),
    }
}

fn report_of(entry: &'static BackendEntry) -> BackendReport {
    let opening = entry.opening();
    BackendReport {
        kind: entry.kind,
        reason: opening.backend.as_ref().err().cloned(),
        library: opening.library.clone(),
        driver_version: opening.driver_version,
        attempts: opening.attempts.clone(),
        devices: opening.backend.as_ref().map_or_else(|_| Vec::new(), |backend| devices(*backend)),
    }
}

fn devices(backend: &dyn Backend) -> Vec<DeviceProperties> {
    let unanswered = |error: Error| DeviceProperties { name: error.to_string(), ..DeviceProperties::default() };
    (0..backend.device_count()).map(|device| backend.properties(device).unwrap_or_else(unanswered)).collect()
}

fn entry(name: &str) -> Option<&'static BackendEntry> {
    TABLE.iter().find(|entry| entry.kind.name() == name)
}

fn unknown(name: &str, place: &str) -> Error {
    Error::Value(format!("{place} is '{name}'; the backends are 'cuda', 'hip' and 'cpu'"))
}

fn open(entry: &'static BackendEntry, request: impl FnOnce() -> String) -> Result<&'static dyn Backend> {
    let opening = entry.opening();
    opening.backend.as_ref().copied().map_err(|reason| {
        let mut text = format!("{}, but it cannot be used: {reason}", request());
        if !opening.attempts.is_empty() {
            text.push_str("; searched:");
        }
        for attempt in &opening.attempts {
            text.push_str(&format!("\n  {}: {}", attempt.name, attempt.error));
        }
        Error::Unavailable(text)
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn unknown_backend_error_lists_the_three_backends() {
        let error = by_name("opencl").err().unwrap();
        assert!(matches!(error, Error::Value(_)));
        for name in ["'opencl'", "'cuda'", "'hip'", "'cpu'"] {
            assert!(error.to_string().contains(name), "{error}");
        }
    }

    #[test]
    fn cpu_backend_always_exists_and_is_opened_once() {
        let backend = by_name("cpu").unwrap();
        assert_eq!((backend.kind(), backend.device_count()), (BackendKind::Cpu, 1));
        assert!(std::ptr::addr_eq(backend, by_name("cpu").unwrap()));
        assert!(available().iter().any(|backend| backend.kind() == BackendKind::Cpu));
    }

    #[test]
    fn report_has_an_entry_for_each_backend_in_order() {
        let report = report();
        let kinds: Vec<_> = report.backends.iter().map(|entry| entry.kind).collect();
        assert_eq!(kinds, [BackendKind::Cuda, BackendKind::Hip, BackendKind::Cpu]);
        for entry in &report.backends {
            assert_eq!(entry.reason.is_none(), !entry.devices.is_empty(), "{entry:?}");
        }
    }

    #[test]
    fn many_threads_get_the_same_backend() {
        let threads: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(|| default_backend().unwrap() as *const dyn Backend as *const () as usize))
            .collect();
        let addresses: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(addresses.iter().all(|address| *address == addresses[0]));
    }
}
