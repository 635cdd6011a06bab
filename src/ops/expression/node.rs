//! One operation that was put off.

use std::sync::Weak;

use crate::array::Array;
use crate::dtype::{DType, Kind};
use crate::error::Result;
use crate::layout::Layout;
use crate::memory::Allocation;
use crate::ops::axes;
use crate::ops::ufunc::{Given, Row};
use crate::stream::Stream;

/// A number by its bytes, in the type that the loop takes in its place.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    bytes: [u8; 16],
    len: u8,
}

impl Scalar {
    /// Of at most 16 bytes.
    #[inline]
    pub fn new(given: &[u8]) -> Self {
        let mut bytes = [0; 16];
        let len = given.len().min(bytes.len());
        bytes[..len].copy_from_slice(&given[..len]);
        Self { bytes, len: len as u8 }
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// One operand.
pub enum Input {
    /// An array, whose memory may be put off too.
    Array(Array),
    /// A number.
    Value(Scalar),
}

impl Input {
    /// The array, if it is one.
    pub fn array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            Self::Value(_) => None,
        }
    }

    pub(super) fn given(&self) -> Given {
        match self {
            Self::Array(array) => Given::Array(array.dtype().kind()),
            Self::Value(_) => Given::Value,
        }
    }
}

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
    /// Its operands, in order.
    // Not in line: a node is moved a few times before it is written down, and an array is large.
    pub inputs: Vec<Input>,
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
    /// The operands that are arrays.
    pub(super) fn arrays(&self) -> impl Iterator<Item = &Array> {
        self.inputs.iter().filter_map(Input::array)
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
    pub(super) fn is_read_by(&self, input: &Input) -> bool {
        input.array().is_some_and(|array| array.layout() == &self.layout && array.dtype() == self.dtype)
    }

    /// What a message calls it.
    pub(super) fn name(&self) -> String {
        let kind = match &self.work {
            Work::Loop(_, kind) => *kind,
            Work::Reduction(reduction) => reduction.computed,
        };
        let shape = crate::layout::tuple_text(self.layout.shape());
        format!("{} of {} with the shape {shape}", self.function(), DType::new(kind).name())
    }
}
