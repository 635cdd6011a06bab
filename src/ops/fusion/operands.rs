//! Stores the operands of a deferred operation in order: arrays, possibly without memory yet, and scalars.

use smallvec::SmallVec;

use crate::ufunc::LoopOperand;
use pygpu_array::DeferredArray;

/// A scalar operand: the bytes of a number, in the type in which the function computes.
#[derive(Clone, Copy, Debug)]
pub struct Scalar {
    bytes: [u8; 16],
    len: u8,
}

impl Scalar {
    /// Creates a scalar operand from the bytes of a number, at most 16.
    #[inline]
    pub fn new(value: &[u8]) -> Self {
        let mut bytes = [0; 16];
        let len = value.len().min(bytes.len());
        bytes[..len].copy_from_slice(&value[..len]);
        Self { bytes, len: len as u8 }
    }

    /// Returns the bytes of the scalar operand.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// One operand, an array or a scalar.
pub(super) enum DeferredOperand<'a> {
    Array(&'a DeferredArray),
    Value(&'a Scalar),
}

impl DeferredOperand<'_> {
    pub(super) fn loop_operand(&self) -> LoopOperand {
        match self {
            Self::Array(array) => LoopOperand::Array(array.dtype().kind()),
            Self::Value(_) => LoopOperand::Value,
        }
    }
}

/// The operands of a deferred operation.
// The arrays are stored on the heap because they are large: moving an array that was just written costs more than
// writing it.
#[derive(Default)]
pub struct Operands {
    arrays: Vec<DeferredArray>,
    /// The scalar operands, each with its index in the list of all operands.
    values: SmallVec<[(u8, Scalar); 1]>,
}

impl Operands {
    /// Creates an empty operand list with capacity for `arrays` arrays.
    #[inline]
    pub fn with_room(arrays: usize) -> Self {
        Self { arrays: Vec::with_capacity(arrays), values: SmallVec::new() }
    }

    /// Creates an operand list that contains one array.
    pub fn of(array: &DeferredArray) -> Self {
        let mut operands = Self::with_room(1);
        operands.push(array);
        operands
    }

    /// Appends an array to the operands.
    #[inline]
    pub fn push(&mut self, array: &DeferredArray) {
        if self.arrays.len() == self.arrays.capacity() {
            self.arrays.reserve(1);
        }
        if let Some(slot) = self.arrays.spare_capacity_mut().first_mut() {
            array.clone_to(slot);
            // SAFETY: the vector has capacity for one more element, and this element was written above.
            unsafe { self.arrays.set_len(self.arrays.len() + 1) };
        }
    }

    /// Appends a scalar to the operands.
    #[inline]
    pub fn push_value(&mut self, value: Scalar) {
        let place = self.arrays.len() + self.values.len();
        self.values.push((place as u8, value));
    }

    /// Returns the operands that are arrays.
    #[inline]
    pub fn arrays(&self) -> &[DeferredArray] {
        &self.arrays
    }

    /// Returns the number of scalars.
    pub(super) fn values(&self) -> usize {
        self.values.len()
    }

    /// Returns all operands, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = DeferredOperand<'_>> {
        let (mut arrays, mut values) = (self.arrays.iter(), self.values.iter().peekable());
        (0..self.arrays.len() + self.values.len()).filter_map(move |place| {
            let value = values.next_if(|(at, _)| usize::from(*at) == place);
            value.map_or_else(
                || arrays.next().map(DeferredOperand::Array),
                |(_, value)| Some(DeferredOperand::Value(value)),
            )
        })
    }
}
