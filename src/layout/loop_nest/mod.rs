//! Plans a loop nest over any number of arrays: the axes that remain after merging, their order and direction, and the
//! offsets of the first elements.
//!
//! The arrays are broadcast to one shape, and axes of length 1 are dropped. If the order of the elements does not
//! matter, axes are reversed so that the leading array has positive strides, and sorted by the strides of the leading
//! array. Neighbouring axes that form one evenly spaced run in every array are merged. Reduced axes follow the other
//! axes and are merged only among themselves.
//!
//! Copies, elementwise kernels, gathers, reductions and scans use this loop nest.

mod contiguous_runs;

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::{Dims, Layout, errors};
use pygpu_base::error::Result;

pub use contiguous_runs::{ContiguousRuns, SharedAxes, SharedAxis};

/// Maximum number of integers for which a loop nest's table is stored without a heap allocation. A table of three axes
/// of two arrays, or of two axes of three arrays, has 12.
const INLINE: usize = 14;

/// Maximum number of integers for which the table of a loop nest under construction is stored without a heap
/// allocation. It exceeds `INLINE`, because the axes are not merged yet.
const SCRATCH: usize = 40;

/// Element indices have 32 bits in arrays with fewer elements than this number.
pub const NARROW: i64 = 1 << 31;

/// Describes how the axes of a loop nest may be reordered, and which axes are reduced.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LoopNestRules {
    /// Index of the array whose memory order determines the loop order. `None` if the elements must be traversed in C
    /// order.
    pub lead: Option<usize>,
    /// Reduced axes of the shape to which the arrays are broadcast, as a bit set; the lowest bit is the outermost axis.
    pub reduced: u64,
}

/// Describes how a loop nest traverses the elements of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StridePattern {
    /// The elements are contiguous in loop order.
    Contiguous,
    /// All strides are 0: every iteration uses the same element.
    Broadcast,
    /// Any other pattern.
    Strided,
}

/// A loop nest over arrays that were broadcast to one shape.
///
/// No axis has length 1. A loop nest over one element has no axes; a loop nest without elements has one axis of length
/// 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopNest {
    /// Table of integers. An entry consists of one integer, followed by one integer for each array. The first entry
    /// contains the number of elements, and the offset of each array's first element. Each further entry describes one
    /// axis, outermost first: the length of the axis, and its stride in each array.
    table: SmallVec<[i64; INLINE]>,
    sides: u32,
    kept: u32,
}

// A loop nest is returned by value and stored with the data of a launch, so its type must stay small.
const _: () = assert!(size_of::<LoopNest>() <= 128, "a walk has outgrown two cache lines");

impl LoopNest {
    /// Plans a loop nest over arrays.
    ///
    /// # Errors
    /// `ValueError` for shapes that do not broadcast, or whose common shape is too large.
    pub fn plan(sides: &[&Layout], rules: LoopNestRules) -> Result<Self> {
        let mut scratch = Scratch::new();
        // For the most common numbers of arrays, the length of a table entry is a compile-time constant, which makes
        // planning faster.
        match sides.len() {
            1 => Ok(LoopNestBuilder::<2>::of(&mut scratch, sides, rules)?.walk()),
            2 => Ok(LoopNestBuilder::<3>::of(&mut scratch, sides, rules)?.walk()),
            3 => Ok(LoopNestBuilder::<4>::of(&mut scratch, sides, rules)?.walk()),
            _ => Ok(LoopNestBuilder::<0>::of(&mut scratch, sides, rules)?.walk()),
        }
    }

    /// Plans a loop nest over one array in C order. This always succeeds.
    pub fn c_order(side: &Layout) -> Self {
        // Planning cannot fail for a single array.
        Self::plan(&[side], LoopNestRules::default()).unwrap_or_else(|_| Self::flat(0))
    }

    /// Creates a loop nest over `size` elements of arrays that are all contiguous. The strides of the arrays are not
    /// stored.
    #[inline]
    pub fn flat(size: i64) -> Self {
        let mut table = SmallVec::new();
        table.push(size);
        table.push(size);
        Self { table, sides: 0, kept: 1 }
    }

