//! Conditions in graphs of the host: a number in memory, whose address is the handle that kernels get, and bodies that are done or not.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::captures::Operation;
use super::host::Cpu;
use crate::backend::{Branching, Condition, ConditionHandle, GraphHandle, HostWork, NodeKind, StreamHandle};
use crate::error::Result;

/// The driver's number of such operations.
const CONDITIONAL: NodeKind = NodeKind::Other(13);

/// What kernels set.
pub struct Cell {
    number: AtomicU32,
    default: Option<u32>,
}

impl Cell {
    /// Its address.
    pub fn handle(&self) -> ConditionHandle {
        ConditionHandle((&raw const self.number).expose_provenance() as u64)
    }

    fn begin(&self) {
        if let Some(default) = self.default {
            self.number.store(default, Ordering::Relaxed);
        }
    }

    fn number(&self) -> u32 {
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
    fn begin(&self) {
        let work = self.lock().clone();
        work.iter().filter_map(|operation| operation.first.as_ref()).for_each(|first| first());
    }

    fn run(&self) -> Result<()> {
        let work = self.lock().clone(); // without the lock, which the work may need
        work.iter().try_for_each(|operation| (operation.work)())
    }
}

impl Cpu {
    /// As `Graphs::create_condition`.
    pub fn new_condition(&self, stream: StreamHandle, default: Option<u32>) -> Result<Condition> {
        self.captures.next_or_refuse("create_condition", stream)?;
        let cell = Arc::new(Cell { number: AtomicU32::new(default.unwrap_or_default()), default });
        self.captures.lock().enter_condition(&cell);
        Ok(Condition { handle: cell.handle(), keeper: Some(cell) })
    }

    /// As `Graphs::put_conditional`.
    pub fn keep_conditional(
        &self,
        stream: StreamHandle,
        condition: ConditionHandle,
        branching: Branching,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        let operation = "put_conditional";
        let cell = self.captures.lock().condition(operation, condition)?;
        let bodies: Arc<Vec<Arc<Body>>> = Arc::new((0..bodies).map(|_| Arc::default()).collect());
        let (own, inner) = (Arc::clone(&cell), Arc::clone(&bodies));
        let first = Box::new(move || {
            own.begin();
            inner.iter().for_each(|body| body.begin());
        });
        let kept = Arc::clone(&bodies);
        let kept = Operation { kind: CONDITIONAL, work: work_of(cell, kept, branching), first: Some(first) };
        self.captures.keep_all_of(operation, stream, kept)?;
        let mut table = self.captures.lock();
        Ok(bodies.iter().map(|body| table.enter_body(body)).collect())
    }
}

fn work_of(cell: Arc<Cell>, bodies: Arc<Vec<Arc<Body>>>, branching: Branching) -> HostWork {
    let run = move |place: usize| bodies.get(place).map_or(Ok(()), |body| body.run());
    match branching {
        Branching::If => Box::new(move || run(usize::from(cell.number() == 0))),
        Branching::Switch => Box::new(move || run(cell.number() as usize)),
        Branching::While => Box::new(move || {
            while cell.number() != 0 {
                run(0)?;
            }
            Ok(())
        }),
    }
}
