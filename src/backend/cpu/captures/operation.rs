//! Operation of a graph, and conditions. A condition is a number in memory, whose address is the handle that kernels
//! receive; it selects which bodies are executed.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{ConditionHandle, HostWork, NodeKind};
use pygpu_base::error::Result;

/// Operation of a graph.
pub struct Operation {
    pub kind: NodeKind,
    pub work: HostWork,
    /// Executed at the start of a launch.
    pub first: Option<Box<dyn Fn() + Send + Sync>>,
}

impl Operation {
    pub fn new(kind: NodeKind, work: HostWork) -> Self {
        Self { kind, work, first: None }
    }
}

/// Value of a condition, set by kernels.
pub struct ConditionValue {
    number: AtomicU32,
    default: Option<u32>,
}

impl ConditionValue {
    /// Creates a condition that each launch resets to `default`; `None` leaves it unchanged.
    pub fn new(default: Option<u32>) -> Self {
        Self { number: AtomicU32::new(default.unwrap_or_default()), default }
    }

    /// Returns the address of the value.
    pub fn handle(&self) -> ConditionHandle {
        ConditionHandle((&raw const self.number).expose_provenance() as u64)
    }

    /// Resets the value at the start of a launch.
    pub fn begin(&self) {
        if let Some(default) = self.default {
            self.number.store(default, Ordering::Relaxed);
        }
    }

    /// Returns the current value.
    pub fn number(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }
}

/// Operations that a condition controls, in order.
#[derive(Default)]
pub struct GraphBody(Mutex<Vec<Arc<Operation>>>);

impl GraphBody {
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Operation>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends operations.
    pub fn extend(&self, work: Vec<Arc<Operation>>) {
        self.lock().extend(work);
    }

    /// Prepares the operations at the start of a launch.
    pub fn begin(&self) {
        let work = self.lock().clone();
        work.iter().filter_map(|operation| operation.first.as_ref()).for_each(|first| first());
    }

    /// Executes the operations.
    pub fn run(&self) -> Result<()> {
        let work = self.lock().clone(); // without the lock, which the work may need
        work.iter().try_for_each(|operation| (operation.work)())
    }
}
