//! Streams: what is submitted to one runs in order, later, on a thread of its own.
//!
//! The legacy default stream waits for the blocking streams of its device and they for it. Each operation's place in that
//! order is fixed when it is submitted.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar};
use std::thread;

use crate::clock::Clock;
use crate::code::{INVALID_VALUE, NOT_READY, Outcome};
use crate::driver::Driver;
use crate::graph::Node;
use crate::handles::Reused;
use crate::state::{Locked, Point, State};
use crate::worker::{Operation, Then, Work};

/// How a stream is ordered against the legacy default stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamKind {
    /// It is the legacy default stream.
    Legacy,
    /// It waits for that one, and that one for it.
    Blocking,
    /// The same, and it is a thread's default stream.
    PerThread,
    /// Not at all.
    NonBlocking,
}

impl StreamKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Legacy => "the default stream",
            Self::Blocking => "stream",
            Self::PerThread => "a thread's default stream",
            Self::NonBlocking => "non-blocking stream",
        }
    }
}

/// The handle of the legacy default stream of the current device. 0 is the same.
pub const LEGACY: u64 = 1;
/// The handle of the calling thread's default stream of the current device.
pub const PER_THREAD: u64 = 2;
/// The greatest priority is the lowest number.
pub const PRIORITIES: (i32, i32) = (0, -5);

pub(crate) struct Stream {
    /// What programs call it; the default streams have no number of their own.
    pub(crate) handle: Option<u64>,
    pub(crate) device: usize,
    pub(crate) kind: StreamKind,
    pub(crate) priority: i32,
    pub(crate) queue: VecDeque<Operation>,
    /// The number of the last operation that was submitted, that has ended, and whose end the host knows of.
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    pub(crate) known: u64,
    /// What the next operation is ordered behind, the stream's own operations aside.
    pub(crate) clock: Clock,
    pub(crate) wake: Arc<Condvar>,
    pub(crate) has_worker: bool,
    pub(crate) destroyed: bool,
}

impl Stream {
    fn new(device: usize, kind: StreamKind, priority: i32, handle: Option<u64>) -> Self {
        Self {
            handle,
            device,
            kind,
            priority,
            queue: VecDeque::new(),
            submitted: 0,
            completed: 0,
            known: 0,
            clock: Clock::default(),
            wake: Arc::default(),
            has_worker: false,
            destroyed: false,
        }
    }

    /// What the operations up to a number wait for.
    pub(crate) fn ordered_before(&self, number: u64) -> impl Iterator<Item = Point> {
        self.queue.iter().take_while(move |one| one.number <= number).flat_map(|one| one.waits_for.iter().copied())
    }

    fn is_legacy_ordered(&self) -> bool {
        self.kind != StreamKind::NonBlocking
    }
}

impl State {
    /// The stream that a handle names for a thread whose current device is `device`.
    pub(crate) fn resolve(&mut self, call: &'static str, device: usize, handle: u64) -> Outcome<u64> {
        match handle {
            0 | LEGACY => Ok(self.devices[device].legacy),
            PER_THREAD => Ok(self.per_thread_stream(device)),
            handle => match self.stream_handles.get(&handle) {
                Some(&serial) => Ok(serial),
                None => self.bad_handle(call, "stream", handle),
            },
        }
    }

    /// Begins the life of a stream; its serial number.
    pub(crate) fn add_stream(&mut self, device: usize, kind: StreamKind, priority: i32, handle: Option<u64>) -> u64 {
        self.last_stream += 1;
        self.streams.insert(self.last_stream, Stream::new(device, kind, priority, handle));
        if let Some(handle) = handle {
            self.stream_handles.insert(handle, self.last_stream);
        }
        self.last_stream
    }

    /// Ends a stream for programs: its handle may be that of the next one. What is under way goes on.
    pub(crate) fn end_stream(&mut self, serial: u64) {
        let Some(stream) = self.streams.get_mut(&serial) else { return };
        stream.destroyed = true;
        stream.wake.notify_all();
        if let Some(handle) = stream.handle
            && self.stream_handles.remove(&handle).is_some()
        {
            self.handles.give(Reused::Stream, handle);
        }
    }

    fn per_thread_stream(&mut self, device: usize) -> u64 {
        let key = (thread::current().id(), device);
        if let Some(serial) = self.per_thread.get(&key) {
            return *serial;
        }
        let serial = self.add_stream(device, StreamKind::PerThread, 0, None);
        self.per_thread.insert(key, serial);
        serial
    }

    /// Orders the next operation of a stream behind what the default stream's rules say; the points to wait for.
    pub(crate) fn order(&mut self, handle: u64) -> Vec<Point> {
        let Some(stream) = self.streams.get_mut(&handle) else { return Vec::new() };
        let (device, kind) = (stream.device, stream.kind);
        let mut clock = std::mem::take(&mut stream.clock);
        let mut waits_for = Vec::new();
        let others: &mut dyn Iterator<Item = (&u64, &Stream)> = match kind {
            StreamKind::NonBlocking => &mut std::iter::empty(),
            StreamKind::Legacy => &mut self.streams.iter(),
            StreamKind::Blocking | StreamKind::PerThread => {
                let legacy = self.devices[device].legacy;
                &mut self.streams.get_key_value(&legacy).into_iter()
            }
        };
        for (&other, stream) in others {
            let counts = other != handle && stream.device == device && stream.is_legacy_ordered();
            if !counts || stream.known >= stream.submitted {
                continue;
            }
            clock.join(&stream.clock);
            clock.raise(other, stream.submitted);
            waits_for.push((other, stream.submitted));
        }
        clock.retain(|stream, number| self.known(stream) < number);
        if let Some(stream) = self.streams.get_mut(&handle) {
            stream.clock = clock;
        }
        waits_for
    }

