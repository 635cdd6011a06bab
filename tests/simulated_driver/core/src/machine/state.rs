//! Contains the whole state of the driver under one lock. A single lock is fast enough, because threads hold it only
//! briefly.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::ThreadId;

use crate::arena::Arena;
use crate::config::{Config, Delay};
use crate::device::Device;
use crate::error_codes::{INVALID_HANDLE, Outcome};
use crate::event::Event;
use crate::finding::{Findings, Kind};
use crate::graph::Graphs;
use crate::handles::Handles;
use crate::host::HostBlock;
use crate::memory::{Allocation, Dead};
use crate::pool::Pool;
use crate::reorder::Reordering;
use crate::stream::Stream;
use crate::vector_clock::Clock;

/// Holds the state with its lock, and the condition variable for threads that wait for operations.
pub struct Shared {
    state: Mutex<State>,
    /// Condition variable that is signalled when an operation is complete.
    pub(crate) progress: Condvar,
    /// Memory of each device. Worker threads access it without the lock.
    pub(crate) arenas: Vec<Arena>,
}

/// Guard that holds the lock of the state.
pub(crate) type Locked<'a> = MutexGuard<'a, State>;

/// Point in the execution of a stream: the serial number of the stream, and the number of one of its operations.
pub(crate) type Point = (u64, u64);

/// State of the driver. The keys of most maps are handles or first addresses. Data about streams uses serial numbers
/// instead, because a handle is reused after its stream is destroyed, but a serial number is never reused.
pub struct State {
    pub(crate) devices: Vec<Device>,
    pub(crate) contexts: HashMap<u64, usize>,
    pub(crate) dead_contexts: HashSet<u64>,
    pub(crate) streams: BTreeMap<u64, Stream>,
    /// Serial numbers of live streams by handle.
    pub(crate) stream_handles: HashMap<u64, u64>,
    pub(crate) last_stream: u64,
    pub(crate) per_thread: HashMap<(ThreadId, usize), u64>,
    pub(crate) events: HashMap<u64, Event>,
    pub(crate) pools: HashMap<u64, Pool>,
    pub(crate) allocations: BTreeMap<u64, Allocation>,
    pub(crate) dead: BTreeMap<u64, Dead>,
    pub(crate) host: BTreeMap<u64, HostBlock>,
    pub(crate) graphs: Graphs,
    pub(crate) findings: Findings,
    pub(crate) delay: Delay,
    pub(crate) delays: HashMap<u64, Delay>,
    pub(crate) random: u64,
    pub(crate) reordering: Reordering,
    /// Number of threads that wait until `progress` is signalled.
    pub(crate) waiting: usize,
    pub(crate) handles: Handles,
    /// Whether the process is exiting or the driver was closed.
    pub(crate) ended: bool,
    pub(crate) shared: Weak<Shared>,
}

impl Shared {
    pub(crate) fn new(config: &Config) -> std::io::Result<Arc<Self>> {
        // The address space is larger than the memory. Freed blocks can therefore stay in quarantine, and tests can
        // raise the memory limit.
        let space = config.memory.saturating_mul(4).clamp(8 << 30, 1 << 40).next_multiple_of(1 << 21);
        let arenas = (0..config.devices).map(|_| Arena::new(space)).collect::<std::io::Result<Vec<_>>>()?;
        let handles = Handles::new()?;
        Ok(Arc::new_cyclic(|shared| {
            let mut state = State {
                devices: Vec::new(),
                contexts: HashMap::new(),
                dead_contexts: HashSet::new(),
                streams: BTreeMap::new(),
                stream_handles: HashMap::new(),
                last_stream: 0,
                per_thread: HashMap::new(),
                events: HashMap::new(),
                pools: HashMap::new(),
                allocations: BTreeMap::new(),
                dead: BTreeMap::new(),
                host: BTreeMap::new(),
                graphs: Graphs::default(),
                findings: Findings::default(),
                delay: config.delay,
                delays: HashMap::new(),
                random: config.seed | 1,
                reordering: Reordering::of(config),
                waiting: 0,
                handles,
                ended: false,
                shared: shared.clone(),
            };
            for (index, arena) in arenas.iter().enumerate() {
                let device = Device::new(&mut state, index, arena, config);
                state.devices.push(device);
            }
            Self { state: Mutex::new(state), progress: Condvar::new(), arenas }
        }))
    }

    pub(crate) fn lock(&self) -> Locked<'_> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until some operation completes. The lock is released during the wait.
    pub(crate) fn await_progress<'a>(&self, mut state: Locked<'a>) -> Locked<'a> {
        state.waiting += 1;
        let mut state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    /// Waits until the streams have passed all points. Afterwards all operations that are ordered before these points
    /// count as complete for the host.
    pub(crate) fn wait_for<'a>(&self, mut state: Locked<'a>, points: &[Point], clock: &Clock) -> Locked<'a> {
        state.demand(points);
        while !state.ended && !points.iter().all(|&point| state.has_passed(point)) {
            state = self.await_progress(state);
        }
        state.learn(clock);
        state
    }
}

impl State {
    pub(crate) fn new_handle(&mut self) -> u64 {
        self.handles.take()
    }

    /// Returns whether a stream has completed an operation. A destroyed stream has completed all its operations.
    pub(crate) fn has_passed(&self, (stream, number): Point) -> bool {
        self.streams.get(&stream).is_none_or(|stream| stream.completed >= number)
    }

    /// Returns the number of the last operation of a stream that the host has observed to be complete. All operations
    /// of a destroyed stream count as observed.
    pub(crate) fn known(&self, stream: u64) -> u64 {
        self.streams.get(&stream).map_or(u64::MAX, |stream| stream.known)
    }

    /// Records the host's observation that all operations in the clock are complete.
    ///
    /// An observation by one host thread counts for all host threads, because the driver cannot detect synchronization
    /// between host threads. Work that was complete before other work was submitted cannot race with this work.
    pub(crate) fn learn(&mut self, clock: &Clock) {
        for (stream, number) in clock.entries() {
            let Some(stream) = self.streams.get_mut(&stream) else { continue };
            stream.known = stream.known.max(number);
        }
        self.streams.retain(|_, stream| !(stream.destroyed && stream.known >= stream.submitted));
    }

    pub(crate) fn note(&mut self, kind: Kind, call: &'static str, text: String) {
        self.findings.note(kind, call, text);
    }

    /// Reports that a call received an invalid handle.
    pub(crate) fn bad_handle<T>(&mut self, call: &'static str, what: &str, handle: u64) -> Outcome<T> {
        self.note(Kind::BadHandle, call, format!("{handle:#x} is no {what}, or was destroyed"));
        Err(INVALID_HANDLE)
    }

    /// Returns the name by which findings refer to a stream.
    pub(crate) fn stream_name(&self, serial: u64) -> String {
        match self.streams.get(&serial) {
            Some(stream) => {
                let handle = stream.handle.map_or_else(String::new, |handle| format!(" {handle:#x}"));
                format!("{}{handle} (number {serial}) of device {}", stream.kind.name(), stream.device)
            }
            None => format!("stream number {serial}"),
        }
    }

    /// Returns the delay in microseconds before the next operation of a stream: a random number within the limits of
    /// the stream.
    pub(crate) fn draw_delay(&mut self, stream: u64) -> u64 {
        let Delay { least, most } = self.delays.get(&stream).copied().unwrap_or(self.delay);
        if least == most {
            return least;
        }
        // Marsaglia's xorshift generator suffices, because the numbers need only be reproducible from a seed.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        least + self.random % (most - least + 1)
    }
}
