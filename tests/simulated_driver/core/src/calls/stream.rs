//! Implements streams. The operations of a stream run asynchronously and in order on a thread of the stream.
//!
//! The legacy default stream and the blocking streams of its device wait for each other. The order between their
//! operations is fixed when an operation is submitted.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar};
use std::thread;

use crate::driver::Driver;
use crate::error_codes::{CAPTURE_UNSUPPORTED, INVALID_VALUE, NOT_READY, Outcome};
use crate::graph::Node;
use crate::handles::Reused;
use crate::state::{Locked, Point, State};
use crate::vector_clock::Clock;
use crate::worker::{Operation, Then, Work};

/// Order of a stream's operations relative to the legacy default stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StreamKind {
    /// The legacy default stream itself.
    Legacy,
    /// Blocking stream: the stream and the legacy default stream wait for each other.
    Blocking,
    /// Default stream of one thread. It behaves like a `Blocking` stream.
    PerThread,
    /// Non-blocking stream: the stream and the legacy default stream do not wait for each other.
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

/// Handle by which programs identify the legacy default stream of the current device; the handle 0 has the same
/// meaning.
pub const LEGACY: u64 = 1;
/// Handle by which programs identify the calling thread's default stream on the current device.
pub const PER_THREAD: u64 = 2;
/// Least and greatest priority of a stream; a lower number is a higher priority.
pub const PRIORITIES: (i32, i32) = (0, -5);

pub(crate) struct Stream {
    /// Handle by which programs identify the stream, or `None` for a default stream.
    pub(crate) handle: Option<u64>,
    pub(crate) device: usize,
    pub(crate) kind: StreamKind,
    pub(crate) priority: i32,
    pub(crate) queue: VecDeque<Operation>,
    /// Number of the last submitted operation. The next two fields contain the numbers of the last complete operation
    /// and of the last operation that the host has observed to be complete.
    pub(crate) submitted: u64,
    pub(crate) completed: u64,
    pub(crate) known: u64,
    /// Operations of other streams that happen before the next operation of this stream.
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

    /// Returns the points of other streams for which this stream's operations up to `number` wait.
    pub(crate) fn ordered_before(&self, number: u64) -> impl Iterator<Item = Point> {
        self.queue.iter().take_while(move |one| one.number <= number).flat_map(|one| one.waits_for.iter().copied())
    }

    fn is_legacy_ordered(&self) -> bool {
        self.kind != StreamKind::NonBlocking
    }
}

impl State {
    /// Returns the stream that a handle denotes in a thread. `device` is the current device of the thread.
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

    /// Creates a stream; returns its serial number.
    pub(crate) fn add_stream(&mut self, device: usize, kind: StreamKind, priority: i32, handle: Option<u64>) -> u64 {
        self.last_stream += 1;
        self.streams.insert(self.last_stream, Stream::new(device, kind, priority, handle));
        if let Some(handle) = handle {
            self.stream_handles.insert(handle, self.last_stream);
        }
        self.last_stream
    }

    /// Makes the handle of a destroyed stream available for reuse. Pending operations of the stream still run.
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

    /// Applies the ordering rules of default streams to the next operation of a stream; returns the points for which
    /// that operation must wait.
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

    /// Appends an operation without memory accesses; returns its number.
    pub(crate) fn append(&mut self, handle: u64, work: Option<Work>, then: Then) -> Outcome<u64> {
        let waits_for = self.order(handle);
        self.push(handle, waits_for, work, then)
    }

    /// Returns the current ends of the selected streams, with all operations that happen before these ends.
    pub(crate) fn frontier(&self, is_selected: impl Fn(u64, &Stream) -> bool) -> (Vec<Point>, Clock) {
        let mut clock = Clock::default();
        let mut points = Vec::new();
        for (&handle, stream) in self.streams.iter().filter(|(handle, stream)| is_selected(**handle, stream)) {
            if stream.known < stream.submitted {
                clock.join(&stream.clock);
                clock.raise(handle, stream.submitted);
                points.push((handle, stream.submitted));
            }
        }
        (points, clock)
    }

    /// Returns the points of streams for which the host waits when it synchronizes a stream. For the legacy default
    /// stream these include the ends of all blocking streams.
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
    /// Creates a stream.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_stream(&self, device: usize, non_blocking: bool, priority: i32) -> Outcome<u64> {
        let mut state = self.lock();
        let handle = state.handles.take_again(Reused::Stream);
        let kind = if non_blocking { StreamKind::NonBlocking } else { StreamKind::Blocking };
        let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
        state.add_stream(device, kind, priority, Some(handle));
        Ok(handle)
    }

    /// Destroys a stream; pending operations still run.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
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

    /// Blocks the calling thread until a stream is idle.
    ///
    /// # Errors
    /// The error code of this call, or of earlier work that failed.
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

    /// Queries whether all operations of a stream are complete.
    ///
    /// # Errors
    /// `NOT_READY`, or another error code.
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

    /// Enqueues a call of a host function on a stream.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
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

    /// Returns the device of a stream, whether it is non-blocking, and its priority.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn describe_stream(&self, call: &'static str, device: usize, handle: u64) -> Outcome<(usize, bool, i32)> {
        let mut state = self.lock();
        let handle = state.resolve(call, device, handle)?;
        let stream = state.streams.get(&handle).ok_or(INVALID_VALUE)?;
        Ok((stream.device, stream.kind == StreamKind::NonBlocking, stream.priority))
    }

    /// Returns whether a stream is non-blocking. Fails while the stream captures, as observed on an H200 with CUDA 13.0.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn is_non_blocking(&self, call: &'static str, device: usize, handle: u64) -> Outcome<bool> {
        let mut state = self.lock();
        let handle = state.resolve(call, device, handle)?;
        let stream = state.streams.get(&handle).ok_or(INVALID_VALUE)?;
        let is_non_blocking = stream.kind == StreamKind::NonBlocking;
        match state.capture_of(handle)? {
            Some(_) => Err(CAPTURE_UNSUPPORTED),
            None => Ok(is_non_blocking),
        }
    }

    /// Returns the id of a stream. Unlike a handle, an id is never reused.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn stream_id(&self, call: &'static str, device: usize, handle: u64) -> Outcome<u64> {
        self.lock().resolve(call, device, handle)
    }

    /// Sets the delay before each operation of the stream with the serial number `stream`. `None` sets the delay of all
    /// streams that have no individual delay.
    pub(crate) fn set_delay(&self, stream: Option<u64>, delay: crate::config::Delay) {
        let mut state = self.lock();
        match stream {
            Some(stream) => drop(state.delays.insert(stream, delay)),
            None => state.delay = delay,
        }
    }

    /// Blocks the calling thread until all work of a device is complete.
    ///
    /// # Errors
    /// The code of earlier work that failed.
    pub fn synchronize_device(&self, device: usize) -> Outcome<()> {
        self.lock().refuse_while_capturing(device)?;
        let state = self.drain(device);
        state.check(device)
    }

    /// Waits until all work of a device is complete. The lock is released during the wait.
    pub(crate) fn drain(&self, device: usize) -> Locked<'_> {
        let state = self.lock();
        let (points, clock) = state.frontier(|_, stream| stream.device == device);
        let mut state = self.shared.wait_for(state, &points, &clock);
        state.settle_pools(device);
        state
    }
}
