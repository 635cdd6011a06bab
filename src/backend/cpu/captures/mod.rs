//! Implements graphs of the CPU backend: work is recorded while a stream captures, and executed at each launch of the
//! graph.
//!
//! A graph is a list of operations in recording order. A stream joins a capture when it waits for a captured event, and
//! its later operations are appended to the same list. Hence the order of the list satisfies all waits between the
//! streams. Calls that a GPU driver rejects during a capture are rejected here with the same codes. Such calls also
//! invalidate the capture, as in the driver.

mod operation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

pub use operation::{ConditionValue, GraphBody, Operation};

use super::error_codes::{self, INVALID_HANDLE, refuse};
use crate::{Captured, ConditionHandle, GraphHandle, HostWork, NodeHandle, NodeKind, StreamHandle};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{ForkSafeGuard, ForkSafeMutex};

/// Holds the active captures, and the graphs that ended captures have created.
pub struct Captures {
    /// Number of streams that are capturing. While it is 0, no call takes the lock of `table`.
    streams: AtomicUsize,
    table: &'static ForkSafeMutex<CaptureRegistry>,
}

/// The table of captures and graphs of the process. Only tests create other tables.
pub static TABLE: ForkSafeMutex<CaptureRegistry> = ForkSafeMutex::new(CaptureRegistry::new());

/// All captures and graphs of the process. The lock of [`TABLE`] protects them.
pub struct CaptureRegistry {
    last: usize,
    /// The id of the capture in which each capturing stream takes part.
    streams: BTreeMap<usize, u64>,
    captures: BTreeMap<u64, CpuCapture>,
    /// The operations of each graph handle and executable-graph handle. A graph and its executable graph share one
    /// `GraphWork`.
    graphs: BTreeMap<usize, GraphWork>,
    /// Bodies of conditional operations by handle. The conditional operations own the bodies.
    bodies: BTreeMap<usize, Weak<GraphBody>>,
    /// Conditions of graphs, by handle. A condition is owned by the caller that created it and by the conditional
    /// operations that use it.
    conditions: BTreeMap<u64, Weak<ConditionValue>>,
}

/// The operations of a graph in order. The handle of an operation is its index plus 1.
pub type GraphWork = Arc<Vec<Arc<Operation>>>;

struct CpuCapture {
    origin: usize,
    is_valid: bool,
    work: Vec<Arc<Operation>>,
    /// Index of the last operation of each stream in the capture.
    last: BTreeMap<usize, usize>,
    /// Set if the operations are captured into the body of a conditional operation: the handle of the body, and the
    /// body.
    body: Option<(usize, Arc<GraphBody>)>,
}

impl Captures {
    pub const fn new(table: &'static ForkSafeMutex<CaptureRegistry>) -> Self {
        Self { streams: AtomicUsize::new(0), table }
    }

