//! Which kernel a copy on a device is for, by arithmetic alone.
//!
//! A piece of adjacent bytes is moved in units of up to 16 bytes, as large as addresses, strides and length allow; what is
//! left are axes along which units repeat. Whether the axis that runs fastest where it is read is the one that runs
//! fastest where it is written decides what is quick.

use pygpu_backend::Address;
use pygpu_base::small_sort;
use pygpu_layout::{NARROW, Pieces, SharedAxes, SharedAxis, fastest};

/// Numbers that the kernels divide are below this.
pub(super) const DIVISIBLE: i64 = NARROW;

/// The largest unit in bytes.
pub(super) const LARGEST: i64 = 16;

/// Units of a line from which on a block takes a part of one line only.
const LONG_LINE: i64 = 1024;

/// Units of a plane below which the caches hold all of it, so that order means little.
const SMALL_PLANE: i64 = 1024;

/// Neighbours that are further apart than this share no sector of memory: nothing is gained by reading them together.
const SECTOR: u64 = 32;

/// Bytes of a line from which on lines that are read again are written one after the other: whole lines of the caches.
const SHORT_LINE: i64 = 128;

/// Threads of a block: a tile has no longer side.
const MOST_SIDE: i64 = 256;

/// A copy in units of `unit` bytes: addresses of the first, and the axes, outermost first as they are written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Units {
    pub(super) unit: i64,
    pub(super) to: Address,
    pub(super) from: Address,
    pub(super) axes: SharedAxes<2>,
}

/// The kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Class {
    /// Long innermost lines: places are computed once for each block.
    Lines {
        /// The same is read for several lines: blocks take the same part of all lines, one after the other, so that it is read from
        /// memory once.
        again: bool,
    },
    /// Anything: places are computed for each unit; `wide` with 64-bit numbers.
    Flat {
        /// There are 2^31 units or more.
        wide: bool,
    },
    /// A transposition of vectors of so many bytes, in registers. The axes `x` and `y` come last.
    Squares {
        /// Bytes of a vector.
        vector: i64,
    },
    /// A transposition through shared memory. The axes `x` and `y` come last.
    Tiles {
        /// Units of a tile along the axis that is written fastest.
        x: i64,
        /// Units of a tile along the axis that is read fastest.
        y: i64,
    },
}

/// What a measurement or a test asks for instead of the choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// The choice.
    None,
    /// No transposition in registers.
    Tiles,
    /// One kernel for everything.
    Flat,
}

impl Units {
    /// Of pieces, given where byte 0 of both layouts is. There is at least one axis.
    pub(super) fn of(pieces: &Pieces, to: Address, from: Address) -> Self {
        Self::aligned(pieces, to, from, std::iter::empty())
    }

    /// As `of`, in units that suit other distances too.
    pub(super) fn aligned(pieces: &Pieces, to: Address, from: Address, others: impl Iterator<Item = i64>) -> Self {
        let to = to.wrapping_add_signed(pieces.dst as isize);
        let from = from.wrapping_add_signed(pieces.src as isize);
        let strides = pieces.axes.iter().flat_map(|axis| axis.strides).chain(others);
        let bits = strides.fold(LARGEST | pieces.width | to as i64 | from as i64, |bits, stride| bits | stride);
        let unit = 1 << bits.trailing_zeros();
        let mut axes = pieces.axes.clone();
        if pieces.width > unit || axes.is_empty() {
            axes.push(SharedAxis { len: pieces.width / unit, strides: [unit; 2] });
        }
        Self { unit, to, from, axes }
    }

    fn count(&self) -> i64 {
        self.axes.iter().map(|axis| axis.len).product()
    }

    /// Chooses, and brings the axes into the order in which the kernel wants them.
    pub(super) fn choose(mut self, wish: Wish) -> (Self, Class) {
        if wish != Wish::Flat
            && let Some(class) = self.transposition(wish)
        {
            return (self, class);
        }
        let is_read_again = self.bring_repeats_inward();
        match self.straight(wish) {
            Class::Lines { .. } => (self, Class::Lines { again: is_read_again }),
            class => (self, class),
        }
    }

    /// Puts axes along which the same is read again behind the others, but for the lines; says whether there are any.
    fn bring_repeats_inward(&mut self) -> bool {
        let Some((line, outer)) = self.axes.split_last_mut() else { return false };
        if line.len * self.unit < SHORT_LINE || line.strides[1] == 0 {
            return false;
        }
        small_sort::sort_by_key(outer, |axis| axis.strides[1] == 0);
        outer.last().is_some_and(|axis| axis.strides[1] == 0)
    }

