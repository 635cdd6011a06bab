//! Chooses the kernel for a copy within a device. Contains arithmetic only, and no driver calls.
//!
//! A contiguous run is moved in units of up to 16 bytes, as large as addresses, strides and length allow. The copy of a
//! run is repeated along the remaining axes. The choice depends mainly on whether source and target have the same
//! fastest axis.

use pygpu_backend::Address;
use pygpu_base::small_sort;
use pygpu_layout::{ContiguousRuns, NARROW, SharedAxes, SharedAxis, fastest};

/// Upper bound (exclusive) of the numbers that kernels divide by a multiplication and a shift instead of a division.
pub(super) const DIVISIBLE: i64 = NARROW;

/// Maximum size in bytes of a unit, i.e. of one load or store of a copy kernel.
pub(super) const LARGEST: i64 = 16;

/// Minimum length of a row that is divided among several thread blocks, in units (loads of up to 16 bytes).
const LONG_LINE: i64 = 1024;

/// A plane with fewer units (loads of up to 16 bytes) fits into the caches. The order in which its units are accessed
/// then hardly matters.
const SMALL_PLANE: i64 = 1024;

/// Size of a memory sector in bytes. Elements that are further apart are in different sectors, so reading such elements
/// together saves nothing.
const SECTOR: u64 = 32;

/// Minimum length of a row in bytes, a full cache line, for writing all target rows that repeat one row of a broadcast
/// source directly after each other.
const SHORT_LINE: i64 = 128;

/// Number of threads in a block, and maximum length of a tile's side in units (loads of up to 16 bytes).
const MOST_SIDE: i64 = 256;

/// A copy divided into units of `unit` bytes, the size of one load or store. Contains the addresses of the first unit
/// in target and source, and the axes, with the target's outermost axis first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Units {
    pub(super) unit: i64,
    pub(super) to: Address,
    pub(super) from: Address,
    pub(super) axes: SharedAxes<2>,
}

/// The kernel that performs a copy.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum CopyKernel {
    /// The kernel for long innermost rows. A thread block processes a part of one row, so it computes the row's
    /// addresses only once.
    Lines {
        /// Whether the source is broadcast along an outer axis. If so, thread blocks process the same part of all rows
        /// consecutively, so that this part of the source is read from memory only once.
        again: bool,
    },
    /// The kernel for any layout. A thread computes the address of each unit of up to 16 bytes from the unit's index.
    Flat {
        /// Whether the copy has 2^31 units or more, whose indices need 64 bits.
        wide: bool,
    },
    /// The kernel that transposes vectors of `vector` bytes in registers, on the plane of the last two axes `x` and `y`.
    Squares {
        /// Size of a vector in bytes.
        vector: i64,
    },
    /// The kernel that transposes through shared memory, on the plane of the last two axes `x` and `y`.
    Tiles {
        /// Length of a tile along the target's fastest axis, in units (loads of up to 16 bytes).
        x: i64,
        /// Length of a tile along the source's fastest axis, in units (loads of up to 16 bytes).
        y: i64,
    },
}

/// Restricts the choice of the kernel, for benchmarks and tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ForcedKernel {
    /// The best kernel is used.
    None,
    /// The kernel that transposes in registers is not used.
    Tiles,
    /// The `Flat` kernel performs all copies, whatever their layout.
    Flat,
}

impl Units {
    /// Divides contiguous runs into units of up to 16 bytes. A thread moves a unit by one load and one store. `to` and
    /// `from` are the addresses of byte 0 of both layouts. The result has at least one axis.
    pub(super) fn of(pieces: &ContiguousRuns, to: Address, from: Address) -> Self {
        Self::aligned(pieces, to, from, std::iter::empty())
    }

