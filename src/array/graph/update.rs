//! Updates the parameters of an instantiated graph, for one operation or for all operations.
//!
//! The replacement of an operation is captured on a separate stream by the same calls that normally enqueue the
//! operation. The capture validates the replacement, records its resources and yields the driver's description of the
//! replacement, which is passed to the executable graph. The previous resources are released after the launches that
//! use them are complete.

use std::sync::{Arc, MutexGuard, PoisonError, RwLockWriteGuard, TryLockError};

use super::capture::Fragment;
use super::resources::GraphResources;
use super::{Graph, GraphOperation, begin, cut};
use pygpu_backend::{CaptureMode, Graphs, NodeHandle, NodeKind, StreamFlags};
use pygpu_base::error::{Error, Result};
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::retired_objects;

impl Graph {
    /// Returns the operations of the graph, in the order of their capture.
    pub fn nodes(&self) -> Vec<GraphOperation> {
        self.parts.held().nodes.clone()
    }

    /// Returns the kind of an operation.
    ///
    /// # Errors
    /// `ValueError` after a device reset; driver errors.
    pub fn kind(&self, node: &GraphOperation) -> Result<NodeKind> {
        self.check_epoch()?;
        self.parts.template.kind(node.handle)
    }

    /// Returns a stream that captures the replacement of an operation.
    ///
    /// # Errors
    /// `ValueError` after a device reset; driver errors.
    pub fn begin_part(&self) -> Result<Stream> {
        self.check_epoch()?;
        let spare = self.spare().take();
        let stream = match spare {
            Some(stream) => stream,
            None => Stream::create(self.device(), StreamFlags { non_blocking: true, priority: 0 })?,
        };
        begin(&stream, CaptureMode::Relaxed).map(|()| stream)
    }

    /// Ends the capture of a replacement, and updates the operation at index `place` with the captured operation.
    ///
    /// # Errors
    /// `ValueError` if not exactly one operation of the same kind was captured; driver errors. The graph is then
    /// unchanged.
    pub fn end_part(&self, stream: Stream, place: usize) -> Result<()> {
        let fragment = cut(&stream)?;
        let before = self.spare().replace(stream);
        drop(before); // dropped after the lock is released, because the drop destroys a stream
        self.replace(place, fragment)
    }

    fn spare(&self) -> MutexGuard<'_, Option<Stream>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the operation at index `place` by the single captured operation, which must be of the same kind.
    /// Launches in progress keep the old parameters.
    ///
    /// # Errors
    /// `ValueError` if not exactly one operation of the same kind was captured; driver errors. The graph is then
    /// unchanged.
    fn replace(&self, place: usize, fragment: Fragment) -> Result<()> {
        self.check_epoch()?;
        let graphs = self.device().backend().graphs()?;
        let nodes = self.nodes();
        let Some(node) = nodes.get(place) else {
            return Err(Error::value(format!("the graph has no node {place}: it has {}", nodes.len())));
        };
        let (from, kind) = (sole(&fragment)?, self.kind(node)?);
        let new_kind = fragment.template.kind(from)?;
        if new_kind != kind {
            return Err(Error::value(format!(
                "node {place} is a {}, and what was given for it makes a {}: give what makes the same, or capture the graph \
                 again and update(graph)",
                kind.name(),
                new_kind.name()
            )));
        }
        let Fragment { template, contents } = fragment;
        let held = GraphResources::new(&template, contents)?;
        let (parts, to) = (&self.parts, (self.parts.template.handle, node.handle));
        self.exchange(
            graphs,
            |before| before.with_node(place, held),
            |graphs| {
                // SAFETY: all handles are alive, both operations are of the same kind, and no launch happens
                // concurrently, because this thread holds the write lock of the resources.
                unsafe { graphs.set_node(self.device().index(), parts.executable, kind, to, (template.handle, from)) }
            },
        )
    }

    /// Replaces the parameters of all operations by those of another graph with the same operations. Launches in
    /// progress keep the old parameters.
    ///
    /// # Errors
    /// `ValueError` for a graph of another device; the driver's error with its reason if more than parameters differ.
    /// The graph is then unchanged.
    pub fn update(&self, other: &Self) -> Result<()> {
        if std::ptr::eq(self, other) {
            return Ok(());
        }
        if self.device() != other.device() {
            return Err(Error::value(format!(
                "the graph is of {} and the other one of {}; capture it on the same device",
                self.device(),
                other.device()
            )));
        }
        self.check_epoch()?;
        other.check_epoch()?;
        let graphs = self.device().backend().graphs()?;
        let (parts, other_parts) = (&self.parts, &other.parts);
        let held = Arc::clone(&other_parts.held());
        self.exchange(
            graphs,
            |before| before.with_all_of(&held),
            |graphs| {
                // SAFETY: both graphs are alive, and no launch happens concurrently, because this thread holds the
                // write lock of the resources.
                unsafe {
                    graphs.update(
                        self.device().index(),
                        (parts.executable, parts.template.handle),
                        other_parts.template.handle,
                    )
                }
            },
        )
    }

    /// Updates the executable graph by the driver call `call`, and replaces the graph's resources by the result of
    /// `after`. Both steps happen under the write lock of the resources.
    fn exchange(
        &self,
        graphs: &dyn Graphs,
        after: impl FnOnce(&GraphResources) -> GraphResources,
        call: impl FnOnce(&dyn Graphs) -> Result<()>,
    ) -> Result<()> {
        let mut held = self.closed()?;
        let after = Arc::new(after(&held));
        call(graphs)?;
        let before = std::mem::replace(&mut *held, after);
        drop(held); // the write lock is released before the previous resources are dropped
        let launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for stream in launched {
            shutdown::defer(retired_objects::keep_until_passed(&stream, Box::new(Arc::clone(&before))));
        }
        Ok(())
    }

    /// Locks the graph's resources for writing, so that no launch of the graph begins meanwhile.
    fn closed(&self) -> Result<RwLockWriteGuard<'_, Arc<GraphResources>>> {
        if !self.device().is_cpu() {
            return Ok(self.parts.held.write().unwrap_or_else(PoisonError::into_inner));
        }
        // On the CPU backend this function does not wait for the lock. On this backend a launch holds the lock while
        // its work runs. That work may itself call this function, so waiting could deadlock.
        match self.parts.held.try_write() {
            Ok(held) => Ok(held),
            Err(TryLockError::Poisoned(held)) => Ok(held.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(Error::value("the graph runs at this moment; update it when the launch has returned"))
            }
        }
    }
}

/// Returns the only operation of a capture, or an error if the capture does not contain exactly one operation.
fn sole(fragment: &Fragment) -> Result<NodeHandle> {
    match fragment.template.nodes()?[..] {
        [node] => Ok(node),
        [] => Err(Error::value("what was given for the node makes no operation: are the arrays empty?")),
        ref nodes => Err(Error::value(format!(
            "what was given for the node makes {} operations, and a node is one: give contiguous arrays, or capture the graph \
             again and update(graph)",
            nodes.len()
        ))),
    }
}
