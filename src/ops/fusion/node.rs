//! Defines a deferred operation, as a node of a pending queue.

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

/// Describes the computation of a deferred operation.
pub enum DeferredOp {
    /// An elementwise function, and the element type in which it is computed.
    Loop(&'static UfuncEntry, ScalarType),
    /// A reduction.
    Reduction(Box<DeferredReduction>),
}

/// A deferred reduction over some axes of an array.
pub struct DeferredReduction {
    /// The reduction function's entry in the table of reductions.
    pub row: &'static reductions::ReductionEntry,
    /// The element type in which the reduction is computed.
    pub computed: ScalarType,
    /// The reduced axes as a bit set; bit 0 is the first axis.
    pub reduced: u64,
    /// The argument `ddof` of `var`: a variance divides by the number of elements minus this value.
    pub less: f64,
    /// Layout that the result would have if each reduced axis were kept as an axis of length one.
    pub kept: Layout,
}

/// A deferred operation, with its operands and its result.
pub struct DeferredNode {
    /// The function or the reduction that the node computes.
    pub work: DeferredOp,
    /// The operation's operands.
    pub operands: Operands,
    /// The layout of the result, with offsets relative to the result's first byte.
    pub layout: Layout,
    /// The dtype of the node's result.
    pub dtype: DType,
    /// The stream on which the operation will be launched.
    pub stream: Stream,
    /// The memory block of the result. The reference is weak, so that it does not keep the block alive when no array
    /// refers to the result any more.
    pub result: Weak<Allocation>,
    /// The existing array that the operation writes, if any. No further operation is queued after such a node.
    pub target: Option<Box<Array>>,
}

impl DeferredNode {
    /// Creates a node for a result that is a whole new array. The node is constructed directly on the heap.
    #[inline(always)] // inlined, because the speed of every operator depends on one of the two callers
    pub fn boxed(
        work: DeferredOp,
        operands: Operands,
        result: &DeferredArray,
        allocation: Weak<Allocation>,
        stream: Stream,
    ) -> Box<Self> {
        let mut node = Box::new_uninit();
        let at: *mut Self = node.as_mut_ptr();
        // SAFETY: the statements below write each field exactly once, and nothing reads a field before. The node is
        // then fully initialized.
        unsafe {
            (&raw mut (*at).work).write(work);
            (&raw mut (*at).operands).write(operands);
            result.layout().clone_to(&mut *(&raw mut (*at).layout).cast());
            (&raw mut (*at).dtype).write(result.dtype());
            (&raw mut (*at).stream).write(stream);
            (&raw mut (*at).result).write(allocation);
            (&raw mut (*at).target).write(None);
            node.assume_init()
        }
    }

    /// Returns the operands that are arrays.
    #[inline]
    pub fn arrays(&self) -> &[DeferredArray] {
        self.operands.arrays()
    }

    /// Returns the result as an array, or `None` if it is no longer referenced.
    ///
    /// # Errors
    /// No error occurs in practice, because the result's layout is dense.
    pub(super) fn result(&self) -> Result<Option<Array>> {
        let block = self.result.upgrade();
        block.map(|block| Array::over(block, self.layout.clone(), self.dtype, false)).transpose()
    }

    /// Returns the function and the computation type of an elementwise operation whose result is a new array; `None`
    /// for other nodes.
    pub(super) fn own_loop(&self) -> Option<(&'static UfuncEntry, ScalarType)> {
        self.any_loop().filter(|_| self.target.is_none())
    }

    /// Returns the function and the computation type of an elementwise operation, also if it writes into an existing
    /// array; `None` for a reduction.
    pub(super) fn any_loop(&self) -> Option<(&'static UfuncEntry, ScalarType)> {
        match self.work {
            DeferredOp::Loop(row, kind) => Some((row, kind)),
            DeferredOp::Reduction(_) => None,
        }
    }

    /// Returns the name of the function that the node computes.
    pub(super) fn function(&self) -> &'static str {
        match &self.work {
            DeferredOp::Loop(row, _) => row.name,
            DeferredOp::Reduction(reduction) => reduction.row.name,
        }
    }

    /// Whether an operand of another operation is the whole result of this node, in the result's layout. The caller
    /// guarantees that the operand is a view of this result.
    pub(super) fn is_read_by(&self, operand: &DeferredArray) -> bool {
        operand.layout() == &self.layout && operand.dtype() == self.dtype
    }

    /// Returns the node's name for error messages.
    pub(super) fn name(&self) -> String {
        let kind = match &self.work {
            DeferredOp::Loop(_, kind) => *kind,
            DeferredOp::Reduction(reduction) => reduction.computed,
        };
        let shape = pygpu_layout::tuple_text(self.layout.shape());
        format!("{} of {} with the shape {shape}", self.function(), DType::new(kind).name())
    }
}