    /// Divides contiguous runs into units like [`Self::of`]. The size of a unit also divides every stride in `others`.
    pub(super) fn aligned(
        pieces: &ContiguousRuns,
        to: Address,
        from: Address,
        others: impl Iterator<Item = i64>,
    ) -> Self {
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

    /// Chooses the kernel, and permutes the axes into the order that the kernel expects.
    pub(super) fn choose(mut self, wish: ForcedKernel) -> (Self, CopyKernel) {
        if wish != ForcedKernel::Flat
            && let Some(class) = self.transposition(wish)
        {
            return (self, class);
        }
        let is_read_again = self.bring_repeats_inward();
        match self.straight(wish) {
            CopyKernel::Lines { .. } => (self, CopyKernel::Lines { again: is_read_again }),
            class => (self, class),
        }
    }

    /// Moves the axes along which the source is broadcast (stride 0) directly before the innermost axis. Consecutive
    /// thread blocks then read the same part of the source. Returns whether there are such axes. Does nothing if the
    /// innermost rows are short.
    fn bring_repeats_inward(&mut self) -> bool {
        let Some((line, outer)) = self.axes.split_last_mut() else { return false };
        if line.len * self.unit < SHORT_LINE || line.strides[1] == 0 {
            return false;
        }
        small_sort::sort_by_key(outer, |axis| axis.strides[1] == 0);
        outer.last().is_some_and(|axis| axis.strides[1] == 0)
    }

    /// Returns the kernel for a fill, or for a copy whose source and target have the same axis order.
    pub(super) fn straight(&self, wish: ForcedKernel) -> CopyKernel {
        let inner = self.axes.last().map_or(1, |axis| axis.len);
        if wish != ForcedKernel::Flat && inner >= LONG_LINE {
            CopyKernel::Lines { again: false }
        } else {
            CopyKernel::Flat { wide: self.count() >= DIVISIBLE }
        }
    }

    /// If the copy is a transposition, returns the kernel for it, and moves the two axes of the transposed plane to the
    /// end.
    fn transposition(&mut self, wish: ForcedKernel) -> Option<CopyKernel> {
        let x = self.axes.len().checked_sub(1)?;
        let y = fastest(&self.axes, 1).filter(|&y| y != x)?;
        let (along_x, along_y) = (self.axes[x], self.axes[y]);
        let reach = along_y.strides[1].unsigned_abs();
        let is_turned = reach < along_x.strides[1].unsigned_abs() && reach < SECTOR;
        if !is_turned || along_x.len.min(along_y.len) < 2 || along_x.len * along_y.len < SMALL_PLANE {
            return None;
        }
        let axis = self.axes.remove(y);
        self.axes.push(axis); // the last two axes are now x and y
        match self.vector(along_x, along_y) {
            Some(vector) if wish == ForcedKernel::None => Some(CopyKernel::Squares { vector }),
            _ => Some(tiles(self.unit, along_x.len, along_y.len)),
        }
    }

    /// Returns the vector size in bytes for transposing the plane of the axes `x` and `y` in registers, or `None` if
    /// the plane cannot be transposed in registers.
    fn vector(&self, x: SharedAxis<2>, y: SharedAxis<2>) -> Option<i64> {
        if x.strides[0] != self.unit || y.strides[1] != self.unit {
            return None;
        }
        let outer = &self.axes[..self.axes.len() - 2];
        let strides = outer.iter().flat_map(|axis| axis.strides).chain([x.strides[1], y.strides[0]]);
        let lengths = (x.len | y.len).wrapping_mul(self.unit);
        let bits = strides.fold(self.to as i64 | self.from as i64 | lengths, |bits, stride| bits | stride);
        // For units of one byte the vectors have 8 units, because a square of 16 x 16 units would not fit into
        // registers.
        let most = if self.unit == 1 { 8 } else { LARGEST };
        let vector = 1 << (bits | most).trailing_zeros();
        let is_worth_it = vector >= 4 && (vector >= 2 * self.unit || self.unit == LARGEST);
        (is_worth_it && x.len.min(y.len) >= 16).then_some(vector)
    }
}

/// Returns the kernel with the tile size for a transposed copy of a plane. One axis of the plane is contiguous in the
/// target, and the other one in the source. A tile is at least 64 bytes long along both axes, and longer along one axis
/// if the other is short.
fn tiles(unit: i64, x: i64, y: i64) -> CopyKernel {
    let (side, area) = match unit {
        1 | 2 => (64, 64 * 64),
        4 => (64, 64 * 32),
        _ => (32, 32 * 32),
    };
    let fitting = |len: i64, most: i64| ((len as u64).next_power_of_two() as i64).min(most);
    let tile_x = fitting(x, side).max(4);
    let tile_y = fitting(y, (area / tile_x).min(MOST_SIDE)).max(4);
    let tile_x = fitting(x, (area / tile_y).min(MOST_SIDE)).max(1024 / tile_y);
    CopyKernel::Tiles { x: tile_x, y: tile_y }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::super::parameters::{Tuning, parameters};
    use super::*;
    use pygpu_layout::{Layout, MemoryOrder};

    /// Returns the units (loads of up to 16 bytes) and the kernel for a copy of a transposed, strided or sliced array
    /// into a C-ordered one.
    fn chosen(source: &Layout, to: Address, from: Address) -> (Units, CopyKernel) {
        let shape: Vec<i64> = source.shape().collect();
        let target = Layout::contiguous(&shape, source.itemsize(), MemoryOrder::C).unwrap();
        Units::of(&ContiguousRuns::of(&target, source).unwrap(), to, from).choose(ForcedKernel::None)
    }

    fn dense(shape: &[i64], itemsize: i64) -> Layout {
        Layout::contiguous(shape, itemsize, MemoryOrder::C).unwrap()
    }

    #[test]
    fn transposition_uses_registers_if_vectors_fit() {
        for (itemsize, vector) in [(1, 8), (2, 16), (4, 16), (8, 16), (16, 16)] {
            let (units, class) = chosen(&dense(&[512, 1024], itemsize).transpose(None).unwrap(), 1 << 20, 1 << 21);
            assert_eq!((units.unit, class), (itemsize, CopyKernel::Squares { vector }));
        }
        let plane = dense(&[512, 1024], 4).transpose(None).unwrap();
        assert_eq!(chosen(&plane, (1 << 20) + 8, 1 << 21).1, CopyKernel::Squares { vector: 8 });
        assert!(matches!(chosen(&plane, (1 << 20) + 4, 1 << 21).1, CopyKernel::Tiles { .. }));
        let odd = dense(&[513, 1023], 4).transpose(None).unwrap();
        assert!(matches!(chosen(&odd, 1 << 20, 1 << 21).1, CopyKernel::Tiles { .. }));
    }

    #[test]
    fn tiles_follow_short_sides_and_are_powers_of_two_that_fill_a_block() {
        for unit in [1, 2, 4, 8, 16] {
            for (x, y) in [(5000, 3), (3, 5000), (5000, 5000), (40, 33), (32, 32), (300, 5), (17, 100)] {
                let CopyKernel::Tiles { x: tile_x, y: tile_y } = tiles(unit, x, y) else { panic!("no tiles") };
                assert!(tile_x.count_ones() == 1 && tile_y.count_ones() == 1, "{tile_x} x {tile_y}");
                assert!(tile_x.max(tile_y) <= MOST_SIDE && tile_x * tile_y >= 1024, "{tile_x} x {tile_y}");
                assert!(tile_x * tile_y * unit <= 24 << 10, "{tile_x} x {tile_y} of {unit} bytes");
            }
        }
    }

    #[test]
    fn pieces_use_largest_unit_that_all_addresses_allow() {
        let cut = dense(&[100, 64], 4).index(&[slice(0, 100), slice(16, 48)]).unwrap();
        assert_eq!(chosen(&cut, 1 << 20, 1 << 21).0.unit, 16);
        let cut = dense(&[100, 64], 4).index(&[slice(0, 100), slice(1, 33)]).unwrap();
        assert_eq!(chosen(&cut, 1 << 20, 1 << 21).0.unit, 4);
        let records = dense(&[100, 64], 24).index(&[slice(0, 100), slice(1, 33)]).unwrap();
        assert_eq!(chosen(&records, 1 << 20, 1 << 21).0.unit, 8);
        assert_eq!(chosen(&dense(&[100, 64], 3).transpose(None).unwrap(), 1 << 20, 1 << 21).0.unit, 1);
    }

    #[test]
    fn long_rows_use_line_kernel_and_short_rows_flat_kernel() {
        let every_second = |columns| dense(&[100, columns], 4).index(&[slice(0, 100), step(2)]).unwrap();
        assert_eq!(chosen(&every_second(4096), 1 << 20, 1 << 21).1, CopyKernel::Lines { again: false });
        assert_eq!(chosen(&every_second(513), 1 << 20, 1 << 21).1, CopyKernel::Flat { wide: false });
    }

    #[test]
    fn rows_with_same_source_are_copied_consecutively() {
        let repeated = dense(&[1, 300, 1, 4096], 4).broadcast_to(&[3, 300, 2, 4096]).unwrap();
        let (units, class) = chosen(&repeated, 1 << 20, 1 << 21);
        assert_eq!(class, CopyKernel::Lines { again: true });
        assert_eq!(units.axes.iter().map(|axis| axis.len).collect::<Vec<_>>(), [300, 3, 2, 1024]);
        let short = dense(&[1, 300, 1, 8], 4).broadcast_to(&[3, 300, 2, 8]).unwrap();
        let (units, class) = chosen(&short, 1 << 20, 1 << 21);
        assert_eq!(class, CopyKernel::Flat { wide: false });
        assert_eq!(units.axes.iter().map(|axis| axis.len).collect::<Vec<_>>(), [3, 300, 2, 2]);
    }

    #[test]
    fn more_than_2_to_the_31_units_need_64_bit_indices() {
        let many = dense(&[1 << 26, 33, 2], 1).index(&[slice(0, 1 << 26), slice(0, 32), step(2)]).unwrap();
        assert_eq!(chosen(&many, 1 << 40, 1 << 41).1, CopyKernel::Flat { wide: true });
        let few = dense(&[1 << 25, 33, 2], 1).index(&[slice(0, 1 << 25), slice(0, 32), step(2)]).unwrap();
        assert_eq!(chosen(&few, 1 << 40, 1 << 41).1, CopyKernel::Flat { wide: false });
        // The row and tile kernels divide the index of a thread block, not of a unit, by axis lengths. Thread blocks
        // copy many units each, so their indices stay below 2^31, and 32-bit division suffices.
        let plane = dense(&[1 << 17, 1 << 17], 4).transpose(None).unwrap();
        let (units, class) = chosen(&plane, 1 << 40, 1 << 41);
        assert_eq!(class, CopyKernel::Squares { vector: 16 });
        assert_eq!(parameters(&units, class, Tuning::BEST).shares, 1 << 22);
        let backwards = dense(&[1 << 34], 1).flip(None).unwrap();
        let (units, class) = chosen(&backwards, 1 << 40, 1 << 41);
        assert_eq!(class, CopyKernel::Lines { again: false });
        assert_eq!(parameters(&units, class, Tuning::BEST).shares, 1 << 23);
    }

    fn slice(start: i64, stop: i64) -> pygpu_layout::Index {
        pygpu_layout::Index::Slice { start: Some(start), stop: Some(stop), step: None }
    }

    fn step(step: i64) -> pygpu_layout::Index {
        pygpu_layout::Index::Slice { start: None, stop: None, step: Some(step) }
    }
}