    /// Returns whether any stream is capturing.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.streams.load(Ordering::Acquire) != 0
    }

    /// Returns the id of the capture in which a stream takes part.
    #[inline]
    pub fn of(&self, stream: StreamHandle) -> Option<u64> {
        if self.is_any() { self.lock().streams.get(&stream.0).copied() } else { None }
    }

    /// Returns the id of the capture that will record the stream's next operation, or `None` if the operation is to be
    /// executed now.
    #[inline]
    pub fn next(&self, operation: &'static str, stream: StreamHandle) -> Result<Option<u64>> {
        if self.is_any() { self.lock().next(operation, stream) } else { Ok(None) }
    }

    /// Returns an error unless the stream takes part in a capture.
    pub fn next_or_refuse(&self, operation: &'static str, stream: StreamHandle) -> Result<()> {
        self.lock().capture_of(operation, stream).map(drop)
    }

    /// Appends work to the graph that the stream captures.
    pub fn keep(&self, operation: &'static str, stream: StreamHandle, kind: NodeKind, work: HostWork) -> Result<()> {
        self.keep_all_of(operation, stream, Operation::new(kind, work))
    }

    /// Appends an operation to the graph that the stream captures. The caller sets all fields of the operation.
    pub fn keep_all_of(&self, operation: &'static str, stream: StreamHandle, kept: Operation) -> Result<()> {
        let mut table = self.lock();
        let capture = table.capture_of(operation, stream)?;
        capture.work.push(Arc::new(kept));
        capture.last.insert(stream.0, capture.work.len());
        Ok(())
    }

    /// Returns the number of operations that the capture contains so far, and the last operation of the stream among
    /// them.
    pub fn captured(&self, stream: StreamHandle) -> Captured {
        let table = self.lock();
        let capture = table.streams.get(&stream.0).and_then(|number| table.captures.get(number));
        capture.filter(|capture| capture.is_valid).map_or(Captured { nodes: 0, last: None }, |capture| Captured {
            nodes: capture.work.len(),
            last: capture.last.get(&stream.0).copied().map(NodeHandle),
        })
    }

    /// Returns an error if the stream is capturing, and invalidates the capture. Operations that cannot be captured
    /// call this function.
    #[inline]
    pub fn refuse(&self, operation: &'static str, stream: StreamHandle) -> Result<()> {
        if self.is_any() { self.refuse_with(operation, stream, error_codes::CAPTURE_UNSUPPORTED) } else { Ok(()) }
    }

    /// Returns an error if the stream is capturing, and invalidates the capture. Functions that wait for work outside
    /// of the capture call this function.
    #[inline]
    pub fn refuse_outside(&self, operation: &'static str, stream: StreamHandle) -> Result<()> {
        if self.is_any() { self.refuse_with(operation, stream, error_codes::CAPTURE_ISOLATION) } else { Ok(()) }
    }

    #[cold]
    fn refuse_with(&self, operation: &'static str, stream: StreamHandle, code: u32) -> Result<()> {
        if self.next(operation, stream)?.is_none() {
            return Ok(());
        }
        let mut table = self.lock();
        table.capture_of(operation, stream)?.is_valid = false;
        Err(refuse(operation, code, described(stream)))
    }

    /// Returns an error if any stream is capturing. Operations that wait for all streams call this function.
    pub fn refuse_any(&self, operation: &'static str) -> Result<()> {
        if !self.is_any() {
            return Ok(());
        }
        let first = self.lock().streams.keys().min().copied();
        first.map_or(Ok(()), |stream| self.refuse(operation, StreamHandle(stream)))
    }

    /// Makes a stream wait for a point of a capture. The stream joins the capture by this wait.
    pub fn join(&self, operation: &'static str, stream: StreamHandle, capture: u64) -> Result<()> {
        let mut table = self.lock();
        match table.streams.get(&stream.0).copied() {
            Some(own) if own == capture => Ok(()),
            Some(_) => {
                table.capture_of(operation, stream)?.is_valid = false;
                Err(refuse(operation, error_codes::CAPTURE_MERGE, described(stream)))
            }
            None if is_default(stream) => match table.captures.get_mut(&capture) {
                Some(capture) => {
                    capture.is_valid = false;
                    Err(refuse(operation, error_codes::CAPTURE_IMPLICIT, described(stream)))
                }
                None => Ok(()),
            },
            None if table.captures.contains_key(&capture) => {
                table.streams.insert(stream.0, capture);
                self.count(&table);
                Ok(())
            }
            None => Err(refuse(operation, error_codes::ILLEGAL_STATE, described(stream))),
        }
    }

    /// Removes a stream that is being destroyed from the capture in which it takes part, if there is one.
    pub fn forget(&self, stream: StreamHandle) {
        if self.of(stream).is_some() {
            let mut table = self.lock();
            table.streams.remove(&stream.0);
            self.count(&table);
        }
    }

    pub fn begin(&self, stream: StreamHandle, body: Option<GraphHandle>) -> Result<()> {
        let operation = "begin_capture";
        if is_default(stream) {
            return Err(refuse(operation, error_codes::CAPTURE_UNSUPPORTED, described(stream)));
        }
        let mut table = self.lock();
        if table.streams.contains_key(&stream.0) {
            return Err(refuse(operation, error_codes::ILLEGAL_STATE, described(stream)));
        }
        let body = match body {
            Some(handle) => Some((handle.0, table.body(operation, handle)?)),
            None => None,
        };
        let capture = table.new_number();
        table.streams.insert(stream.0, capture as u64);
        table.captures.insert(
            capture as u64,
            CpuCapture { origin: stream.0, is_valid: true, work: Vec::new(), last: BTreeMap::new(), body },
        );
        self.count(&table);
        Ok(())
    }

    pub fn end(&self, stream: StreamHandle) -> Result<GraphHandle> {
        let operation = "end_capture";
        let illegal = || refuse(operation, error_codes::ILLEGAL_STATE, described(stream));
        let mut table = self.lock();
        let number = table.streams.get(&stream.0).copied().ok_or_else(illegal)?;
        let known = table.captures.get_mut(&number).ok_or_else(illegal)?;
        if known.origin != stream.0 {
            known.is_valid = false;
            return Err(refuse(operation, error_codes::CAPTURE_UNMATCHED, described(stream)));
        }
        table.streams.retain(|_, capture| *capture != number);
        self.count(&table);
        let ended = table.captures.remove(&number).ok_or_else(illegal)?;
        if !ended.is_valid {
            drop(table); // releases the lock first, because the drop of the work may free an array
            return Err(refuse(operation, error_codes::CAPTURE_INVALIDATED, described(stream)));
        }
        let Some((handle, body)) = ended.body else { return Ok(GraphHandle(table.enter(Arc::new(ended.work)))) };
        drop(table);
        body.extend(ended.work);
        Ok(GraphHandle(handle))
    }

    pub fn graph(&self, operation: &'static str, handle: usize) -> Result<GraphWork> {
        let found = self.lock().graphs.get(&handle).cloned();
        found.ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {handle}")))
    }

    /// Replaces the recorded work of a graph. A launch in progress continues with the previous work.
    pub fn exchange(&self, operation: &'static str, handle: usize, work: GraphWork) -> Result<()> {
        let mut table = self.lock();
        let before = table.graphs.get_mut(&handle).map(|known| std::mem::replace(known, work));
        drop(table); // releases the lock first, because the drop of the work may free an array
        before.map(drop).ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {handle}")))
    }

    pub fn destroy(&self, operation: &'static str, handle: usize) -> Result<()> {
        // The graph's work is dropped after the lock is released, because the drop may free an array.
        let graph = self.lock().graphs.remove(&handle);
        graph.map(drop).ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {handle}")))
    }

    fn count(&self, table: &CaptureRegistry) {
        self.streams.store(table.streams.len(), Ordering::Release);
    }

    pub fn lock(&self) -> ForkSafeGuard<CaptureRegistry> {
        self.table.lock()
    }
}