    #[inline]
    fn width(&self) -> usize {
        1 + self.sides as usize
    }

    #[inline]
    fn rows(&self) -> std::slice::ChunksExact<'_, i64> {
        self.table[self.width()..].chunks_exact(self.width())
    }

    /// Returns the number of arrays.
    #[inline]
    pub fn sides(&self) -> usize {
        self.sides as usize
    }

    /// Returns the number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.table.len() / self.width() - 1
    }

    /// Returns the number of axes that are not reduced. These axes precede the reduced axes.
    #[inline]
    pub fn unreduced_rank(&self) -> usize {
        self.kept as usize
    }

    /// Returns the number of elements.
    #[inline]
    pub fn size(&self) -> i64 {
        self.table[0]
    }

    /// Returns the byte offset of an array's first element, from the start of its memory block.
    #[inline]
    pub fn offset(&self, side: usize) -> i64 {
        self.table[1 + side]
    }

    /// Returns the lengths of the axes, outermost first.
    #[inline]
    pub fn lens(&self) -> impl ExactSizeIterator<Item = i64> + DoubleEndedIterator + Clone + '_ {
        self.rows().map(|row| row[0])
    }

    /// Returns the strides of an array along the axes in bytes, outermost first.
    #[inline]
    pub fn strides(&self, side: usize) -> impl ExactSizeIterator<Item = i64> + DoubleEndedIterator + Clone + '_ {
        self.rows().map(move |row| row[1 + side])
    }

    /// Returns how the loop nest traverses the elements of an array.
    pub fn form(&self, side: usize, itemsize: i64) -> StridePattern {
        if self.size() <= 1 {
            return StridePattern::Contiguous;
        }
        let mut expected = itemsize;
        let is_flat = self.rows().rev().all(|row| {
            let is_next = row[1 + side] == expected;
            expected = expected.wrapping_mul(row[0]);
            is_next
        });
        match is_flat {
            true => StridePattern::Contiguous,
            false if self.strides(side).all(|stride| stride == 0) => StridePattern::Broadcast,
            false => StridePattern::Strided,
        }
    }

    /// Returns whether the strides of an array fit in 32 bits.
    pub fn has_short_strides(&self, side: usize) -> bool {
        self.strides(side).all(|stride| i32::try_from(stride).is_ok())
    }

    /// Moves an axis directly before the innermost one; `axis` must not be the innermost.
    pub fn move_axis_before_innermost(&mut self, axis: usize) {
        let width = self.width();
        let (from, end) = ((1 + axis) * width, self.rank() * width);
        if from < end {
            self.table[from..end].rotate_left(width);
        }
    }

    /// Returns the axes of the loop nest, each with the strides of the first `N` arrays.
    pub fn axes<const N: usize>(&self) -> SharedAxes<N> {
        let shared = |row: &[i64]| {
            let mut strides = [0; N];
            strides.iter_mut().zip(&row[1..]).for_each(|(stride, found)| *stride = *found);
            SharedAxis { len: row[0], strides }
        };
        let mut axes = SharedAxes::new();
        self.rows().for_each(|row| axes.push(shared(row)));
        axes
    }
}

/// Returns the axes that two arrays of equal shape share, in the memory order of the destination, and the byte offsets
/// of the first elements of both arrays.
///
/// # Errors
/// `ValueError` for different shapes.
pub fn paired(dst: &Layout, src: &Layout) -> Result<(SharedAxes<2>, [i64; 2])> {
    if !dst.shape().eq(src.shape()) {
        return Err(errors::shapes_differ(dst, src));
    }
    let mut scratch = Scratch::new();
    let draft = LoopNestBuilder::<3>::of(&mut scratch, &[dst, src], LoopNestRules { lead: Some(0), reduced: 0 })?;
    let mut axes = SharedAxes::new();
    for row in draft.table[3..draft.rows * 3].as_chunks::<3>().0 {
        axes.push(SharedAxis { len: row[0], strides: [row[1], row[2]] }); // `push` is inlined, unlike `collect`
    }
    Ok((axes, [draft.table[1], draft.table[2]]))
}

