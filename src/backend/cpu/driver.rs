//! Defines the state of the CPU backend: streams, events, captures and graphs. The callers of the backend own the
//! memory blocks.

use std::sync::atomic::AtomicUsize;

use super::captures::{self, Captures};
use super::device_numbers;
use super::error_codes::{INVALID_DEVICE, refuse};
use super::event_table::EventTable;
use crate::{HostWork, NodeKind, StreamHandle};
use pygpu_base::error::{Error, Result};

/// The CPU backend.
pub struct Cpu {
    pub events: EventTable,
    pub captures: Captures,
    pub next_stream: AtomicUsize,
}

/// Handle of the first created stream. Lower numbers are reserved: the CUDA array interface and DLPack use them for
/// default streams.
pub const FIRST_STREAM: usize = 16;

pub static CPU: Cpu = Cpu::new(Captures::new(&captures::TABLE));

impl Cpu {
    pub const fn new(captures: Captures) -> Self {
        Self { events: EventTable::new(), captures, next_stream: AtomicUsize::new(FIRST_STREAM) }
    }

    /// Executes work immediately, or records it in the graph if the stream is capturing.
    #[inline]
    pub fn run(
        &self,
        operation: &'static str,
        stream: StreamHandle,
        work: impl Fn() -> Result<()> + Send + Sync + 'static,
    ) -> Result<()> {
        match self.captures.next(operation, stream)? {
            None => work(),
            Some(_) => self.captures.keep(operation, stream, kind_of(operation), Box::new(work)),
        }
    }

    /// Executes or records work like `run`, but records the operation with the given node kind.
    pub fn run_as(&self, kind: NodeKind, stream: StreamHandle, work: HostWork) -> Result<()> {
        let operation = "put_work";
        match self.captures.next(operation, stream)? {
            None => work(),
            Some(_) => self.captures.keep(operation, stream, kind, work),
        }
    }
}

/// Returns the node kind under which an operation is recorded in a graph.
fn kind_of(operation: &str) -> NodeKind {
    match operation {
        "launch" => NodeKind::Kernel,
        "fill" => NodeKind::Fill,
        "call_host" => NodeKind::Host,
        _ => NodeKind::Copy,
    }
}

/// Returns an error if no device has this number.
#[inline]
pub fn check_device(operation: &'static str, device: i32) -> Result<()> {
    match (0..device_numbers::count()).contains(&device) {
        true => Ok(()),
        false => Err(unknown(operation, device)),
    }
}

#[cold]
fn unknown(operation: &'static str, device: i32) -> Error {
    let count = device_numbers::count();
    let text = match count {
        1 => format!(
            "device {device} was asked for; the CPU backend has device 0 only, or as many as PYGPU_CPU_DEVICES says"
        ),
        _ => format!("device {device} was asked for; the CPU backend has {count} devices, numbered from 0"),
    };
    refuse(operation, INVALID_DEVICE, text)
}
