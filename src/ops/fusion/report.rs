//! Counts fusion statistics: deferred operations, the kernels that computed them, and reasons for eager operations.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use pygpu_base::flush_points::FlushReason;
use pygpu_base::log_queue::{self, LogLevel};

/// Reason why an operation was not deferred.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EagerReason {
    /// Deferred operations are disabled for the thread.
    Off,
    /// An operand's address escaped, or another library holds the operand.
    Escaped,
    /// An operand is external, pinned or managed memory, or from a custom allocator.
    ExternalMemory,
    /// The call has an `out` or `where` argument, two results, no elements, or an operand that is unaligned or of a
    /// subclass; or no single ufunc kernel computes its function.
    UnsupportedForm,
    /// The operation's stream is capturing, or is borrowed from another library, or a custom allocator allocates the
    /// results.
    UnsupportedStream,
}

impl EagerReason {
    /// All reasons for eager operations, in the order in which reports list them.
    pub const ALL: [Self; 5] =
        [Self::Off, Self::Escaped, Self::ExternalMemory, Self::UnsupportedForm, Self::UnsupportedStream];

    /// Returns the reason's name in reports.
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

/// Statistics of one launch batch.
#[derive(Default)]
pub(super) struct Counts {
    pub(super) computed: u64,
    kernels: u64,
    fused: u64,
    outputs: u64,
    pub(super) first_meetings: u64,
    pub(super) failures: u64,
}

impl Counts {
    /// Counts a launch that computed `operations` operations and wrote `outputs` results.
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

/// Number of fusion reports that are being recorded, i.e. that `watch` has begun and not ended.
static WATCHERS: AtomicUsize = AtomicUsize::new(0);

/// Fusion statistics since the process began.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct FusionCounts {
    /// Number of deferred operations.
    pub nodes: u64,
    /// Number of deferred operations that were discarded because their results were no longer referenced.
    pub dropped: u64,
    /// Number of deferred operations that were launched.
    pub computed: u64,
    /// Number of kernel launches for deferred operations.
    pub kernels: u64,
    /// Number of launches that computed more than one operation.
    pub fused: u64,
    /// Number of results of deferred operations that were written to memory.
    pub outputs: u64,
    /// Number of groups whose operations were launched individually, because the number of uses of the group's
    /// structure was below the compile threshold.
    pub first_meetings: u64,
    /// Number of deferred operations whose launch failed.
    pub failures: u64,
    /// Number of flushes, by reason.
    pub closed: [u64; FlushReason::ALL.len()],
    /// For each reason, the number of operations that were not deferred for this reason.
    pub refused: [u64; EagerReason::ALL.len()],
}

/// Returns the current fusion statistics. The arguments are the numbers of deferred and of discarded operations, which
/// the queues count.
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

/// Counts an eager operation under the reason for which it was not deferred.
#[inline]
pub fn record_eager(why: EagerReason) {
    count(&COUNTERS.refused[why as usize], 1);
}

/// Adds the counts of a launch batch. Logs the launch only while a report is being recorded, because logging is
/// expensive relative to a launch.
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

/// Begins or ends the recording of a report.
pub fn watch(is_begun: bool) {
    if is_begun {
        WATCHERS.fetch_add(1, Ordering::Relaxed);
    } else {
        WATCHERS.fetch_sub(1, Ordering::Relaxed);
    }
}
