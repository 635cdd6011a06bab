//! Graphs of the host: work that is kept while a stream captures, and done at each launch.
//!
//! A graph is a list, in the order in which the work came. A stream takes part in a capture from its wait for one that does, and
//! what it is given comes after that, so that the list is one of the orders that the waits allow. What a driver refuses during a
//! capture is refused here with the same codes, and spoils the capture as there.

mod operation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

pub use operation::{Body, Cell, Operation};

use super::codes::{self, INVALID_HANDLE, refuse};
use crate::{Captured, ConditionHandle, GraphHandle, HostWork, NodeHandle, NodeKind, StreamHandle};
use pygpu_base::error::Result;
use pygpu_base::fork_safe::{Global, Guard};

/// The captures under way, and what came of those that ended.
pub struct Captures {
    /// How many streams take part in one: as long as there are none, nobody looks further.
    streams: AtomicUsize,
    table: &'static Global<Table>,
}

/// The table of the host.
pub static TABLE: Global<Table> = Global::new(Table::new());

/// What is known of captures and graphs.
pub struct Table {
    last: usize,
    /// Which capture a stream takes part in.
    streams: BTreeMap<usize, u64>,
    captures: BTreeMap<u64, Capture>,
    /// Graphs and what is launched of them: the same work under two handles.
    graphs: BTreeMap<usize, Work>,
    /// Bodies of operations in which a condition decides; their operations keep them.
    bodies: BTreeMap<usize, Weak<Body>>,
    /// Conditions by their handles; whoever made one keeps it, and the operations in which it decides.
    conditions: BTreeMap<u64, Weak<Cell>>,
}

/// The operations of a graph, in their order. The handle of one is its place, from 1 on.
pub type Work = Arc<Vec<Arc<Operation>>>;

struct Capture {
    origin: usize,
    is_valid: bool,
    work: Vec<Arc<Operation>>,
    /// The last operation of each stream.
    last: BTreeMap<usize, usize>,
    /// Where the work goes, if it is not a graph of its own.
    body: Option<(usize, Arc<Body>)>,
}

impl Captures {
    pub const fn new(table: &'static Global<Table>) -> Self {
        Self { streams: AtomicUsize::new(0), table }
    }

