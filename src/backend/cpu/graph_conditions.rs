//! Implements conditions in graphs for the CPU backend.

use std::sync::Arc;

use super::captures::{ConditionValue, GraphBody, Operation};
use super::driver::Cpu;
use crate::{Branching, Condition, ConditionHandle, GraphHandle, HostWork, NodeKind, StreamHandle};
use pygpu_base::error::Result;

/// The CUDA driver's enum value for conditional operations in a graph.
const CONDITIONAL: NodeKind = NodeKind::Other(13);

impl Cpu {
    /// Implements `Graphs::create_condition`.
    pub fn new_condition(&self, stream: StreamHandle, default: Option<u32>) -> Result<Condition> {
        self.captures.next_or_refuse("create_condition", stream)?;
        let cell = Arc::new(ConditionValue::new(default));
        self.captures.lock().enter_condition(&cell);
        Ok(Condition { handle: cell.handle(), owner: Some(cell) })
    }

    /// Implements `Graphs::put_conditional`.
    pub fn keep_conditional(
        &self,
        stream: StreamHandle,
        condition: ConditionHandle,
        branching: Branching,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        let operation = "put_conditional";
        let cell = self.captures.lock().condition(operation, condition)?;
        let bodies: Arc<Vec<Arc<GraphBody>>> = Arc::new((0..bodies).map(|_| Arc::default()).collect());
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

fn work_of(cell: Arc<ConditionValue>, bodies: Arc<Vec<Arc<GraphBody>>>, branching: Branching) -> HostWork {
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
