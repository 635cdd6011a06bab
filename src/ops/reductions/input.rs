//! Input of a reduction: an array, or an expression over several arrays.

use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_kernel::Arguments;
use pygpu_layout::Layout;

/// Source of elements that are computed where they are read. They behave like those of a dense array of which only the
/// layout exists.
#[derive(Debug)]
pub struct InputExpression {
    /// Number that identifies the expression.
    pub number: u64,
    /// Functions used by the source.
    pub preamble: String,
    /// The kernel's parameters for the expression, as declarations.
    pub parameters: String,
    /// The names of these parameters.
    pub names: String,
    /// Loads the operands' packs at element `at`; placed before all computations.
    pub packs: String,
    /// Computes element `v` of a pack into `made.item[v]`.
    pub element: String,
}

/// Elements computed by an expression.
pub struct ComputedElements<'a> {
    /// The layout of the equivalent array.
    pub layout: &'a Layout,
    /// Their dtype.
    pub dtype: DType,
    /// Their source.
    pub map: &'a InputExpression,
    /// The arrays that are read, in the order of the parameters.
    pub leaves: &'a [&'a Array],
    /// Values of the scalar parameters, which follow.
    pub values: &'a Arguments,
}

/// Nonempty input of a reduction.
#[derive(Clone, Copy)]
pub enum Elements<'a> {
    /// An array.
    Array(&'a Array),
    /// Computed elements.
    Made(&'a ComputedElements<'a>),
}

impl<'a> Elements<'a> {
    pub(super) fn layout(self) -> &'a Layout {
        match self {
            Self::Array(array) => array.layout(),
            Self::Made(made) => made.layout,
        }
    }

    pub(super) fn dtype(self) -> DType {
        match self {
            Self::Array(array) => array.dtype(),
            Self::Made(made) => made.dtype,
        }
    }

    /// Address of the allocation; for computed elements a value with maximum alignment.
    pub(super) fn address(self) -> usize {
        match self {
            Self::Array(array) => array.allocation().address(),
            Self::Made(_) => 0,
        }
    }

    pub(super) fn map(self) -> Option<&'a InputExpression> {
        match self {
            Self::Array(_) => None,
            Self::Made(made) => Some(made.map),
        }
    }
}