    /// The kernel where nothing is read, or what is read is in the order of what is written.
    pub(super) fn straight(&self, wish: Wish) -> Class {
        let inner = self.axes.last().map_or(1, |axis| axis.len);
        if wish != Wish::Flat && inner >= LONG_LINE {
            Class::Lines { again: false }
        } else {
            Class::Flat { wide: self.count() >= DIVISIBLE }
        }
    }

    /// The transposition that the copy is, if it is one; moves its axes to the end.
    fn transposition(&mut self, wish: Wish) -> Option<Class> {
        let x = self.axes.len().checked_sub(1)?;
        let y = fastest(&self.axes, 1).filter(|&y| y != x)?;
        let (along_x, along_y) = (self.axes[x], self.axes[y]);
        let reach = along_y.strides[1].unsigned_abs();
        let is_turned = reach < along_x.strides[1].unsigned_abs() && reach < SECTOR;
        if !is_turned || along_x.len.min(along_y.len) < 2 || along_x.len * along_y.len < SMALL_PLANE {
            return None;
        }
        let axis = self.axes.remove(y);
        self.axes.push(axis); // x, y
        match self.vector(along_x, along_y) {
            Some(vector) if wish == Wish::None => Some(Class::Squares { vector }),
            _ => Some(tiles(self.unit, along_x.len, along_y.len)),
        }
    }

    /// The vectors by which a plane can be turned in registers.
    fn vector(&self, x: SharedAxis<2>, y: SharedAxis<2>) -> Option<i64> {
        if x.strides[0] != self.unit || y.strides[1] != self.unit {
            return None;
        }
        let outer = &self.axes[..self.axes.len() - 2];
        let strides = outer.iter().flat_map(|axis| axis.strides).chain([x.strides[1], y.strides[0]]);
        let lengths = (x.len | y.len).wrapping_mul(self.unit);
        let bits = strides.fold(self.to as i64 | self.from as i64 | lengths, |bits, stride| bits | stride);
        // Eight bytes are enough for single bytes: a square of 16 x 16 would not stay in registers.
        let most = if self.unit == 1 { 8 } else { LARGEST };
        let vector = 1 << (bits | most).trailing_zeros();
        let is_worth_it = vector >= 4 && (vector >= 2 * self.unit || self.unit == LARGEST);
        (is_worth_it && x.len.min(y.len) >= 16).then_some(vector)
    }
}