impl CaptureRegistry {
    pub const fn new() -> Self {
        Self {
            last: 0,
            streams: BTreeMap::new(),
            captures: BTreeMap::new(),
            graphs: BTreeMap::new(),
            bodies: BTreeMap::new(),
            conditions: BTreeMap::new(),
        }
    }

    /// Registers a conditional operation's body and returns its handle.
    pub fn enter_body(&mut self, body: &Arc<GraphBody>) -> GraphHandle {
        self.bodies.retain(|_, known| known.strong_count() != 0);
        let handle = self.new_number();
        self.bodies.insert(handle, Arc::downgrade(body));
        GraphHandle(handle)
    }

    fn body(&self, operation: &'static str, handle: GraphHandle) -> Result<Arc<GraphBody>> {
        let known = self.bodies.get(&handle.0).and_then(Weak::upgrade);
        known.ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {}", handle.0)))
    }

    /// Stores a condition in the table, so that it can be found by its handle.
    pub fn enter_condition(&mut self, cell: &Arc<ConditionValue>) {
        self.conditions.retain(|_, known| known.strong_count() != 0);
        self.conditions.insert(cell.handle().0, Arc::downgrade(cell));
    }

    pub fn condition(&self, operation: &'static str, handle: ConditionHandle) -> Result<Arc<ConditionValue>> {
        let known = self.conditions.get(&handle.0).and_then(Weak::upgrade);
        known.ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("condition {:#x}", handle.0)))
    }

    fn new_number(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    pub fn enter(&mut self, work: GraphWork) -> usize {
        let handle = self.new_number();
        self.graphs.insert(handle, work);
        handle
    }

    /// Returns the id of the capture that will record a stream's next operation. An operation on the default stream is
    /// an error while a blocking stream is capturing: the default stream waits for blocking streams and would become
    /// part of the capture.
    fn next(&mut self, operation: &'static str, stream: StreamHandle) -> Result<Option<u64>> {
        if self.streams.contains_key(&stream.0) {
            self.capture_of(operation, stream)?;
            return Ok(self.streams.get(&stream.0).copied());
        }
        let bound =
            self.streams.iter().find(|(other, _)| is_blocking(StreamHandle(**other))).map(|(_, &capture)| capture);
        match bound.and_then(|capture| self.captures.get_mut(&capture)) {
            Some(capture) if is_default(stream) => {
                capture.is_valid = false;
                Err(refuse(operation, error_codes::CAPTURE_IMPLICIT, described(stream)))
            }
            _ => Ok(None),
        }
    }

    /// Returns the capture in which a stream takes part. Returns an error if the capture was invalidated.
    fn capture_of(&mut self, operation: &'static str, stream: StreamHandle) -> Result<&mut CpuCapture> {
        let number = self.streams.get(&stream.0).copied();
        match number.and_then(|number| self.captures.get_mut(&number)) {
            Some(capture) if capture.is_valid => Ok(capture),
            Some(_) => Err(refuse(operation, error_codes::CAPTURE_INVALIDATED, described(stream))),
            None => Err(refuse(operation, error_codes::ILLEGAL_STATE, described(stream))),
        }
    }
}

fn is_default(stream: StreamHandle) -> bool {
    matches!(stream, StreamHandle(0 | 1))
}

/// Returns the handle of the stream with the given number. The handle also encodes whether the stream is non-blocking.
pub fn stream_handle(number: usize, non_blocking: bool) -> StreamHandle {
    StreamHandle(number * 2 + usize::from(non_blocking))
}

/// Returns whether the stream and the default stream wait for each other.
pub fn is_blocking(stream: StreamHandle) -> bool {
    stream.0.is_multiple_of(2)
}

fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}
