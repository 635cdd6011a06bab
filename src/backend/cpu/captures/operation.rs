//! One operation of a graph, and what decides in it: a number in memory, whose address is the handle that kernels get, and bodies that are
//! done or not.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{ConditionHandle, HostWork, NodeKind};
use pygpu_base::error::Result;

/// One operation of a graph.
pub struct Operation {
    pub kind: NodeKind,
    pub work: HostWork,
    /// Done when a launch begins.
    pub first: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Operation {
    pub fn new(kind: NodeKind, work: HostWork) -> Self {
        Self { kind, work, first: None }
    }
}

/// What kernels set.
pub struct Cell {
    number: AtomicU32,
    default: Option<u32>,
}

impl Cell {
    /// One that a launch begins with a number, or leaves as it is.
    pub fn new(default: Option<u32>) -> Self {
        Self { number: AtomicU32::new(default.unwrap_or_default()), default }
    }

    /// Its address.
    pub fn handle(&self) -> ConditionHandle {
        ConditionHandle((&raw const self.number).expose_provenance() as u64)
    }

    /// What a launch begins with.
    pub fn begin(&self) {
        if let Some(default) = self.default {
            self.number.store(default, Ordering::Relaxed);
        }
    }

    /// What it is now.
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }
}

/// What is done where a condition says so, in its order.
#[derive(Default)]
pub struct Body(Mutex<Vec<Arc<Operation>>>);

impl Body {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Operation>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// More of it.
    pub fn extend(&self, work: Vec<Arc<Operation>>) {
        self.lock().extend(work);
    }

    /// What is done when a launch begins.
    pub fn begin(&self) {
        let work = self.lock().clone();
        work.iter().filter_map(|operation| operation.first.as_ref()).for_each(|first| first());
    }

    /// Does it.
    pub fn run(&self) -> Result<()> {
        let work = self.lock().clone(); // without the lock, which the work may need
        work.iter().try_for_each(|operation| (operation.work)())
    }
}