    /// Whether any stream takes part in a capture.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.streams.load(Ordering::Acquire) != 0
    }

    /// The capture that a stream takes part in.
    #[inline]
    pub fn of(&self, stream: StreamHandle) -> Option<u64> {
        if self.is_any() { self.lock().streams.get(&stream.0).copied() } else { None }
    }

    /// The capture in which the stream's next operation goes.
    #[inline]
    pub fn next(&self, operation: &'static str, stream: StreamHandle) -> Result<Option<u64>> {
        if self.is_any() { self.lock().next(operation, stream) } else { Ok(None) }
    }

    /// Refuses a stream that does not capture.
    pub fn next_or_refuse(&self, operation: &'static str, stream: StreamHandle) -> Result<()> {
        self.lock().capture_of(operation, stream).map(drop)
    }

    /// Keeps work for the graph of the stream's capture.
    pub fn keep(&self, operation: &'static str, stream: StreamHandle, kind: NodeKind, work: HostWork) -> Result<()> {
        self.keep_all_of(operation, stream, Operation::new(kind, work))
    }

    /// As [`Captures::keep`], of an operation that has more to it.
    pub fn keep_all_of(&self, operation: &'static str, stream: StreamHandle, kept: Operation) -> Result<()> {
        let mut table = self.lock();
        let capture = table.capture_of(operation, stream)?;
        capture.work.push(Arc::new(kept));
        capture.last.insert(stream.0, capture.work.len());
        Ok(())
    }

    /// What the capture of a stream holds by now.
    pub fn captured(&self, stream: StreamHandle) -> Captured {
        let table = self.lock();
        let capture = table.streams.get(&stream.0).and_then(|number| table.captures.get(number));
        capture.filter(|capture| capture.is_valid).map_or(Captured { nodes: 0, last: None }, |capture| Captured {
            nodes: capture.work.len(),
            last: capture.last.get(&stream.0).copied().map(NodeHandle),
        })
    }

    /// Refuses what no capture can hold, if the stream takes part in one.
    #[inline]
    pub fn refuse(&self, operation: &'static str, stream: StreamHandle) -> Result<()> {
        if self.is_any() { self.refuse_with(operation, stream, codes::CAPTURE_UNSUPPORTED) } else { Ok(()) }
    }

    /// Refuses the wait of a capturing stream for work that is not captured.
    #[inline]
    pub fn refuse_outside(&self, operation: &'static str, stream: StreamHandle) -> Result<()> {
        if self.is_any() { self.refuse_with(operation, stream, codes::CAPTURE_ISOLATION) } else { Ok(()) }
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

    /// Refuses what waits for all streams, if any takes part in a capture.
    pub fn refuse_any(&self, operation: &'static str) -> Result<()> {
        if !self.is_any() {
            return Ok(());
        }
        let first = self.lock().streams.keys().min().copied();
        first.map_or(Ok(()), |stream| self.refuse(operation, StreamHandle(stream)))
    }

    /// Makes a stream wait for a point of a capture: it takes part from then on.
    pub fn join(&self, operation: &'static str, stream: StreamHandle, capture: u64) -> Result<()> {
        let mut table = self.lock();
        match table.streams.get(&stream.0).copied() {
            Some(own) if own == capture => Ok(()),
            Some(_) => {
                table.capture_of(operation, stream)?.is_valid = false;
                Err(refuse(operation, codes::CAPTURE_MERGE, described(stream)))
            }
            None if is_default(stream) => match table.captures.get_mut(&capture) {
                Some(capture) => {
                    capture.is_valid = false;
                    Err(refuse(operation, codes::CAPTURE_IMPLICIT, described(stream)))
                }
                None => Ok(()),
            },
            None if table.captures.contains_key(&capture) => {
                table.streams.insert(stream.0, capture);
                self.count(&table);
                Ok(())
            }
            None => Err(refuse(operation, codes::ILLEGAL_STATE, described(stream))),
        }
    }

    /// A stream ends.
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
            return Err(refuse(operation, codes::CAPTURE_UNSUPPORTED, described(stream)));
        }
        let mut table = self.lock();
        if table.streams.contains_key(&stream.0) {
            return Err(refuse(operation, codes::ILLEGAL_STATE, described(stream)));
        }
        let body = match body {
            Some(handle) => Some((handle.0, table.body(operation, handle)?)),
            None => None,
        };
        let capture = table.new_number();
        table.streams.insert(stream.0, capture as u64);
        table.captures.insert(
            capture as u64,
            Capture { origin: stream.0, is_valid: true, work: Vec::new(), last: BTreeMap::new(), body },
        );
        self.count(&table);
        Ok(())
    }

    pub fn end(&self, stream: StreamHandle) -> Result<GraphHandle> {
        let operation = "end_capture";
        let illegal = || refuse(operation, codes::ILLEGAL_STATE, described(stream));
        let mut table = self.lock();
        let number = table.streams.get(&stream.0).copied().ok_or_else(illegal)?;
        let known = table.captures.get_mut(&number).ok_or_else(illegal)?;
        if known.origin != stream.0 {
            known.is_valid = false;
            return Err(refuse(operation, codes::CAPTURE_UNMATCHED, described(stream)));
        }
        table.streams.retain(|_, capture| *capture != number);
        self.count(&table);
        let ended = table.captures.remove(&number).ok_or_else(illegal)?;
        if !ended.is_valid {
            drop(table); // before the work, which may hold the last use of an array
            return Err(refuse(operation, codes::CAPTURE_INVALIDATED, described(stream)));
        }
        let Some((handle, body)) = ended.body else { return Ok(GraphHandle(table.enter(Arc::new(ended.work)))) };
        drop(table);
        body.extend(ended.work);
        Ok(GraphHandle(handle))
    }

    pub fn graph(&self, operation: &'static str, handle: usize) -> Result<Work> {
        let found = self.lock().graphs.get(&handle).cloned();
        found.ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {handle}")))
    }

    /// Exchanges what is launched. A launch under way goes on with what there was.
    pub fn exchange(&self, operation: &'static str, handle: usize, work: Work) -> Result<()> {
        let mut table = self.lock();
        let before = table.graphs.get_mut(&handle).map(|known| std::mem::replace(known, work));
        drop(table); // before the work, which may hold the last use of an array
        before.map(drop).ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {handle}")))
    }

    pub fn destroy(&self, operation: &'static str, handle: usize) -> Result<()> {
        // Dropped without the lock: work may hold the last use of an array.
        let graph = self.lock().graphs.remove(&handle);
        graph.map(drop).ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {handle}")))
    }

    fn count(&self, table: &Table) {
        self.streams.store(table.streams.len(), Ordering::Release);
    }

    pub fn lock(&self) -> Guard<Table> {
        self.table.lock()
    }
}

