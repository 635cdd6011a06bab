//! Statistics: deferred operations, the kernels that they resulted in, and reasons for eager operations.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pygpu_base::flush::FlushReason;
use pygpu_base::log_queue::{self, LogLevel};

/// Reason why an operation was not deferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EagerReason {
    /// The mode is off.
    Off,
    /// An operand's address escaped, or other libraries have it.
    Escaped,
    /// An operand is external, pinned or managed memory, or from a custom allocator.
    ExternalMemory,
    /// `out`, `where`, two results, a subclass, or a function without a single ufunc kernel.
    UnsupportedForm,
    /// A capture, a borrowed stream, or a custom allocator for results.
    UnsupportedStream,
}

impl EagerReason {
    /// All reasons, in the order of a report.
    pub const ALL: [Self; 5] =
        [Self::Off, Self::Escaped, Self::ExternalMemory, Self::UnsupportedForm, Self::UnsupportedStream];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Escaped => "exposed",
            Self::ExternalMemory => "foreign",
            Self::UnsupportedForm => "form",
            Self::UnsupportedStream => "place",
        }
    }
}

struct FusionCounters {
    computed: AtomicU64,
    kernels: AtomicU64,
    fused: AtomicU64,
    outputs: AtomicU64,
    first_meetings: AtomicU64,
    failures: AtomicU64,
    closed: [AtomicU64; FlushReason::ALL.len()],
    refused: [AtomicU64; EagerReason::ALL.len()],
}

/// Counts of one batch.
#[derive(Default)]
pub(super) struct Counts {
    computed: u64,
    kernels: u64,
    fused: u64,
    outputs: u64,
    pub(super) first_meetings: u64,
    pub(super) failures: u64,
}

impl Counts {
    /// Counts a launch that computed `operations` operations.
    pub(super) fn launched(&mut self, operations: usize, outputs: usize) {
        self.computed += operations as u64;
        self.kernels += 1;
        self.fused += u64::from(operations > 1);
        self.outputs += outputs as u64;
    }
}

static COUNTERS: FusionCounters = FusionCounters {
    computed: AtomicU64::new(0),
    kernels: AtomicU64::new(0),
    fused: AtomicU64::new(0),
    outputs: AtomicU64::new(0),
    first_meetings: AtomicU64::new(0),
    failures: AtomicU64::new(0),
    closed: [const { AtomicU64::new(0) }; FlushReason::ALL.len()],
    refused: [const { AtomicU64::new(0) }; EagerReason::ALL.len()],
};

/// Number of open reports.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// Counts since the process began.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FusionCounts {
    /// Deferred operations.
    pub nodes: u64,
    /// Deferred operations that were discarded because their results were no longer referenced.
    pub dropped: u64,
    /// Deferred operations that were launched.
    pub computed: u64,
    /// Kernel launches for deferred operations.
    pub kernels: u64,
    /// Launches that computed more than one operation.
    pub fused: u64,
    /// Results that got memory.
    pub outputs: u64,
    /// First uses of structures, which were launched as individual operations.
    pub first_meetings: u64,
    /// Operations that failed to launch.
    pub failures: u64,
    /// Flushes, by reason.
    pub closed: [u64; FlushReason::ALL.len()],
    /// Operations that were not deferred, by reason.
    pub refused: [u64; EagerReason::ALL.len()],
}

/// The current counts, including those of the queues.
pub(super) fn figures(put_off: u64, dropped: u64) -> FusionCounts {
    let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    FusionCounts {
        nodes: put_off,
        dropped,
        computed: read(&COUNTERS.computed),
        kernels: read(&COUNTERS.kernels),
        fused: read(&COUNTERS.fused),
        outputs: read(&COUNTERS.outputs),
        first_meetings: read(&COUNTERS.first_meetings),
        failures: read(&COUNTERS.failures),
        closed: std::array::from_fn(|place| read(&COUNTERS.closed[place])),
        refused: std::array::from_fn(|place| read(&COUNTERS.refused[place])),
    }
}

#[inline]
fn count(counter: &AtomicU64, by: u64) {
    if by > 0 {
        counter.fetch_add(by, Ordering::Relaxed);
    }
}

/// Counts an eager operation.
#[inline]
pub fn record_eager(why: EagerReason) {
    count(&COUNTERS.refused[why as usize], 1);
}

/// Adds the counts of a batch. Logged only while a report is open, because logging costs too much relative to a launch.
pub(super) fn record_flush(cause: Option<FlushReason>, operations: usize, counts: &Counts) {
    count(&COUNTERS.computed, counts.computed);
    count(&COUNTERS.kernels, counts.kernels);
    count(&COUNTERS.fused, counts.fused);
    count(&COUNTERS.outputs, counts.outputs);
    count(&COUNTERS.first_meetings, counts.first_meetings);
    count(&COUNTERS.failures, counts.failures);
    let Some(cause) = cause else { return };
    count(&COUNTERS.closed[cause as usize], 1);
    if WATCHERS.load(Ordering::Relaxed) > 0 {
        let plural = if operations == 1 { "operation" } else { "operations" };
        log_queue::log(LogLevel::Debug, || format!("launches {operations} deferred {plural}: {}", cause.name()));
    }
}

/// Counts the open reports.
pub fn watch(is_begun: bool) {
    if is_begun {
        WATCHERS.fetch_add(1, Ordering::Relaxed);
    } else {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
    }
}
