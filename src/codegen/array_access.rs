//! Gives kernels access to array elements. Builds parameter blocks, i.e. values of kernel parameters with C layout, and
//! contains the device code that reads them.
//!
//! To find an element's index along each axis, kernels divide its linear index by the axis lengths. They divide indices
//! below 2^31 by a multiplication and a shift, and larger indices by the device's integer division.

use smallvec::SmallVec;

use pygpu_kernel::Arguments;
use pygpu_layout::{LoopNest, NARROW};

/// Device code that addresses array elements: `pygpu::divisor` for integer division, `pygpu::walk` and its variants
/// with wider indices for loop nests, and element accessors such as `pygpu::strided`.
pub const HEADER: &str = include_str!("device/array_access.h");

/// [`HEADER`], followed by the device code for tiles (`pygpu::tile`). Kernels need this code if operands are transposed
/// relative to the result.
pub const TILES: &str = concat!(include_str!("device/array_access.h"), include_str!("device/transposed_operands.h"));

/// The widths in bits of the indices and strides in a kernel's loop nest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum IndexWidth {
    /// Fewer than 2^31 elements, and strides below 2^31 bytes: indices and strides have 32 bits.
    Short,
    /// Fewer than 2^31 elements, and any strides: indices have 32 bits, strides 64.
    Far,
    /// Any number of elements, and any strides: indices and strides have 64 bits.
    Wide,
}

impl IndexWidth {
    /// Returns the narrowest width that suffices for the given operands of a loop nest.
    pub fn of(walk: &LoopNest, mut sides: impl Iterator<Item = usize>) -> Self {
        match walk.size() < NARROW && sides.all(|side| walk.has_short_strides(side)) {
            true => Self::Short,
            false => Self::Wide,
        }
    }

    /// Returns the name of the C++ type of a loop nest with `rank` axes over `arrays` arrays.
    pub fn type_of(self, rank: usize, arrays: usize) -> String {
        let name = match self {
            Self::Short => "walk",
            Self::Far => "far_walk",
            Self::Wide => "wide_walk",
        };
        format!("pygpu::{name}<{rank}, {arrays}>")
    }
}

/// The value of one kernel parameter whose type is a structure with C layout. The value is stored as 32-bit words.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ParameterBlock {
    words: SmallVec<[u32; 64]>,
}

impl ParameterBlock {
    /// Creates an empty parameter block.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Pads the parameter block to a multiple of `bytes` bytes.
    #[inline]
    pub fn align(&mut self, bytes: usize) {
        let words = bytes.div_ceil(size_of::<u32>());
        while !self.words.len().is_multiple_of(words) {
            self.words.push(0);
        }
    }

    /// Appends a 4-byte member to the parameter block.
    #[inline]
    pub fn push(&mut self, value: u32) {
        self.words.push(value);
    }

    /// Appends an 8-byte member to the parameter block: an address or a number.
    #[inline]
    pub fn push_word(&mut self, value: u64) {
        self.align(size_of::<u64>());
        self.words.push(value as u32);
        self.words.push((value >> 32) as u32);
    }

    /// Appends bytes to the parameter block, padded with zeros to a multiple of four.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.words.extend(bytes.chunks(size_of::<u32>()).map(|chunk| {
            let mut word = [0; size_of::<u32>()];
            word[..chunk.len()].copy_from_slice(chunk);
            u32::from_le_bytes(word)
        }));
    }

    /// Appends a `pygpu::divisor`, with which a kernel divides x by `length`: q = (high(x * factor) + x) >> shift,
    /// where `high` is the upper 32 bits. The quotient q is exact for x below 2^31. For a length of 2^31 or more, q is
    /// 0.
    #[inline]
    pub fn push_divisor(&mut self, length: i64) {
        divisor(length).into_iter().for_each(|word| self.words.push(word));
    }

    /// Appends a loop nest to the parameter block: the lengths of all axes except the outermost, then the strides of
    /// each array. The axes are ordered from the outermost to the innermost.
    #[inline]
    pub fn push_walk<S: Iterator<Item = i64>>(
        &mut self,
        span: IndexWidth,
        lens: impl Iterator<Item = i64>,
        strides: impl Iterator<Item = S>,
    ) {
        if span != IndexWidth::Short {
            self.align(size_of::<u64>()); // a structure that contains 8-byte strides is aligned to 8 bytes
        }
        for len in lens.skip(1) {
            match span {
                IndexWidth::Short | IndexWidth::Far => self.push_divisor(len),
                IndexWidth::Wide => self.push_word(len as u64),
            }
        }
        for side in strides {
            for stride in side {
                match span {
                    IndexWidth::Short => self.push(stride as u32),
                    IndexWidth::Far | IndexWidth::Wide => self.push_word(stride as u64),
                }
            }
        }
    }

    /// Returns the size of the parameter block in bytes.
    pub fn bytes(&self) -> usize {
        self.words.len() * size_of::<u32>()
    }

    /// Appends the parameter block to the arguments of a launch.
    #[inline]
    pub fn pass(&self, arguments: &mut Arguments) {
        arguments.push_words(&self.words);
    }

    /// Returns the words of the parameter block, for tests and inspection.
    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

