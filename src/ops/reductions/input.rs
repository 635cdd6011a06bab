//! Describes the input of a reduction: an array, or an expression over several arrays.

use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_kernel::Arguments;
use pygpu_layout::Layout;

/// Device code that computes the input elements of a reduction, instead of loading them from memory. The input elements
/// have the indices of a dense array's elements, but no memory is allocated for them.
#[derive(Debug)]
pub struct InputExpression {
    /// Number that identifies the expression in cache keys.
    pub number: u64,
    /// Definitions of the functions that the code in `packs` and `element` calls.
    pub preamble: String,
    /// Declarations of the kernel parameters through which the expression receives its arrays and scalars.
    pub parameters: String,
    /// The names of the parameters in `parameters`, separated by commas.
    pub names: String,
    /// Code that loads a pack (several consecutive elements) of each operand at element `at`. This code precedes all
    /// computations.
    pub packs: String,
    /// Code that computes element `v` of the elements that are loaded together, and stores it in `made.item[v]`.
    pub element: String,
}

/// Input elements that are computed by an expression, with the operands of the expression.
pub struct ComputedElements<'a> {
    /// The layout that a dense array of the computed elements would have. No memory is allocated for such an array.
    pub layout: &'a Layout,
    /// The dtype of the computed elements.
    pub dtype: DType,
    /// The expression that computes the elements.
    pub map: &'a InputExpression,
    /// The arrays that the expression reads, in the order of the expression's parameters.
    pub leaves: &'a [&'a Array],
    /// Values of the expression's scalar parameters. The kernel receives them after the arrays.
    pub values: &'a Arguments,
}

/// The input of a reduction, with at least one element.
#[derive(Clone, Copy)]
pub enum Elements<'a> {
    /// An array.
    Array(&'a Array),
    /// Elements that the kernel computes by an expression.
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

    /// Returns the address of the input's memory, for alignment checks. Computed elements have no memory; for them,
    /// returns 0, an address with maximum alignment.
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