    /// Appends an operation without touching memory; its number.
    pub(crate) fn append(&mut self, handle: u64, work: Option<Work>, then: Then) -> Outcome<u64> {
        let waits_for = self.order(handle);
        self.push(handle, waits_for, work, then)
    }

    /// Where some streams are now, and all that is ordered before.
    pub(crate) fn frontier(&self, wanted: impl Fn(u64, &Stream) -> bool) -> (Vec<Point>, Clock) {
        let mut clock = Clock::default();
        let mut points = Vec::new();
        for (&handle, stream) in self.streams.iter().filter(|(handle, stream)| wanted(**handle, stream)) {
            if stream.known < stream.submitted {
                clock.join(&stream.clock);
                clock.raise(handle, stream.submitted);
                points.push((handle, stream.submitted));
            }
        }
        (points, clock)
    }

    /// What waiting for a stream waits for: the legacy default stream stands for all blocking ones.
    fn frontier_of(&self, handle: u64) -> (Vec<Point>, Clock) {
        match self.streams.get(&handle) {
            Some(stream) if stream.kind == StreamKind::Legacy => {
                let device = stream.device;
                self.frontier(|_, other| other.device == device && other.is_legacy_ordered())
            }
            _ => self.frontier(|other, _| other == handle),
        }
    }
}

impl Driver {
    /// A stream.
    ///
    /// # Errors
    /// A code.
    pub fn create_stream(&self, device: usize, non_blocking: bool, priority: i32) -> Outcome<u64> {
        let mut state = self.lock();
        let handle = state.handles.take_again(Reused::Stream);
        let kind = if non_blocking { StreamKind::NonBlocking } else { StreamKind::Blocking };
        let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
        state.add_stream(device, kind, priority, Some(handle));
        Ok(handle)
    }

    /// Ends a stream; what is under way goes on.
    ///
    /// # Errors
    /// A code.
    pub fn destroy_stream(&self, call: &'static str, device: usize, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        if handle <= PER_THREAD {
            return state.bad_handle(call, "stream that can be destroyed", handle);
        }
        let serial = state.resolve(call, device, handle)?;
        state.end_stream(serial);
        state.delays.remove(&serial);
        state.learn(&Clock::default());
        Ok(())
    }

    /// Waits for a stream.
    ///
    /// # Errors
    /// A code, also that of earlier work that failed.
    pub fn synchronize_stream(&self, call: &'static str, device: usize, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let handle = state.resolve(call, device, handle)?;
        state.refuse_capturing(handle)?;
        let (points, clock) = state.frontier_of(handle);
        state = self.shared.wait_for(state, &points, &clock);
        let device = state.streams.get(&handle).map_or(device, |stream| stream.device);
        state.settle_pools(device);
        state.check(device)
    }

    /// Whether a stream is done.
    ///
    /// # Errors
    /// `NOT_READY`, or another code.
    pub fn query_stream(&self, call: &'static str, device: usize, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let handle = state.resolve(call, device, handle)?;
        state.refuse_capturing(handle)?;
        let (points, clock) = state.frontier_of(handle);
        if !points.iter().all(|&point| state.has_passed(point)) {
            return Err(NOT_READY);
        }
        state.learn(&clock);
        let device = state.streams.get(&handle).map_or(device, |stream| stream.device);
        state.check(device)
    }

    /// Runs a function of the host in the order of a stream.
    ///
    /// # Errors
    /// A code.
    pub fn launch_host(
        &self,
        call: &'static str,
        device: usize,
        handle: u64,
        function: impl Fn() + Send + Sync + 'static,
    ) -> Outcome<()> {
        let mut state = self.lock();
        let handle = state.resolve(call, device, handle)?;
        if let Some(capture) = state.capture_of(handle)? {
            state.keep_node(capture, handle, Node::new(Arc::new(function), Vec::new(), None, call));
            return Ok(());
        }
        state.append(handle, Some(Box::new(function)), Then::Nothing).map(drop)
    }

    /// What a stream is: its device, whether it is non-blocking, its priority.
    ///
    /// # Errors
    /// A code.
    pub fn describe_stream(&self, call: &'static str, device: usize, handle: u64) -> Outcome<(usize, bool, i32)> {
        let mut state = self.lock();
        let handle = state.resolve(call, device, handle)?;
        let stream = state.streams.get(&handle).ok_or(INVALID_VALUE)?;
        Ok((stream.device, stream.kind == StreamKind::NonBlocking, stream.priority))
    }

    /// What a stream is called for ever, where handles are used again.
    ///
    /// # Errors
    /// A code.
    pub fn stream_id(&self, call: &'static str, device: usize, handle: u64) -> Outcome<u64> {
        self.lock().resolve(call, device, handle)
    }

    /// The delay of a stream, given its serial number, or of all that have none of their own.
    pub(crate) fn set_delay(&self, stream: Option<u64>, delay: crate::config::Delay) {
        let mut state = self.lock();
        match stream {
            Some(stream) => drop(state.delays.insert(stream, delay)),
            None => state.delay = delay,
        }
    }

    /// Waits for everything on a device.
    ///
    /// # Errors
    /// The code of earlier work that failed.
    pub fn synchronize_device(&self, device: usize) -> Outcome<()> {
        self.lock().refuse_while_capturing(device)?;
        let state = self.drain(device);
        state.check(device)
    }

    /// Waits for everything on a device; the lock is free meanwhile.
    pub(crate) fn drain(&self, device: usize) -> Locked<'_> {
        let state = self.lock();
        let (points, clock) = state.frontier(|_, stream| stream.device == device);
        let mut state = self.shared.wait_for(state, &points, &clock);
        state.settle_pools(device);
        state
    }
}
