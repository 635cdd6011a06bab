//! Chooses how many elements a thread of a kernel processes together (a pack), and how these elements lie in memory
//! (the pack layout).

use std::sync::Arc;

use smallvec::SmallVec;

use super::super::tile_plan::{TileTraversal, Tiles};
use super::super::user_source_analysis::{Analysis, Usage, WrittenNames};
use super::{AccessPattern, ElementOperand, ElementPlan, Used};
use pygpu_array::Array;
use pygpu_base::dtype::ScalarType;
use pygpu_base::small_sort;
use pygpu_device::Device;

/// Size of a vector load or store in bytes.
pub(super) const BYTES: usize = 16;
/// Number of elements per thread if two consecutive elements of a thread are N elements apart, where N is the number of
/// threads in a block.
pub(super) const APART: u8 = 4;
/// Number of elements per thread if the elements have at most 4 bytes and are one row apart (vertically adjacent).
/// Besides its own rows, each block of threads reads the rows directly above and below them. More rows per block
/// therefore save reads.
const ROWS: u8 = 8;

/// Maximum number of threads of a launch. A larger call needs a loop.
pub const MOST_THREADS: u64 = 1 << 31;

/// Maximum compile time in milliseconds of a fully unrolled expression, summed over its copies for the elements of a
/// pack.
pub const UNROLLED: usize = 16;

/// Arrangement in memory of the elements that a thread processes together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PackLayout {
    /// The elements are contiguous in each array.
    Contiguous,
    /// The elements are contiguous. The first vector load begins this number of elements before the arrays' first
    /// element, so that all stores are aligned.
    Peeled(u8),
    /// The elements are contiguous along the last axis, whose length is a multiple of the number of elements in a pack
    /// (vector load). Along this axis, each array is contiguous or broadcast.
    InnerContiguous,
    /// Two consecutive elements of a thread are N elements apart, where N is the number of threads in a block.
    BlockStrided,
    /// The elements are vertically adjacent: they have one index along the last axis and lie in consecutive rows.
    StackedRows,
    /// The elements of a thread are in one column of a tile, in rows that are equally far apart. Each block processes
    /// one tile.
    Tiles(Tiles),
}

/// Returns how many contiguous elements a thread processes together (the pack size): as many elements of the call's
/// largest type as 16 bytes contain. The pack size is doubled if the kernel writes elements of a smaller type, because
/// their store would otherwise write few bytes.
#[inline]
pub(super) fn side_by_side(smallest_written: usize, largest: usize) -> usize {
    BYTES / largest * if smallest_written < largest && largest < BYTES { 2 } else { 1 }
}

/// Returns the number of packs (vector loads of contiguous elements) that a thread makes at once for an expression with
/// the given compile-time weight (approximate compile time in milliseconds).
fn packs_per_thread(pack: u8, weight: u8) -> u8 {
    const LEAST: u8 = 2;
    let is_unrolled = usize::from(weight) * usize::from(pack) <= UNROLLED;
    if pack > 1 && weight >= LEAST && is_unrolled { 2 } else { 1 }
}

impl ElementPlan {
    /// Chooses the pack size and the pack layout, unless a written array overlaps an array that is not identical to it.
    /// For transposed operands, the function chooses tiles. If all arrays are contiguous, and aligned or of elements of
    /// at most 2 bytes, it chooses packs of 16 bytes of the largest type. Otherwise it chooses packs along the last
    /// axis, vertically adjacent elements, or elements that are as far apart as a thread block has threads.
    pub(super) fn choose_pack(&mut self, used: &Used<'_>, may_turn: bool) {
        if used.iter().any(|(array, _)| array.dtype().kind() == ScalarType::Opaque) {
            return; // user-defined types may lack the constructors that the type of a pack requires
        }
        let Some(same) = self.same(used) else { return };
        let walked = || used.iter().zip(&self.operands).filter(|((_, usage), _)| usage.at_index);
        let largest = walked().map(|((array, _), _)| array.dtype().itemsize()).max().unwrap_or(BYTES);
        let written = walked().filter(|((_, usage), _)| usage.written > WrittenNames::No);
        let smallest = written.map(|((array, _), _)| array.dtype().itemsize()).min().unwrap_or(largest);
        let pack = side_by_side(smallest, largest);
        let is_even = |address: usize, itemsize: usize| address.is_multiple_of((itemsize * pack).min(BYTES));
        let is_flat = walked().all(|((array, _), one)| match one.form {
            AccessPattern::Contiguous => is_even(one.address, array.dtype().itemsize()),
            form => form == AccessPattern::Broadcast,
        });
        (self.pack, self.way) = match is_flat && pack > 1 {
            true => (pack as u8, PackLayout::Contiguous),
            false => (APART, PackLayout::BlockStrided),
        };
        if self.size() < i64::from(self.pack) {
            (self.pack, self.way) = (1, PackLayout::Contiguous);
            return;
        }
        if may_turn && !is_flat {
            self.turn(used, largest);
            self.shift(used, largest);
        }
        if self.way == PackLayout::BlockStrided {
            self.line(used, BYTES / largest);
        }
        if may_turn && self.way == PackLayout::BlockStrided {
            self.stack(used, largest);
        }
        for (first, second) in same {
            if !matches!(self.operands[second].form, AccessPattern::SameAs(_)) {
                self.operands[second].form = match self.operands[first].form {
                    AccessPattern::SameAs(earlier) => AccessPattern::SameAs(earlier),
                    _ => AccessPattern::SameAs(first as u8),
                };
            }
        }
    }

