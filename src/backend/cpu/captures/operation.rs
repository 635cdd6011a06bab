//! Defines the operations of a captured graph, and conditions. A condition is a 32-bit value in memory; the handle that
//! kernels receive is its address. The value determines which body of a conditional operation is executed, and how
//! often.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{ConditionHandle, HostWork, NodeKind};
use pygpu_base::error::Result;

/// Describes one operation of a captured graph.
pub struct Operation {
    pub kind: NodeKind,
    pub work: HostWork,
    /// Called at the start of a graph launch, before any operation of the graph is executed. Resets the state of the
    /// operation.
    pub first: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Operation {
    pub fn new(kind: NodeKind, work: HostWork) -> Self {
        Self { kind, work, first: None }
    }
}

/// Holds the value of a condition, which kernels set.
pub struct ConditionValue {
    number: AtomicU32,
    default: Option<u32>,
}

impl ConditionValue {
    /// Creates a condition. Each launch of the graph resets the condition's value to `default`. If `default` is `None`,
    /// a launch starts with the value that the previous launch has left.
    pub fn new(default: Option<u32>) -> Self {
        Self { number: AtomicU32::new(default.unwrap_or_default()), default }
    }

    /// Returns the handle that kernels receive, which is the address of the condition's value.
    pub fn handle(&self) -> ConditionHandle {
        ConditionHandle((&raw const self.number).expose_provenance() as u64)
    }

    /// Resets the condition's value to its default at the start of a launch.
    pub fn begin(&self) {
        if let Some(default) = self.default {
            self.number.store(default, Ordering::Relaxed);
        }
    }

    /// Returns the condition's current value.
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }
}

/// Body of a conditional operation: the operations that are executed depending on the condition.
#[derive(Default)]
pub struct GraphBody(Mutex<Vec<Arc<Operation>>>);

impl GraphBody {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Operation>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends operations to the body.
    pub fn extend(&self, work: Vec<Arc<Operation>>) {
        self.lock().extend(work);
    }

    /// Prepares the operations of the body at the start of a launch.
    pub fn begin(&self) {
        let work = self.lock().clone();
        work.iter().filter_map(|operation| operation.first.as_ref()).for_each(|first| first());
    }

    /// Executes the operations of the body.
    pub fn run(&self) -> Result<()> {
        // The operations are executed after the lock is released, because an operation may take this lock itself.
        let work = self.lock().clone();
        work.iter().try_for_each(|operation| (operation.work)())
    }
}
