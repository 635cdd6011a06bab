//! Graphs whose parameters are exchanged: of one operation, or of all.
//!
//! What is to be launched instead is captured by itself, by whatever call makes it elsewhere: that checks it, notes what it uses
//! and gives the driver's own description of it, which is handed on to the executable graph. What was used before is let go of
//! once the launches that use it have been passed.

use std::sync::{Arc, MutexGuard, PoisonError, RwLockWriteGuard, TryLockError};

use super::capture::Fragment;
use super::resources::Held;
use super::{Graph, Node, begin, cut};
use pygpu_backend::{CaptureMode, Graphs, NodeHandle, NodeKind, StreamFlags};
use pygpu_base::error::{Error, Result};
use pygpu_device::shutdown;
use pygpu_device::stream::Stream;
use pygpu_memory::pending;

impl Graph {
    /// Its operations, in the order in which they were captured.
    pub fn nodes(&self) -> Vec<Node> {
        self.parts.held().nodes.clone()
    }

    /// What an operation is.
    ///
    /// # Errors
    /// `ValueError` after a reset of the device; the driver's.
    pub fn kind(&self, node: &Node) -> Result<NodeKind> {
        self.check_epoch()?;
        self.parts.template.kind(node.handle)
    }

    /// A stream that captures what is to replace an operation.
    ///
    /// # Errors
    /// `ValueError` after a reset of the device; the driver's.
    pub fn begin_part(&self) -> Result<Stream> {
        self.check_epoch()?;
        let spare = self.spare().take();
        let stream = match spare {
            Some(stream) => stream,
            None => Stream::create(self.device(), StreamFlags { non_blocking: true, priority: 0 })?,
        };
        begin(&stream, CaptureMode::Relaxed).map(|()| stream)
    }

    /// Ends such a capture, and gives an operation what was captured.
    ///
    /// # Errors
    /// `ValueError` for what is not one operation of the kind; the driver's. Nothing is changed then.
    pub fn end_part(&self, stream: Stream, place: usize) -> Result<()> {
        let fragment = cut(&stream)?;
        let before = self.spare().replace(stream);
        drop(before); // without the lock
        self.replace(place, fragment)
    }

    fn spare(&self) -> MutexGuard<'_, Option<Stream>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an operation what was captured for it, one operation of its kind. Launches under way have what there was.
    ///
    /// # Errors
    /// `ValueError` for what is not such an operation; the driver's. Nothing is changed then.
    fn replace(&self, place: usize, fragment: Fragment) -> Result<()> {
        self.check_epoch()?;
        let graphs = self.device().backend().graphs()?;
        let nodes = self.nodes();
        let Some(node) = nodes.get(place) else {
            return Err(Error::value(format!("the graph has no node {place}: it has {}", nodes.len())));
        };
        let (from, kind) = (sole(&fragment)?, self.kind(node)?);
        let given = fragment.template.kind(from)?;
        if given != kind {
            return Err(Error::value(format!(
                "node {place} is a {}, and what was given for it makes a {}: give what makes the same, or capture the graph \
                 again and update(graph)",
                kind.name(),
                given.name()
            )));
        }
        let Fragment { template, contents } = fragment;
        let held = Held::new(&template, contents)?;
        let (parts, to) = (&self.parts, (self.parts.template.handle, node.handle));
        self.exchange(
            graphs,
            |before| before.with_node(place, held),
            |graphs| {
                // SAFETY: all are alive, the kinds are equal, and the lock is held against launches.
                unsafe { graphs.set_node(self.device().index(), parts.executable, kind, to, (template.handle, from)) }
            },
        )
    }

    /// Gives the graph all that another one has, which is to have the same operations. Launches under way have what there was.
    ///
    /// # Errors
    /// `ValueError` for a graph of another device; the driver's with its reason, for one that differs by more than parameters.
    /// Nothing is changed then.
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
        let (parts, given) = (&self.parts, &other.parts);
        let held = Arc::clone(&given.held());
        self.exchange(
            graphs,
            |before| before.with_all_of(&held),
            |graphs| {
                // SAFETY: both are alive, and the lock is held against launches.
                unsafe {
                    graphs.update(
                        self.device().index(),
                        (parts.executable, parts.template.handle),
                        given.template.handle,
                    )
                }
            },
        )
    }

    /// Exchanges what is launched, by a call of the driver, together with what is held for it.
    fn exchange(
        &self,
        graphs: &dyn Graphs,
        after: impl FnOnce(&Held) -> Held,
        call: impl FnOnce(&dyn Graphs) -> Result<()>,
    ) -> Result<()> {
        let mut held = self.closed()?;
        let after = Arc::new(after(&held));
        call(graphs)?;
        let before = std::mem::replace(&mut *held, after);
        drop(held); // before what ends here
        let launched = self.launched.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for stream in launched {
            shutdown::defer(pending::keep_until_passed(&stream, Box::new(Arc::clone(&before))));
        }
        Ok(())
    }

    /// What is held, with no launch meanwhile.
    fn closed(&self) -> Result<RwLockWriteGuard<'_, Arc<Held>>> {
        if !self.device().is_cpu() {
            return Ok(self.parts.held.write().unwrap_or_else(PoisonError::into_inner));
        }
        // A launch there lasts as long as the work, which may be what calls this.
        match self.parts.held.try_write() {
            Ok(held) => Ok(held),
            Err(TryLockError::Poisoned(held)) => Ok(held.into_inner()),
            Err(TryLockError::WouldBlock) => {
                Err(Error::value("the graph runs at this moment; update it when the launch has returned"))
            }
        }
    }
}

/// The one operation of what was captured.
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
