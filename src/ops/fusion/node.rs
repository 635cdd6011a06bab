//! A deferred operation.

use std::sync::Weak;

use super::operands::Operands;
use crate::reductions;
use crate::ufunc::UfuncEntry;
use pygpu_array::{Array, DeferredArray};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;

/// Kind of a deferred operation.
pub enum DeferredOp {
    /// An elementwise loop of a function.
    Loop(&'static UfuncEntry, ScalarType),
    /// A reduction.
    Reduction(Box<DeferredReduction>),
}

/// A reduction of an array.
pub struct DeferredReduction {
    /// The function.
    pub row: &'static reductions::ReductionEntry,
    /// The type of the computation.
    pub computed: ScalarType,
    /// The reduced axes as a bit set; the first axis is the lowest bit.
    pub reduced: u64,
    /// Subtracted from the number of elements (`ddof` of `var`).
    pub less: f64,
    /// The layout of the result including the reduced axes, with length one.
    pub kept: Layout,
}

/// A deferred operation: its operands and its result.
pub struct DeferredNode {
    /// The operation.
    pub work: DeferredOp,
    /// Its operands.
    pub operands: Operands,
    /// The layout of the result, from its first byte on.
    pub layout: Layout,
    /// The dtype of the result.
    pub dtype: DType,
    /// The stream of the computation.
    pub stream: Stream,
    /// The result's block, while it is referenced.
    pub result: Weak<Allocation>,
    /// The existing array that receives the result, if given. No further operation is queued after such a node.
    pub target: Option<Box<Array>>,
}

impl DeferredNode {
    /// Creates a node, directly on the heap, whose result is the whole of a new array.
    #[inline(always)] // only two callers, one of which determines the cost of an operator
    pub fn boxed(
        work: DeferredOp,
        operands: Operands,
        result: &DeferredArray,
        wanted: Weak<Allocation>,
        stream: Stream,
    ) -> Box<Self> {
        let mut node = Box::new_uninit();
        let at: *mut Self = node.as_mut_ptr();
        // SAFETY: each field is written once and not read before; then the node is complete.
        unsafe {
            (&raw mut (*at).work).write(work);
            (&raw mut (*at).operands).write(operands);
            result.layout().clone_to(&mut *(&raw mut (*at).layout).cast());
            (&raw mut (*at).dtype).write(result.dtype());
            (&raw mut (*at).stream).write(stream);
            (&raw mut (*at).result).write(wanted);
            (&raw mut (*at).target).write(None);
            node.assume_init()
        }
    }

    /// The array operands.
    #[inline]
    pub fn arrays(&self) -> &[DeferredArray] {
        self.operands.arrays()
    }

    /// The result as an array, while it is referenced.
    ///
    /// # Errors
    /// None in practice: the layout is dense.
    pub(super) fn result(&self) -> Result<Option<Array>> {
        let block = self.result.upgrade();
        block.map(|block| Array::over(block, self.layout.clone(), self.dtype, false)).transpose()
    }

    /// The loop of an elementwise operation with a new result.
    pub(super) fn own_loop(&self) -> Option<(&'static UfuncEntry, ScalarType)> {
        self.any_loop().filter(|_| self.target.is_none())
    }

    /// The loop of an elementwise operation.
    pub(super) fn any_loop(&self) -> Option<(&'static UfuncEntry, ScalarType)> {
        match self.work {
            DeferredOp::Loop(row, kind) => Some((row, kind)),
            DeferredOp::Reduction(_) => None,
        }
    }

    /// The function's name.
    pub(super) fn function(&self) -> &'static str {
        match &self.work {
            DeferredOp::Loop(row, _) => row.name,
            DeferredOp::Reduction(reduction) => reduction.row.name,
        }
    }

    /// Whether an operand is the whole result in its original layout.
    pub(super) fn is_read_by(&self, operand: &DeferredArray) -> bool {
        operand.layout() == &self.layout && operand.dtype() == self.dtype
    }

    /// The name for messages.
    pub(super) fn name(&self) -> String {
        let kind = match &self.work {
            DeferredOp::Loop(_, kind) => *kind,
            DeferredOp::Reduction(reduction) => reduction.computed,
        };
        let shape = pygpu_layout::tuple_text(self.layout.shape());
        format!("{} of {} with the shape {shape}", self.function(), DType::new(kind).name())
    }
}