    /// Decides whether threads process packs in a loop, and how many at once.
    ///
    /// A thread processes two packs of elements, as many packs apart as a block has threads, if the expression takes
    /// some time but is fully unrolled. The loads of both packs then overlap, and so do their computations. With more
    /// than three arrays, two packs would need too many registers.
    #[inline]
    pub(super) fn choose_packs(&mut self, analysis: &Analysis, device: Device) {
        const MOST_ARRAYS: usize = 3;
        let is_fit = self.way == PackLayout::Contiguous && self.operands.len() <= MOST_ARRAYS;
        if device.is_cpu() || analysis.counts_threads {
            return;
        }
        // A loop takes a tenth of the compile time of a sum, and registers.
        let is_special = matches!(self.way, PackLayout::StackedRows | PackLayout::Tiles(_));
        self.is_looped = self.pack == 1 || is_special || self.size() as u64 / u64::from(self.pack) >= MOST_THREADS;
        if is_fit {
            self.packs = packs_per_thread(self.pack, analysis.weight);
        }
    }

    /// Chooses packs along the last axis if the length of this axis is a multiple of the pack size, and all arrays are
    /// aligned for loads of packs. The kernel then computes one offset per pack.
    fn line(&mut self, used: &Used<'_>, pack: usize) {
        let is_whole = self.walk.lens().last().is_some_and(|len| len > 0 && len % pack as i64 == 0);
        if pack < 2 || !is_whole {
            return;
        }
        let mut forms: SmallVec<[AccessPattern; 6]> = SmallVec::new();
        for ((array, usage), one) in used.iter().zip(&self.operands) {
            let itemsize = array.dtype().itemsize();
            let is_even = |bits: usize| bits.is_multiple_of((itemsize * pack).min(BYTES));
            forms.push(match one.form {
                AccessPattern::Strided => match self.walk.strides(one.side.into()).last() {
                    Some(0) => AccessPattern::InnerBroadcast,
                    Some(stride) if stride == itemsize as i64 => {
                        let outer = self.walk.strides(one.side.into()).take(self.walk.rank() - 1);
                        if !is_even(outer.fold(one.address, |bits, stride| bits | stride as usize)) {
                            return;
                        }
                        AccessPattern::InnerContiguous
                    }
                    _ => return,
                },
                AccessPattern::Contiguous if usage.at_index && !is_even(one.address) => return,
                form => form,
            });
        }
        (self.pack, self.way) = (pack as u8, PackLayout::InnerContiguous);
        for (one, form) in self.operands.iter_mut().zip(forms) {
            one.form = form;
        }
    }

    /// Chooses packs of vertically adjacent elements if the call reads several views of one memory block that are a few
    /// rows apart, as in a stencil. If several views contain a row, each block of threads then reads this row only
    /// once.
    fn stack(&mut self, used: &Used<'_>, largest: usize) {
        const LEAST: i64 = 128;
        const SMALL: usize = 4;
        let Some(len) = self.walk.lens().last() else { return };
        let rows = if largest <= SMALL { ROWS } else { APART };
        if self.walk.rank() < 2 || len < LEAST || self.size() < len * i64::from(rows) {
            return;
        }
        let read = || {
            let all = used.iter().zip(&self.operands);
            all.filter(|((_, usage), one)| one.form == AccessPattern::Strided && usage.written == WrittenNames::No)
        };
        let steps = |one: &ElementOperand| self.walk.strides(one.side.into());
        let mut is_rows_apart = false;
        for ((array, _), one) in read() {
            let row = len as usize * array.dtype().itemsize();
            let step = steps(one).rev().nth(1).map_or(0, i64::unsigned_abs) as usize;
            for ((other, _), two) in read() {
                let distance = two.address.saturating_sub(one.address);
                if !Arc::ptr_eq(array.allocation(), other.allocation()) || !steps(one).eq(steps(two)) {
                    continue;
                }
                if distance > step * usize::from(rows) {
                    return; // the distance between the views is so large that no block of threads would read the same row through two of them
                }
                is_rows_apart |= distance >= row;
            }
        }
        if is_rows_apart {
            (self.pack, self.way) = (rows, PackLayout::StackedRows);
        }
    }