/// Returns a length, followed by the factor and the shift with which kernels divide by that length.
#[inline]
fn divisor(length: i64) -> [u32; 3] {
    if length >= NARROW {
        return [u32::MAX, 0, 31];
    }
    let length = length.max(1) as u32;
    let shift = 32 - (length - 1).leading_zeros();
    let factor = ((1u64 << 32) * ((1u64 << shift) - u64::from(length)) / u64::from(length) + 1) as u32;
    [length, factor, shift]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_layout::{Layout, LoopNestRules};

    fn quotient(number: u32, [_, factor, shift]: [u32; 3]) -> u32 {
        // Divides a number by a length as the device code does, for comparison with an exact division.
        (((u64::from(number) * u64::from(factor)) >> 32) as u32 + number) >> shift
    }

    #[test]
    fn multiply_and_shift_is_exact_division_below_2_to_the_31() {
        let lengths = [1, 2, 3, 5, 7, 63, 64, 65, 1000, 46_341, 65_535, 65_537, 1 << 30, (1 << 30) + 1, (1 << 31) - 1];
        for length in lengths {
            let divisor = divisor(length);
            let length = length as u32;
            let most = (1u32 << 31) - 1;
            let near = [0, 1, length - 1, length, length + 1, most / length * length, most - 1, most];
            for number in near.into_iter().flat_map(|number| [number, number.wrapping_sub(1)]) {
                if number <= most {
                    assert_eq!(quotient(number, divisor), number / length, "{number} / {length}");
                }
            }
        }
        assert_eq!(quotient(i32::MAX as u32, divisor(1 << 31)), 0);
        assert_eq!(quotient(i32::MAX as u32, divisor(i64::MAX)), 0);
    }

    #[test]
    fn loop_nest_parameters_match_device_declaration() {
        let layout = Layout::strided(&[3, 5, 7], &[1000, 100, 8], 0, 4).unwrap();
        let walk = LoopNest::plan(&[&layout, &layout], LoopNestRules::default()).unwrap();
        let laid = |span| {
            let mut record = ParameterBlock::new();
            record.push_walk(span, walk.lens(), [0, 1].into_iter().map(|side| walk.strides(side)));
            record
        };
        let (five, seven) = (divisor(5), divisor(7));
        let steps = [1000, 100, 8, 1000, 100, 8];
        assert_eq!(laid(IndexWidth::Short).words(), [&five[..], &seven, &steps].concat());
        let far: Vec<u32> = steps.iter().flat_map(|step| [*step, 0]).collect();
        assert_eq!(laid(IndexWidth::Far).words(), [&five[..], &seven, &far].concat());
        assert_eq!(laid(IndexWidth::Wide).words(), [&[5, 0, 7, 0][..], &far].concat());
        assert_eq!((laid(IndexWidth::Short).bytes(), IndexWidth::of(&walk, 0..2)), (48, IndexWidth::Short));
        let line = LoopNest::c_order(&Layout::strided(&[4], &[-(1 << 31)], 0, 4).unwrap());
        let mut record = ParameterBlock::new();
        record.push_walk(IndexWidth::Short, line.lens(), [line.strides(0)].into_iter());
        assert_eq!(record.words(), [1 << 31]);
    }

    #[test]
    fn wide_index_is_chosen_for_offsets_beyond_32_bits() {
        let span = |shape: &[i64], strides: &[i64]| {
            let walk = LoopNest::c_order(&Layout::strided(shape, strides, 0, 1).unwrap());
            IndexWidth::of(&walk, 0..1)
        };
        assert_eq!(span(&[1 << 16, 1 << 14], &[1 << 15, 2]), IndexWidth::Short);
        assert_eq!(span(&[1 << 16, 1 << 15], &[1 << 17, 2]), IndexWidth::Wide);
        assert_eq!(span(&[2, 2], &[1 << 31, 1]), IndexWidth::Wide);
        assert_eq!(span(&[2, 2], &[-(1 << 31), 1]), IndexWidth::Short);
    }

    #[test]
    fn parameter_members_are_aligned_and_padded() {
        let mut record = ParameterBlock::new();
        record.push(1);
        record.push_word(2 << 32 | 3);
        record.push_bytes(&[1, 2, 3, 4, 5]);
        record.align(16);
        assert_eq!(record.words(), [1, 0, 3, 2, 0x0403_0201, 5, 0, 0]);
    }
}
