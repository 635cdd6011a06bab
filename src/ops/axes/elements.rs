//! What a reduction reads: an array, or what a map makes of several.

use pygpu_array::Array;
use pygpu_base::dtype::DType;
use pygpu_kernel::Arguments;
use pygpu_layout::Layout;

/// Elements that are computed where they are read, as text: as those of a dense array, of which only the layout is there.
#[derive(Debug)]
pub struct Map {
    /// What tells it from others.
    pub number: u64,
    /// Functions that the text calls.
    pub preamble: String,
    /// What the kernel is given for it: declarations, and their names.
    pub parameters: String,
    /// The names alone.
    pub names: String,
    /// Reads what lies in packs at element `at`, before all else.
    pub packs: String,
    /// Computes element `v` of a pack into `made.item[v]`.
    pub element: String,
}

/// Elements that are computed by a map.
pub struct Made<'a> {
    /// How they would lie.
    pub layout: &'a Layout,
    /// Their type.
    pub dtype: DType,
    /// How they are computed.
    pub map: &'a Map,
    /// What is read, in the order of the parameters.
    pub leaves: &'a [&'a Array],
    /// Numbers, which come behind.
    pub values: &'a Arguments,
}

/// What is reduced, of which there is some.
#[derive(Clone, Copy)]
pub enum Elements<'a> {
    /// An array.
    Array(&'a Array),
    /// What a map makes.
    Made(&'a Made<'a>),
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

    /// Where the allocation begins; of what is made, as evenly as any.
    pub(super) fn address(self) -> usize {
        match self {
            Self::Array(array) => array.allocation().address(),
            Self::Made(_) => 0,
        }
    }

    pub(super) fn map(self) -> Option<&'a Map> {
        match self {
            Self::Array(_) => None,
            Self::Made(made) => Some(made.map),
        }
    }
}
