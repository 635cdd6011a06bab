//! What bounds the ring, and when it is used: from the environment, read once, and from setters.
//!
//! `PYGPU_PINNED_LIMIT` is for users. The others are for measuring, and for tests that want small arrays to pass the ring.

use std::sync::atomic::{AtomicUsize, Ordering};

use pygpu_base::error::{Error, Result};
use pygpu_base::fork_safe::Once;
use pygpu_base::settings::{self as environment, Variable};

/// Most bytes of pinned slots of one device: four times what a copy with 16 threads uses, so that half of it can hold what
/// asynchronous uploads have read and the device not yet fetched.
const LIMIT: usize = 256 << 20;
/// Bytes from which a copy of pageable memory passes the ring; `docs/design/transfers.md` has the measurement.
const THRESHOLD: usize = 1 << 20;
/// Bytes of the smallest and of the largest chunk.
const CHUNK: (usize, usize) = (512 << 10, 2 << 20);
/// More threads than this only fight for the memory bus.
const MOST_THREADS: usize = 16;
/// Threads for adjacent bytes below `LARGE`.
const FEW_THREADS: usize = 8;
const LARGE: usize = 64 << 20;

/// Slots that one thread keeps in turn: one is filled or emptied while the engine works on the other.
pub(super) const DEPTH: usize = 2;

/// The numbers; any may change while copies run, which each read them once.
pub(super) struct Settings {
    limit: AtomicUsize,
    threshold: AtomicUsize,
    least_chunk: AtomicUsize,
    most_chunk: AtomicUsize,
    threads: AtomicUsize,
}

static SETTINGS: Once<Result<Settings>> = Once::new();

/// The settings.
///
/// # Errors
/// `ValueError` for an environment variable that is no number, each time.
pub(super) fn settings() -> Result<&'static Settings> {
    let environment = environment::get();
    SETTINGS.get_or_init(|| Settings::of(environment)).as_ref().map_err(Clone::clone)
}

impl Settings {
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

    /// Threads that work on one copy of so many bytes, the caller's included; at least one. A copy of adjacent bytes is soon
    /// limited by the bus: to wake more threads takes longer than they help, unless there is much to do.
    pub(super) fn threads(&self, bytes: usize, is_run: bool) -> usize {
        let most = if is_run && bytes < LARGE { FEW_THREADS } else { MOST_THREADS };
        self.threads.load(Ordering::Relaxed).clamp(1, most)
    }

    /// Bytes of a slot: those of the largest chunk.
    pub(super) fn slot(&self) -> usize {
        self.most_chunk.load(Ordering::Relaxed).max(1)
    }

    /// Bytes of the chunks of a copy. Small ones start the engine early and spread over the threads, large ones cost it
    /// fewer pauses; what lies between was measured.
    pub(super) fn chunk(&self, bytes: usize) -> usize {
        let least = self.least_chunk.load(Ordering::Relaxed).max(1);
        let spread = (bytes / MOST_THREADS).min(1 << 20);
        (bytes / 64).max(spread).max(1).next_power_of_two().max(least).min(self.slot())
    }
}

/// Sets threshold, chunk and threads, for tests and measurements.
///
/// # Errors
/// As `settings`.
pub fn tune(threshold: usize, chunk: (usize, usize), threads: usize) -> Result<()> {
    let settings = settings()?;
    settings.threshold.store(threshold, Ordering::Relaxed);
    settings.least_chunk.store(chunk.0, Ordering::Relaxed);
    settings.most_chunk.store(chunk.1, Ordering::Relaxed);
    settings.threads.store(threads, Ordering::Relaxed);
    Ok(())
}

/// A number of the environment; none if the variable is not set or empty.
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
