//! One walk over any number of arrays: which axes are left, in which order and direction they are gone along, and where.
//!
//! The arrays are broadcast to one shape, and axes of length 1 dropped. Where the order of the elements does not matter, axes
//! are turned so that the leading array runs up, and sorted so that it runs along memory. Neighbours that are one even run in
//! every array are merged. Axes that are reduced come behind those that are kept, and are merged among themselves only.
//!
//! Copies, kernels of expressions, gathers, reductions and scans are all planned here; what they make of a plan is theirs.

mod pieces;

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::{Dims, Layout, errors};
use pygpu_base::error::Result;

pub use pieces::{Pieces, SharedAxes, SharedAxis};

/// Numbers of a plan that need no memory of their own: three axes of two arrays, two of three.
const INLINE: usize = 14;

/// The same while it is made, when axes are not merged yet.
const SCRATCH: usize = 40;

/// What is indexed with fewer elements needs 32 bits.
pub const NARROW: i64 = 1 << 31;

/// What a walk over arrays may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rules {
    /// The array along whose memory the walk goes, where the order of the elements does not matter; without one they are met
    /// in C order.
    pub lead: Option<usize>,
    /// The axes of the common shape that are reduced, the outermost one as the lowest bit.
    pub reduced: u64,
}

/// What an array is to whoever walks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Its elements lie side by side in the order of the walk.
    Flat,
    /// One element, over and over.
    Repeated,
    /// Anything else.
    Strided,
}

/// A walk over arrays that were broadcast to one shape.
///
/// No axis has length 1; no axes at all means one element. No elements: one axis of length 0.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Walk {
    /// Rows of one number more than there are arrays. The first has the number of elements, and where the first element of
    /// each array is; then comes one for each axis, outermost first, with its length, and its stride in each array.
    table: SmallVec<[i64; INLINE]>,
    sides: u32,
    kept: u32,
}

// It is returned by value, and kept beside what a launch needs.
const _: () = assert!(size_of::<Walk>() <= 128, "a walk has outgrown two cache lines");

impl Walk {
    /// Plans a walk.
    ///
    /// # Errors
    /// `ValueError` for shapes that do not broadcast, or broadcast to one that is too big.
    pub fn plan(sides: &[&Layout], rules: Rules) -> Result<Self> {
        let mut scratch = Scratch::new();
        // Loops over so many arrays as most walks have are known to the compiler.
        match sides.len() {
            1 => Ok(Draft::<2>::of(&mut scratch, sides, rules)?.walk()),
            2 => Ok(Draft::<3>::of(&mut scratch, sides, rules)?.walk()),
            3 => Ok(Draft::<4>::of(&mut scratch, sides, rules)?.walk()),
            _ => Ok(Draft::<0>::of(&mut scratch, sides, rules)?.walk()),
        }
    }

    /// Of one array in C order, which always has a walk.
    pub fn c_order(side: &Layout) -> Self {
        // No shape is refused by itself.
        Self::plan(&[side], Rules::default()).unwrap_or_else(|_| Self::flat(0))
    }

    /// Over so many elements of arrays that are all flat, whose strides nobody asks for.
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

    /// Number of arrays.
    #[inline]
    pub fn sides(&self) -> usize {
        self.sides as usize
    }

    /// Number of axes.
    #[inline]
    pub fn rank(&self) -> usize {
        self.table.len() / self.width() - 1
    }

    /// Number of the axes that are not reduced; the others stand behind them.
    #[inline]
    pub fn kept(&self) -> usize {
        self.kept as usize
    }

    /// Number of elements.
    #[inline]
    pub fn size(&self) -> i64 {
        self.table[0]
    }

    /// Where the first element of an array is, from the start of its allocation.
    #[inline]
    pub fn offset(&self, side: usize) -> i64 {
        self.table[1 + side]
    }

    /// Lengths of the axes, outermost first.
    #[inline]
    pub fn lens(&self) -> impl ExactSizeIterator<Item = i64> + DoubleEndedIterator + Clone + '_ {
        self.rows().map(|row| row[0])
    }

    /// Strides of an array along the axes, outermost first.
    #[inline]
    pub fn strides(&self, side: usize) -> impl ExactSizeIterator<Item = i64> + DoubleEndedIterator + Clone + '_ {
        self.rows().map(move |row| row[1 + side])
    }

    /// What an array is in this walk.
    pub fn form(&self, side: usize, itemsize: i64) -> Form {
        if self.size() <= 1 {
            return Form::Flat;
        }
        let mut expected = itemsize;
        let is_flat = self.rows().rev().all(|row| {
            let is_next = row[1 + side] == expected;
            expected = expected.wrapping_mul(row[0]);
            is_next
        });
        match is_flat {
            true => Form::Flat,
            false if self.strides(side).all(|stride| stride == 0) => Form::Repeated,
            false => Form::Strided,
        }
    }

    /// Whether the strides of an array fit in 32 bits.
    pub fn has_short_strides(&self, side: usize) -> bool {
        self.strides(side).all(|stride| i32::try_from(stride).is_ok())
    }

    /// Moves an axis to right before the innermost one, which is another.
    pub fn bring(&mut self, axis: usize) {
        let width = self.width();
        let (from, end) = ((1 + axis) * width, self.rank() * width);
        if from < end {
            self.table[from..end].rotate_left(width);
        }
    }

    /// The axes as whoever knows the number of arrays takes them; strides of other arrays are left out.
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

