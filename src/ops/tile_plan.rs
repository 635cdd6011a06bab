//! Plans tiles, by which kernels read operands that are transposed relative to the results.
//!
//! The results are contiguous along the innermost axis of the loop nest, `x`. If some operands are contiguous along
//! another axis, `y`, reading them element by element would load a memory sector for each element. A thread block
//! therefore processes a tile, which extends along both axes. The block reads transposed operands along `y` into shared
//! memory, and reads them from shared memory along `x`.

use smallvec::SmallVec;

use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_layout::{LoopNest, NARROW};

/// Threads per block.
pub const THREADS: u32 = 256;

/// Maximum number of transposed operands that are read through shared memory. Three operands need 27 KiB of it. Further
/// transposed operands are read directly from global memory.
const MOST_TURNED: usize = 3;

/// Minimum length of `x` and of `y` for which tiles are faster than direct reads.
const LEAST_SIDE: i64 = 16;

/// Minimum number of elements for which tiles are faster than direct reads. Smaller arrays fit into the caches.
const LEAST_SIZE: i64 = 1 << 14;

/// Size of a memory sector in bytes. Elements further apart are in different sectors.
const SECTOR: u64 = 32;

/// The size of a tile: its numbers of elements along `x` and along `y`, and the number of adjacent elements that a thread
/// loads or stores by one instruction; all are powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiles {
    x: i64,
    y: i64,
    group: i64,
}

/// Traversal of a loop nest in tiles along two of its axes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TileTraversal {
    /// The size of the tiles.
    pub tiles: Tiles,
    /// The index of axis `y` in the loop nest.
    pub axis: usize,
    /// The indices of the transposed arrays, whose smallest stride is along `y`.
    pub sides: SmallVec<[usize; MOST_TURNED]>,
}

impl Tiles {
    /// Plans tiles for a loop nest. `read` contains the indices of the arrays that the kernel only reads; these may be
    /// transposed. `largest` is the maximum element size in bytes. Returns `None` if tiles would not be faster than
    /// direct reads.
    pub fn of(walk: &LoopNest, read: &[usize], largest: usize) -> Option<TileTraversal> {
        if walk.rank() < 2 || walk.size() < LEAST_SIZE {
            return None;
        }
        let mut across = read.iter().filter_map(|&side| Some((side, axis_across(walk, side)?)));
        let (first, axis) = across.next()?;
        let mut sides = SmallVec::from_slice(&[first]);
        sides.extend(across.filter(|(_, other)| *other == axis).map(|(side, _)| side).take(MOST_TURNED - 1));
        let tiles = Self::fitting(largest, walk.lens().next_back()?, walk.lens().nth(axis)?);
        let mut brought = walk.clone();
        brought.move_axis_before_innermost(axis);
        tiles.blocks(&brought).map(|_| TileTraversal { tiles, axis, sides })
    }

    /// Returns the tile size: along each axis, elements of at least 128 bytes together (64 bytes for one-byte
    /// elements). If one axis is short, the tile extends further along the other axis.
    fn fitting(largest: usize, along_x: i64, along_y: i64) -> Self {
        let (most_x, most_y) = match largest {
            1 | 2 => (64, 64),
            4 => (64, 32),
            8 => (32, 32),
            _ => (32, 16),
        };
        let area = most_x * most_y;
        let power = |length: i64| length.min(NARROW).unsigned_abs().next_power_of_two() as i64;
        let y = power(along_y).min(most_y);
        let x = power(along_x).min(area / y);
        let threads = i64::from(THREADS);
        let y = power(along_y).min(area / x).max(threads / x);
        // Elements of at most 2 bytes are loaded by words of 4 bytes: an instruction for each of them would take longer
        // than the memory. A thread needs at least one square of `group` by `group` elements.
        let most = 4 / largest.clamp(1, 4).next_power_of_two() as i64;
        let group = if x * y >= threads * most * most { most } else { 1 };
        Self { x, y, group }
    }

    /// Whether a thread loads or stores several adjacent elements by one instruction.
    pub fn has_groups(self) -> bool {
        self.group > 1
    }

    /// Returns the number of a tile's elements per thread.
    pub fn each(self) -> u8 {
        (self.x * self.y / i64::from(THREADS)) as u8
    }

    /// Returns the lengths of the loop nest. Along its last axes, `y` and `x`, the lengths are numbers of tiles; along
    /// the other axes, numbers of elements.
    fn lens(self, walk: &LoopNest) -> impl Iterator<Item = i64> + '_ {
        let x = walk.rank() - 1;
        walk.lens().enumerate().map(move |(axis, len)| match axis {
            _ if axis == x => (len as u64).div_ceil(self.x as u64) as i64,
            _ if axis + 1 == x => (len as u64).div_ceil(self.y as u64) as i64,
            _ => len,
        })
    }

    /// Returns the number of thread blocks, or `None` if there are too many for one grid.
    pub fn blocks(self, walk: &LoopNest) -> Option<i64> {
        let mut lens = self.lens(walk);
        lens.try_fold(1i64, |blocks, len| blocks.checked_mul(len)).filter(|blocks| *blocks < NARROW)
    }

    /// Returns the index width for the loop nest over tiles. Only the arrays' strides determine it, because the number
    /// of tiles is always below 2^31.
    pub fn span(walk: &LoopNest, mut sides: impl Iterator<Item = usize>) -> IndexWidth {
        if sides.all(|side| walk.has_short_strides(side)) { IndexWidth::Short } else { IndexWidth::Far }
    }

    /// Returns the C++ type of the tile parameter; `walk` is the C++ type of the loop nest.
    pub fn type_of(self, walk: &str, rank: usize) -> String {
        format!("pygpu::tiles<{walk}, {rank}, {}, {}, {}>", self.x, self.y, self.group)
    }

    /// Returns how many elements of shared memory an array needs. Rows are padded so that neighbours along `y` are in
    /// different banks of shared memory.
    pub fn room(self, itemsize: usize) -> usize {
        let bank = (4 / itemsize).max(1);
        (self.x as usize + bank) * self.y as usize
    }

    /// Returns the part of a kernel's cache key that describes its tiles.
    pub fn key(self) -> [u8; 3] {
        [2, self.x.ilog2() as u8, self.y.ilog2() as u8 | (self.group as u8) << 4]
    }

    /// Appends the tile parameter to the arguments of a launch.
    pub fn push(
        self,
        record: &mut ParameterBlock,
        span: IndexWidth,
        walk: &LoopNest,
        sides: impl Iterator<Item = usize>,
    ) {
        record.push_walk(span, self.lens(walk), sides.map(|side| walk.strides(side)));
        walk.lens().rev().take(2).for_each(|len| record.push_word(len as u64));
    }
}

/// Returns the axis along which an array is contiguous, if it is much faster to read the array along this axis than
/// along the innermost axis.
fn axis_across(walk: &LoopNest, side: usize) -> Option<usize> {
    let along_x = walk.strides(side).next_back()?.unsigned_abs();
    if walk.lens().next_back()? < LEAST_SIDE {
        return None;
    }
    let axes = walk.lens().zip(walk.strides(side)).enumerate();
    let moving = axes.filter(|(_, (_, stride))| *stride != 0).min_by_key(|(_, (_, stride))| stride.unsigned_abs());
    let (axis, (len, stride)) = moving?;
    let is_across = stride.unsigned_abs() < along_x.min(SECTOR) && len >= LEAST_SIDE;
    is_across.then_some(axis)
}

#[cfg(test)]
mod tests;
