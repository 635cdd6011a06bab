//! Stores limits and thresholds of the ring. They come from environment variables, which are read once, and from
//! setters.
//!
//! The variable `PYGPU_PINNED_LIMIT` is for users. The other variables are for benchmarks, and for tests in which small
//! arrays should pass through the ring.

use std::sync::atomic::{AtomicUsize, Ordering};

use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::ForkSafeOnce;
use pygpu_base::settings::{self as environment, Variable};

/// Default maximum size in bytes of the pinned slots of one device: four times the size that a copy with 16 threads
/// needs. Half of this memory can hold data of asynchronous uploads that the device has not yet fetched.
const LIMIT: usize = 256 << 20;
/// Default minimum size in bytes of pageable copies that pass through the ring. `docs/design/transfers.md` contains the
/// measurements.
const THRESHOLD: usize = 1 << 20;
/// Default minimum and maximum size of a chunk in bytes.
const CHUNK: (usize, usize) = (512 << 10, 2 << 20);
/// Maximum number of threads; more threads only compete for memory bandwidth.
const MOST_THREADS: usize = 16;
/// Number of threads for contiguous copies of fewer than `LARGE` bytes.
const FEW_THREADS: usize = 8;
const LARGE: usize = 64 << 20;

/// Number of slots per thread of a copy. With two, the thread fills or empties one slot while the copy engine accesses
/// the other one.
pub(super) const DEPTH: usize = 2;

/// The settings of the ring. They may change while copies run; each copy reads every setting once.
pub(super) struct RingSettings {
    limit: AtomicUsize,
    threshold: AtomicUsize,
    least_chunk: AtomicUsize,
    most_chunk: AtomicUsize,
    threads: AtomicUsize,
}

static SETTINGS: ForkSafeOnce<Result<RingSettings>> = ForkSafeOnce::new();

/// Returns the settings of the ring.
///
/// # Errors
/// `ValueError` for an environment variable that is not a number, on every call.
pub(super) fn settings() -> Result<&'static RingSettings> {
    let environment = environment::get();
    SETTINGS.get_or_init(|| RingSettings::of(environment)).as_ref().map_err(Clone::clone)
}

impl RingSettings {
    fn of(environment: &environment::Settings) -> Result<Self> {
        let bytes_of = |variable| bytes_of(environment, variable);
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        let chunk = bytes_of(Variable::STAGING_CHUNK)?;
        Ok(Self {
            limit: bytes_of(Variable::PINNED_LIMIT)?.unwrap_or(LIMIT).into(),
            threshold: bytes_of(Variable::STAGING_THRESHOLD)?.unwrap_or(THRESHOLD).into(),
            least_chunk: chunk.unwrap_or(CHUNK.0).into(),
            most_chunk: chunk.unwrap_or(CHUNK.1).into(),
            threads: bytes_of(Variable::STAGING_THREADS)?.unwrap_or_else(cores).into(),
        })
    }

    pub(super) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    pub(super) fn set_limit(&self, bytes: usize) {
        self.limit.store(bytes, Ordering::Relaxed);
    }

    pub(super) fn threshold(&self) -> usize {
        self.threshold.load(Ordering::Relaxed)
    }

    /// Returns the number of threads for a copy of `bytes` bytes, including the caller; at least one. The bus limits
    /// the speed of a contiguous copy. Below `LARGE` bytes, waking more than [`FEW_THREADS`] threads takes longer than
    /// they save.
    pub(super) fn threads(&self, bytes: usize, is_run: bool) -> usize {
        let most = if is_run && bytes < LARGE { FEW_THREADS } else { MOST_THREADS };
        self.threads.load(Ordering::Relaxed).clamp(1, most)
    }

    /// Returns the size of a slot in bytes, which is the size of the largest chunk.
    pub(super) fn slot(&self) -> usize {
        self.most_chunk.load(Ordering::Relaxed).max(1)
    }

    /// Returns the size in bytes of a copy's chunks. With small chunks the copy engine starts early, and all threads
    /// get work; large chunks have less overhead. The sizes were determined by measurements.
    pub(super) fn chunk(&self, bytes: usize) -> usize {
        let least = self.least_chunk.load(Ordering::Relaxed).max(1);
        let spread = (bytes / MOST_THREADS).min(1 << 20);
        (bytes / 64).max(spread).max(1).next_power_of_two().max(least).min(self.slot())
    }
}

/// Sets the threshold, the chunk sizes and the maximum number of threads, for tests and benchmarks.
///
/// # Errors
/// The errors of `settings`.
pub fn tune(threshold: usize, chunk: (usize, usize), threads: usize) -> Result<()> {
    let settings = settings()?;
    settings.threshold.store(threshold, Ordering::Relaxed);
    settings.least_chunk.store(chunk.0, Ordering::Relaxed);
    settings.most_chunk.store(chunk.1, Ordering::Relaxed);
    settings.threads.store(threads, Ordering::Relaxed);
    Ok(())
}

/// Parses a number from an environment variable, or returns `None` if the variable is unset or empty.
fn bytes_of(environment: &environment::Settings, variable: Variable) -> Result<Option<usize>> {
    let Some(text) = environment.get(variable) else { return Ok(None) };
    let (text, variable) = (text.to_string_lossy(), variable.name());
    match text.trim() {
        "" => Ok(None),
        number => number.parse().map(Some).map_err(|_| {
            Error::value(format!("the environment variable {variable} is '{text}'; write a number, as 268435456"))
        }),
    }
}