    /// Chooses tiles if the kernel reads, but does not write, arrays that are transposed relative to the call's other
    /// arrays.
    fn turn(&mut self, used: &Used<'_>, largest: usize) {
        let mut read: SmallVec<[usize; 4]> = SmallVec::new();
        for (one, (_, usage)) in self.operands.iter().zip(used) {
            if !usage.at_index {
                return;
            }
            if one.form == AccessPattern::Strided && usage.written == WrittenNames::No {
                read.push(one.side.into());
            }
        }
        let Some(TileTraversal { tiles, axis, sides }) = Tiles::of(&self.walk, &read, largest) else { return };
        self.walk.move_axis_before_innermost(axis);
        for one in &mut self.operands {
            one.form = match one.form {
                AccessPattern::Broadcast => AccessPattern::Broadcast,
                _ if sides.contains(&usize::from(one.side)) => AccessPattern::Transposed,
                _ => AccessPattern::Strided, // in tiles, contiguous arrays are addressed by strides too
            };
        }
        (self.pack, self.way) = (tiles.each(), PackLayout::Tiles(tiles));
        self.span = Tiles::span(&self.walk, self.strided());
    }

    /// Chooses to read misaligned elements of at most 2 bytes as aligned words, if all arrays are contiguous. Loading
    /// such an element costs as much as loading a word of 4 bytes. For larger elements, this method saves no time.
    fn shift(&mut self, used: &Used<'_>, largest: usize) {
        const LARGEST: usize = 2;
        const LEAST_SIZE: i64 = 1 << 14;
        let is_flat = used.iter().zip(&self.operands).all(|((_, usage), one)| {
            usage.at_index && matches!(one.form, AccessPattern::Contiguous | AccessPattern::Broadcast)
        });
        if !is_flat || largest > LARGEST || self.size() < LEAST_SIZE {
            return;
        }
        let pack = 16 / largest;
        let behind = |one: &ElementOperand, array: &Array| {
            let itemsize = array.dtype().itemsize();
            one.address % (itemsize * pack) / itemsize
        };
        let all = || self.operands.iter().zip(used);
        let mut written = all().filter(|(_, (_, usage))| usage.written > WrittenNames::No);
        let Some(head) = written.next().map(|(one, (array, _))| behind(one, array)) else { return };
        if written.any(|(one, (array, _))| behind(one, array) != head) {
            return;
        }
        (self.pack, self.way) = (pack as u8, PackLayout::Peeled(head as u8));
        for (one, (array, _)) in self.operands.iter_mut().zip(used) {
            if one.form == AccessPattern::Contiguous && behind(one, array) != head {
                one.form = AccessPattern::Misaligned;
            }
        }
    }

    /// Returns the pairs of arguments for which the call passes the same array, provided that the kernel writes one of
    /// the two arguments. Returns `None` if a written array overlaps an array that is not identical to it.
    fn same(&self, used: &Used<'_>) -> Option<SmallVec<[(usize, usize); 2]>> {
        let mut spans: SmallVec<[(usize, usize); 6]> = SmallVec::new();
        for (one, (array, usage)) in self.operands.iter().zip(used) {
            spans.push(self.reach(one, array, usage));
        }
        let mut same = SmallVec::new();
        for written in (0..used.len()).filter(|at| used[*at].1.written > WrittenNames::No) {
            for other in (0..used.len()).filter(|other| *other != written) {
                if spans[written].0 >= spans[other].1 || spans[other].0 >= spans[written].1 {
                    continue;
                }
                let ((one, one_used), (two, two_used)) = (used[written], used[other]);
                let is_same = one_used.at_index
                    && two_used.at_index
                    && one.dtype() == two.dtype()
                    && self.are_same(&self.operands[written], &self.operands[other]);
                if !is_same {
                    return None;
                }
                same.push((written.min(other), written.max(other)));
            }
        }
        small_sort::sort_by_key(&mut same, |one| *one); // the pairs are sorted, so that each array is matched with its first occurrence
        Some(same)
    }

    fn are_same(&self, one: &ElementOperand, two: &ElementOperand) -> bool {
        let strides = |operand: &ElementOperand| self.walk.strides(operand.side.into());
        (one.address, one.form) == (two.address, two.form)
            && (one.form != AccessPattern::Strided || strides(one).eq(strides(two)))
    }

    /// Returns the address range that a call accesses in an array: the address of the first byte, and the address after
    /// the last byte.
    fn reach(&self, operand: &ElementOperand, array: &Array, usage: &Usage) -> (usize, usize) {
        if operand.form == AccessPattern::Contiguous && usage.at_index {
            return (operand.address, operand.address + self.size() as usize * array.dtype().itemsize());
        }
        match array.layout().extent() {
            Some((low, high)) => {
                let start = array.allocation().address();
                (start.wrapping_add_signed(low as isize), start.wrapping_add_signed(high as isize))
            }
            None => (0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::packs_per_thread;

    #[test]
    fn thread_loads_two_packs_for_unrolled_expressions_of_some_weight() {
        let of = |pack| [0, 1, 2, 4, 8, 9].map(|weight| packs_per_thread(pack, weight));
        assert_eq!(of(1), [1, 1, 1, 1, 1, 1]);
        assert_eq!(of(2), [1, 1, 2, 2, 2, 1]);
        assert_eq!(of(4), [1, 1, 2, 2, 1, 1]);
        assert_eq!(of(8), [1, 1, 2, 1, 1, 1]);
    }
}