/// The tiles for a plane of such lengths: runs of at least 64 bytes each way; longer the one way where the other is short.
fn tiles(unit: i64, x: i64, y: i64) -> Class {
    let (side, area) = match unit {
        1 | 2 => (64, 64 * 64),
        4 => (64, 64 * 32),
        _ => (32, 32 * 32),
    };
    let fitting = |len: i64, most: i64| ((len as u64).next_power_of_two() as i64).min(most);
    let tile_x = fitting(x, side).max(4);
    let tile_y = fitting(y, (area / tile_x).min(MOST_SIDE)).max(4);
    let tile_x = fitting(x, (area / tile_y).min(MOST_SIDE)).max(1024 / tile_y);
    Class::Tiles { x: tile_x, y: tile_y }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::super::parameters::{Tuning, parameters};
    use super::*;
    use pygpu_layout::{Layout, Order};

    /// The choice for a copy of a transposed, stepped or cut array into a C-ordered one.
    fn chosen(source: &Layout, to: Address, from: Address) -> (Units, Class) {
        let shape: Vec<i64> = source.shape().collect();
        let target = Layout::contiguous(&shape, source.itemsize(), Order::C).unwrap();
        Units::of(&Pieces::of(&target, source).unwrap(), to, from).choose(Wish::None)
    }

    fn dense(shape: &[i64], itemsize: i64) -> Layout {
        Layout::contiguous(shape, itemsize, Order::C).unwrap()
    }

    #[test]
    fn a_transposition_is_turned_in_registers_where_vectors_fit() {
        for (itemsize, vector) in [(1, 8), (2, 16), (4, 16), (8, 16), (16, 16)] {
            let (units, class) = chosen(&dense(&[512, 1024], itemsize).transpose(None).unwrap(), 1 << 20, 1 << 21);
            assert_eq!((units.unit, class), (itemsize, Class::Squares { vector }));
        }
        let plane = dense(&[512, 1024], 4).transpose(None).unwrap();
        assert_eq!(chosen(&plane, (1 << 20) + 8, 1 << 21).1, Class::Squares { vector: 8 });
        assert!(matches!(chosen(&plane, (1 << 20) + 4, 1 << 21).1, Class::Tiles { .. }));
        let odd = dense(&[513, 1023], 4).transpose(None).unwrap();
        assert!(matches!(chosen(&odd, 1 << 20, 1 << 21).1, Class::Tiles { .. }));
    }

    #[test]
    fn tiles_follow_short_sides_and_are_powers_of_two_that_fill_a_block() {
        for unit in [1, 2, 4, 8, 16] {
            for (x, y) in [(5000, 3), (3, 5000), (5000, 5000), (40, 33), (32, 32), (300, 5), (17, 100)] {
                let Class::Tiles { x: tile_x, y: tile_y } = tiles(unit, x, y) else { panic!("no tiles") };
                assert!(tile_x.count_ones() == 1 && tile_y.count_ones() == 1, "{tile_x} x {tile_y}");
                assert!(tile_x.max(tile_y) <= MOST_SIDE && tile_x * tile_y >= 1024, "{tile_x} x {tile_y}");
                assert!(tile_x * tile_y * unit <= 24 << 10, "{tile_x} x {tile_y} of {unit} bytes");
            }
        }
    }

    #[test]
    fn pieces_are_moved_in_the_largest_units_that_all_places_allow() {
        let cut = dense(&[100, 64], 4).index(&[slice(0, 100), slice(16, 48)]).unwrap();
        assert_eq!(chosen(&cut, 1 << 20, 1 << 21).0.unit, 16);
        let cut = dense(&[100, 64], 4).index(&[slice(0, 100), slice(1, 33)]).unwrap();
        assert_eq!(chosen(&cut, 1 << 20, 1 << 21).0.unit, 4);
        let records = dense(&[100, 64], 24).index(&[slice(0, 100), slice(1, 33)]).unwrap();
        assert_eq!(chosen(&records, 1 << 20, 1 << 21).0.unit, 8);
        assert_eq!(chosen(&dense(&[100, 64], 3).transpose(None).unwrap(), 1 << 20, 1 << 21).0.unit, 1);
    }

    #[test]
    fn long_lines_are_lines_and_short_ones_flat() {
        let every_second = |columns| dense(&[100, columns], 4).index(&[slice(0, 100), step(2)]).unwrap();
        assert_eq!(chosen(&every_second(4096), 1 << 20, 1 << 21).1, Class::Lines { again: false });
        assert_eq!(chosen(&every_second(513), 1 << 20, 1 << 21).1, Class::Flat { wide: false });
    }

    #[test]
    fn what_is_repeated_is_read_again_right_away() {
        let repeated = dense(&[1, 300, 1, 4096], 4).broadcast_to(&[3, 300, 2, 4096]).unwrap();
        let (units, class) = chosen(&repeated, 1 << 20, 1 << 21);
        assert_eq!(class, Class::Lines { again: true });
        assert_eq!(units.axes.iter().map(|axis| axis.len).collect::<Vec<_>>(), [300, 3, 2, 1024]);
        let short = dense(&[1, 300, 1, 8], 4).broadcast_to(&[3, 300, 2, 8]).unwrap();
        let (units, class) = chosen(&short, 1 << 20, 1 << 21);
        assert_eq!(class, Class::Flat { wide: false });
        assert_eq!(units.axes.iter().map(|axis| axis.len).collect::<Vec<_>>(), [3, 300, 2, 2]);
    }

    #[test]
    fn beyond_2_to_the_31_units_numbers_are_wide_and_shares_can_be_numbered() {
        let many = dense(&[1 << 26, 33, 2], 1).index(&[slice(0, 1 << 26), slice(0, 32), step(2)]).unwrap();
        assert_eq!(chosen(&many, 1 << 40, 1 << 41).1, Class::Flat { wide: true });
        let few = dense(&[1 << 25, 33, 2], 1).index(&[slice(0, 1 << 25), slice(0, 32), step(2)]).unwrap();
        assert_eq!(chosen(&few, 1 << 40, 1 << 41).1, Class::Flat { wide: false });
        // Of lines and tiles the shares are counted, not the units.
        let plane = dense(&[1 << 17, 1 << 17], 4).transpose(None).unwrap();
        let (units, class) = chosen(&plane, 1 << 40, 1 << 41);
        assert_eq!(class, Class::Squares { vector: 16 });
        assert_eq!(parameters(&units, class, Tuning::BEST).shares, 1 << 22);
        let backwards = dense(&[1 << 34], 1).flip(None).unwrap();
        let (units, class) = chosen(&backwards, 1 << 40, 1 << 41);
        assert_eq!(class, Class::Lines { again: false });
        assert_eq!(parameters(&units, class, Tuning::BEST).shares, 1 << 23);
    }

    fn slice(start: i64, stop: i64) -> pygpu_layout::Index {
        pygpu_layout::Index::Slice { start: Some(start), stop: Some(stop), step: None }
    }

    fn step(step: i64) -> pygpu_layout::Index {
        pygpu_layout::Index::Slice { start: None, stop: None, step: Some(step) }
    }
}