/// Returns the axis with the smallest nonzero stride of an array; `None` if all strides are 0. If the returned axis is
/// not the innermost, the loop nest is transposed for this array.
pub fn fastest<const N: usize>(axes: &[SharedAxis<N>], side: usize) -> Option<usize> {
    let moving = (0..axes.len()).filter(|&place| axes[place].strides[side] != 0);
    moving.min_by_key(|&place| axes[place].strides[side].unsigned_abs())
}

/// Memory filled with zeros, in which a loop nest is built. The memory is on the heap only if more than `SCRATCH`
/// numbers are needed.
struct Scratch([i64; SCRATCH], Vec<i64>);

impl Scratch {
    #[inline(always)]
    fn new() -> Self {
        Self([0; SCRATCH], Vec::new())
    }

    #[inline(always)]
    fn zeroes(&mut self, count: usize) -> &mut [i64] {
        if count <= SCRATCH {
            return &mut self.0[..count];
        }
        self.1.resize(count, 0);
        &mut self.1
    }
}

/// A loop nest under construction: a table of entries like that of [`LoopNest`], whose first `rows` entries have their
/// final position. `WIDTH` is the length of an entry, or 0 if this length is known only at run time.
struct LoopNestBuilder<'a, const WIDTH: usize> {
    table: &'a mut [i64],
    width: usize,
    /// Number of entries at the start of the table that have their final position.
    rows: usize,
    kept: usize,
}

impl<'a, const WIDTH: usize> LoopNestBuilder<'a, WIDTH> {
    #[inline(always)]
    fn of(scratch: &'a mut Scratch, sides: &[&Layout], rules: LoopNestRules) -> Result<Self> {
        let mut rank = 0;
        let mut itemsize = 1;
        for side in sides {
            rank = side.ndim().max(rank);
            itemsize = side.itemsize.max(itemsize);
        }
        let numbers = (1 + rank) * if WIDTH > 0 { WIDTH } else { 1 + sides.len() };
        let mut draft = Self::new(scratch.zeroes(numbers), sides)?;
        let (width, mut bytes) = (draft.width(), Some(itemsize));
        for axis in 0..rank {
            let len = draft.table[(1 + axis) * width];
            if len != 1 {
                // As in NumPy, an empty array must respect the size limit too: the limit applies to the product of the
                // nonzero lengths.
                bytes = bytes.and_then(|bytes| bytes.checked_mul(len.max(1)));
                draft.settle(1 + axis, rules.lead, rules.reduced >> axis & 1 == 1);
            }
        }
        match bytes {
            None => return Err(errors::too_big()),
            Some(_) if draft.table[0] == 0 => draft.empty(sides),
            Some(_) => draft.merge(),
        }
        Ok(draft)
    }

    #[inline(always)]
    fn width(&self) -> usize {
        if WIDTH > 0 { WIDTH } else { self.width }
    }

    /// Writes the table entries of all axes, in the original order of the axes, into a table that contains only zeros.
    #[inline(always)]
    fn new(table: &'a mut [i64], sides: &[&Layout]) -> Result<Self> {
        let width = if WIDTH > 0 { WIDTH } else { 1 + sides.len() };
        table.chunks_exact_mut(width).for_each(|row| row[0] = 1);
        let end = table.len();
        for (side, layout) in (1..width).zip(sides) {
            let axes = layout.axes();
            table[side] = layout.offset;
            let own = table[end - axes.len() * width..].chunks_exact_mut(width);
            for (row, axis) in own.zip(axes) {
                if axis.len == 1 {
                    continue;
                }
                if row[0] != 1 && row[0] != axis.len {
                    return Err(mismatch(sides));
                }
                (row[0], row[side]) = (axis.len, axis.stride);
            }
        }
        Ok(Self { table, width, rows: 1, kept: 0 })
    }

    /// Reduces the loop nest to one axis of length 0.
    fn empty(&mut self, sides: &[&Layout]) {
        let width = self.width();
        self.table[..2 * width].fill(0);
        self.table[1..width].iter_mut().zip(sides).for_each(|(first, side)| *first = side.offset);
        (self.rows, self.kept) = (2, 1);
    }