impl Table {
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

    /// Knows a body from now on.
    pub fn enter_body(&mut self, body: &Arc<Body>) -> GraphHandle {
        self.bodies.retain(|_, known| known.strong_count() != 0);
        let handle = self.new_number();
        self.bodies.insert(handle, Arc::downgrade(body));
        GraphHandle(handle)
    }

    fn body(&self, operation: &'static str, handle: GraphHandle) -> Result<Arc<Body>> {
        let known = self.bodies.get(&handle.0).and_then(Weak::upgrade);
        known.ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("graph {}", handle.0)))
    }

    /// Knows a condition from now on.
    pub fn enter_condition(&mut self, cell: &Arc<Cell>) {
        self.conditions.retain(|_, known| known.strong_count() != 0);
        self.conditions.insert(cell.handle().0, Arc::downgrade(cell));
    }

    pub fn condition(&self, operation: &'static str, handle: ConditionHandle) -> Result<Arc<Cell>> {
        let known = self.conditions.get(&handle.0).and_then(Weak::upgrade);
        known.ok_or_else(|| refuse(operation, INVALID_HANDLE, format!("condition {:#x}", handle.0)))
    }

    fn new_number(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    pub fn enter(&mut self, work: Work) -> usize {
        let handle = self.new_number();
        self.graphs.insert(handle, work);
        handle
    }

    /// The capture in which a stream's next operation goes. The default stream waits for blocking streams, which would make it
    /// part of their capture.
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
                Err(refuse(operation, codes::CAPTURE_IMPLICIT, described(stream)))
            }
            _ => Ok(None),
        }
    }

    /// The capture of a stream, as long as nothing has spoiled it.
    fn capture_of(&mut self, operation: &'static str, stream: StreamHandle) -> Result<&mut Capture> {
        let number = self.streams.get(&stream.0).copied();
        match number.and_then(|number| self.captures.get_mut(&number)) {
            Some(capture) if capture.is_valid => Ok(capture),
            Some(_) => Err(refuse(operation, codes::CAPTURE_INVALIDATED, described(stream))),
            None => Err(refuse(operation, codes::ILLEGAL_STATE, described(stream))),
        }
    }
}

fn is_default(stream: StreamHandle) -> bool {
    matches!(stream, StreamHandle(0 | 1))
}

/// The next handle of a stream after a number, which says of what kind the stream is.
pub fn stream_handle(number: usize, non_blocking: bool) -> StreamHandle {
    StreamHandle(number * 2 + usize::from(non_blocking))
}

fn is_blocking(stream: StreamHandle) -> bool {
    stream.0.is_multiple_of(2)
}

fn described(stream: StreamHandle) -> String {
    format!("stream {:#x}", stream.0)
}
