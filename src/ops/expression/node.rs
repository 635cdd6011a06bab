//! One operation that was put off.

use std::sync::Weak;

use super::operands::Operands;
use crate::axes;
use crate::ufunc::Row;
use pygpu_array::{Array, DeferredArray};
use pygpu_base::dtype::{DType, Kind};
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;
use pygpu_layout::Layout;
use pygpu_memory::Allocation;

/// What an operation computes.
pub enum Work {
    /// A loop of a function, element by element.
    Loop(&'static Row, Kind),
    /// Few elements of many.
    Reduction(Box<Reduction>),
}

/// A reduction of an array.
pub struct Reduction {
    /// Which one.
    pub row: &'static axes::Row,
    /// The type in which is computed.
    pub computed: Kind,
    /// The axes that are reduced, the first one as the lowest bit.
    pub reduced: u64,
    /// What is taken from the number of elements, for `var`.
    pub less: f64,
    /// How the result lies with the reduced axes, of one element each.
    pub kept: Layout,
}

/// One operation: its operands, and where its result is to be.
pub struct Node {
    /// What is computed.
    pub work: Work,
    /// Its operands.
    pub operands: Operands,
    /// How the result lies, from its first byte on.
    pub layout: Layout,
    /// The type of the result.
    pub dtype: DType,
    /// Where it is computed.
    pub stream: Stream,
    /// Whoever still wants it.
    pub result: Weak<Allocation>,
    /// The array that it goes into, if it was given: then nothing is written down behind it.
    pub target: Option<Box<Array>>,
}

impl Node {
    /// One whose result is to be all of a new array, written where it stays.
    #[inline(always)] // two callers, of which one is what an operator costs
    pub fn boxed(
        work: Work,
        operands: Operands,
        result: &DeferredArray,
        wanted: Weak<Allocation>,
        stream: Stream,
    ) -> Box<Self> {
        let mut node = Box::new_uninit();
        let at: *mut Self = node.as_mut_ptr();
        // SAFETY: each field is written once, without being read, and then the node is whole.
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

    /// The operands that are arrays.
    #[inline]
    pub fn arrays(&self) -> &[DeferredArray] {
        self.operands.arrays()
    }

    /// The result as an array, if anybody wants it.
    ///
    /// # Errors
    /// None that can happen: the layout is dense.
    pub(super) fn result(&self) -> Result<Option<Array>> {
        let block = self.result.upgrade();
        block.map(|block| Array::over(block, self.layout.clone(), self.dtype, false)).transpose()
    }

    /// The loop, of an operation that goes element by element into an array of its own.
    pub(super) fn own_loop(&self) -> Option<(&'static Row, Kind)> {
        self.any_loop().filter(|_| self.target.is_none())
    }

    /// The loop, of one that goes element by element.
    pub(super) fn any_loop(&self) -> Option<(&'static Row, Kind)> {
        match self.work {
            Work::Loop(row, kind) => Some((row, kind)),
            Work::Reduction(_) => None,
        }
    }

    /// The function's name.
    pub(super) fn function(&self) -> &'static str {
        match &self.work {
            Work::Loop(row, _) => row.name,
            Work::Reduction(reduction) => reduction.row.name,
        }
    }

    /// Whether an operand is all of the result, as it was made.
    pub(super) fn is_read_by(&self, operand: &DeferredArray) -> bool {
        operand.layout() == &self.layout && operand.dtype() == self.dtype
    }

    /// What a message calls it.
    pub(super) fn name(&self) -> String {
        let kind = match &self.work {
            Work::Loop(_, kind) => *kind,
            Work::Reduction(reduction) => reduction.computed,
        };
        let shape = pygpu_layout::tuple_text(self.layout.shape());
        format!("{} of {} with the shape {shape}", self.function(), DType::new(kind).name())
    }
}