    #[inline(always)]
    fn walk(&self) -> LoopNest {
        let width = self.width();
        let table = SmallVec::from_slice(&self.table[..self.rows * width]);
        LoopNest { table, sides: width as u32 - 1, kept: self.kept as u32 }
    }

    /// Moves the axis whose table entry is at `from` to its final position in the loop nest. Reverses the axis if the
    /// leading array (`lead`) has a negative stride along it.
    #[inline(always)]
    fn settle(&mut self, from: usize, lead: Option<usize>, is_reduced: bool) {
        let (width, end) = (self.width(), self.rows);
        if from > end {
            self.table.copy_within(from * width..(from + 1) * width, end * width);
        }
        let (all, rest) = self.table.split_at_mut(end * width);
        let row = &mut rest[..width];
        all[0] = all[0].wrapping_mul(row[0]);
        let (low, high) = if is_reduced { (1 + self.kept, end) } else { (1, 1 + self.kept) };
        self.kept += usize::from(!is_reduced);
        self.rows += 1;
        let mut place = high;
        if let Some(lead) = lead {
            turn(row, lead, &mut all[1..width]);
            // Axes with equal strides keep their order.
            while place > low && is_nearer(&all[(place - 1) * width..place * width], row, lead) {
                place -= 1;
            }
        }
        if place < end {
            self.table[place * width..(end + 1) * width].rotate_right(width);
        }
    }

    /// Merges neighbouring axes that form one evenly spaced run in every array.
    #[inline(always)]
    fn merge(&mut self) {
        let width = self.width();
        let (mut outer, mut kept) = (0, 0);
        for row in 1..self.rows {
            let begins = row == 1 || row == 1 + self.kept;
            let (before, inner) = self.table.split_at_mut(row * width);
            let (into, inner) = (&mut before[outer * width..(outer + 1) * width], &inner[..width]);
            if !begins && are_even(into, inner) {
                into[0] *= inner[0]; // cannot overflow: the product is at most the number of elements
                into[1..].copy_from_slice(&inner[1..]);
            } else {
                outer += 1;
                if outer < row {
                    self.table.copy_within(row * width..(row + 1) * width, outer * width);
                }
            }
            if row <= self.kept {
                kept = outer;
            }
        }
        (self.rows, self.kept) = (outer + 1, kept);
    }
}

/// Reverses an axis of the loop nest if the leading array has a negative stride along this axis. If the leading array's
/// stride is 0, the sign of the first nonzero stride of another array decides.
#[inline(always)]
fn turn(row: &mut [i64], lead: usize, offsets: &mut [i64]) {
    let decides = match row[1 + lead] {
        0 => row[1..].iter().copied().find(|stride| *stride != 0).unwrap_or(0),
        stride => stride,
    };
    if decides < 0 {
        let len = row[0];
        for (stride, offset) in row[1..].iter_mut().zip(offsets) {
            // The product cannot overflow for a stride that is used, because both ends of an axis are addressable. It
            // may wrap for strides that no address computation uses.
            *offset = offset.wrapping_add((len - 1).wrapping_mul(*stride));
            *stride = stride.wrapping_neg();
        }
    }
}

/// Returns whether `axis` has smaller strides than `other`. The strides of the leading array are compared first. If
/// these strides are equal, the strides of the remaining arrays are compared.
#[inline(always)]
fn is_nearer(axis: &[i64], other: &[i64], lead: usize) -> bool {
    let by = |side: usize| axis[side].unsigned_abs().cmp(&other[side].unsigned_abs());
    let mut order = by(1 + lead);
    for side in 1..axis.len() {
        order = order.then_with(|| by(side));
    }
    order == Ordering::Less
}

#[inline(always)]
fn are_even(outer: &[i64], inner: &[i64]) -> bool {
    outer[1..].iter().zip(&inner[1..]).all(|(outer, stride)| inner[0].checked_mul(*stride) == Some(*outer))
}

#[cold]
fn mismatch(sides: &[&Layout]) -> pygpu_base::error::Error {
    let shapes: Vec<Dims> = sides.iter().map(|side| side.shape().collect()).collect();
    errors::broadcast(&shapes.iter().map(|shape| &shape[..]).collect::<Vec<_>>())
}