/// The axes of two arrays of one shape and where they begin, in the order of the memory of the one that is written.
///
/// # Errors
/// `ValueError` for other shapes.
pub fn paired(dst: &Layout, src: &Layout) -> Result<(SharedAxes<2>, [i64; 2])> {
    if !dst.shape().eq(src.shape()) {
        return Err(errors::shapes_differ(dst, src));
    }
    let mut scratch = Scratch::new();
    let draft = Draft::<3>::of(&mut scratch, &[dst, src], Rules { lead: Some(0), reduced: 0 })?;
    let mut axes = SharedAxes::new();
    for row in draft.table[3..draft.rows * 3].as_chunks::<3>().0 {
        axes.push(SharedAxis { len: row[0], strides: [row[1], row[2]] }); // inlined, which `collect` is not
    }
    Ok((axes, [draft.table[1], draft.table[2]]))
}

/// The axis along which an array moves least, which it runs fastest along; `None` for one that does not move. The walk is
/// turned for this array where that is not the innermost axis.
pub fn fastest<const N: usize>(axes: &[SharedAxis<N>], side: usize) -> Option<usize> {
    let moving = (0..axes.len()).filter(|&place| axes[place].strides[side] != 0);
    moving.min_by_key(|&place| axes[place].strides[side].unsigned_abs())
}

/// The numbers of a draft: as many zeroes as are asked for, on the heap only where they are many.
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

/// A walk while it is made: rows as [`Walk`] has them, of which those in front are in their places. `WIDTH` is that of a row; 0 where
/// it is known only when the program runs.
struct Draft<'a, const WIDTH: usize> {
    table: &'a mut [i64],
    width: usize,
    /// Rows that are in their places.
    rows: usize,
    kept: usize,
}

impl<'a, const WIDTH: usize> Draft<'a, WIDTH> {
    #[inline(always)]
    fn of(scratch: &'a mut Scratch, sides: &[&Layout], rules: Rules) -> Result<Self> {
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
                // As NumPy counts: an empty array's other axes must fit too.
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

    /// Rows of all axes, as they are, in a table of zeroes.
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

    /// One axis of length 0.
    fn empty(&mut self, sides: &[&Layout]) {
        let width = self.width();
        self.table[..2 * width].fill(0);
        self.table[1..width].iter_mut().zip(sides).for_each(|(first, side)| *first = side.offset);
        (self.rows, self.kept) = (2, 1);
    }

    #[inline(always)]
    fn walk(&self) -> Walk {
        let width = self.width();
        let table = SmallVec::from_slice(&self.table[..self.rows * width]);
        Walk { table, sides: width as u32 - 1, kept: self.kept as u32 }
    }

    /// Brings a row from further behind into its direction and place.
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
            // Axes of equal strides keep their order.
            while place > low && is_nearer(&all[(place - 1) * width..place * width], row, lead) {
                place -= 1;
            }
        }
        if place < end {
            self.table[place * width..(end + 1) * width].rotate_right(width);
        }
    }

    /// Joins neighbours that in every array are one even run.
    #[inline(always)]
    fn merge(&mut self) {
        let width = self.width();
        let (mut outer, mut kept) = (0, 0);
        for row in 1..self.rows {
            let begins = row == 1 || row == 1 + self.kept;
            let (before, inner) = self.table.split_at_mut(row * width);
            let (into, inner) = (&mut before[outer * width..(outer + 1) * width], &inner[..width]);
            if !begins && are_even(into, inner) {
                into[0] *= inner[0]; // at most the number of elements
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

/// Walks an axis from its other end if the leading array moves down along it, or the first that moves where that one does not.
#[inline(always)]
fn turn(row: &mut [i64], lead: usize, offsets: &mut [i64]) {
    let decides = match row[1 + lead] {
        0 => row[1..].iter().copied().find(|stride| *stride != 0).unwrap_or(0),
        stride => stride,
    };
    if decides < 0 {
        let len = row[0];
        for (stride, offset) in row[1..].iter_mut().zip(offsets) {
            // Fits, since the reach of an axis does in both directions; wraps only where strides mean nothing.
            *offset = offset.wrapping_add((len - 1).wrapping_mul(*stride));
            *stride = stride.wrapping_neg();
        }
    }
}

/// Whether the arrays move less along an axis than along another, the leading array first.
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
