//! Tiles: how arrays are read that lie across those that are written.
//!
//! Along the innermost axis of the walk, `x`, results lie side by side. Where some arrays do so along another axis, `y`, neighbours
//! of one are far apart in the other, and reading them element by element takes a sector of memory for each. So a block deals with a
//! tile of both axes: the turned arrays are read along `y` into shared memory, and from there along `x`.

use smallvec::SmallVec;

use pygpu_codegen::access::{Record, Span};
use pygpu_layout::{NARROW, Walk};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// Most arrays that are turned: what a block has in shared memory is 27 KiB then. Others are read where they are.
const MOST_TURNED: usize = 3;

/// Sides from which on a tile is worth it.
const LEAST_SIDE: i64 = 16;

/// Elements from which on it is: fewer are in the caches, whatever the order.
const LEAST_SIZE: i64 = 1 << 14;

/// Neighbours that are further apart share no sector of memory.
const SECTOR: u64 = 32;

/// A tile's elements along `x` and along `y`, both powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiles {
    x: i64,
    y: i64,
}

/// How a walk is gone over in tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Turned {
    /// The tiles.
    pub tiles: Tiles,
    /// The axis `y` of the walk.
    pub axis: usize,
    /// The arrays that run fastest along it.
    pub sides: SmallVec<[usize; MOST_TURNED]>,
}

impl Tiles {
    /// For a walk over arrays of which some are only read and can be turned; `None` where tiles do not pay. The largest element has
    /// so many bytes.
    pub fn of(walk: &Walk, read: &[usize], largest: usize) -> Option<Turned> {
        if walk.rank() < 2 || walk.size() < LEAST_SIZE {
            return None;
        }
        let mut across = read.iter().filter_map(|&side| Some((side, axis_across(walk, side)?)));
        let (first, axis) = across.next()?;
        let mut sides = SmallVec::from_slice(&[first]);
        sides.extend(across.filter(|(_, other)| *other == axis).map(|(side, _)| side).take(MOST_TURNED - 1));
        let tiles = Self::fitting(largest, walk.lens().next_back()?, walk.lens().nth(axis)?);
        let mut brought = walk.clone();
        brought.bring(axis);
        tiles.blocks(&brought).map(|_| Turned { tiles, axis, sides })
    }

    /// Lines of 128 bytes or more both ways, and longer the one way where the other is short.
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
        let y = power(along_y).min(area / x).max(i64::from(THREADS) / x);
        Self { x, y }
    }

    /// Elements of a thread.
    pub fn each(self) -> u8 {
        (self.x * self.y / i64::from(THREADS)) as u8
    }

    /// Lengths of a walk in tiles along `x` and `y`, which are its last axes, and in elements along the others.
    fn lens(self, walk: &Walk) -> impl Iterator<Item = i64> + '_ {
        let x = walk.rank() - 1;
        walk.lens().enumerate().map(move |(axis, len)| match axis {
            _ if axis == x => (len as u64).div_ceil(self.x as u64) as i64,
            _ if axis + 1 == x => (len as u64).div_ceil(self.y as u64) as i64,
            _ => len,
        })
    }

    /// Blocks, if these can be numbered.
    pub fn blocks(self, walk: &Walk) -> Option<i64> {
        let mut lens = self.lens(walk);
        lens.try_fold(1i64, |blocks, len| blocks.checked_mul(len)).filter(|blocks| *blocks < NARROW)
    }

    /// The kind of walk over tiles: their number is below 2^31 always.
    pub fn span(walk: &Walk, mut sides: impl Iterator<Item = usize>) -> Span {
        if sides.all(|side| walk.has_short_strides(side)) { Span::Short } else { Span::Far }
    }

    /// The C type of the parameter, around that of a walk.
    pub fn type_of(self, walk: &str, rank: usize) -> String {
        format!("pygpu::tiles<{walk}, {rank}, {}, {}>", self.x, self.y)
    }

    /// Elements of shared memory for an array, whose lines are so far apart that neighbours along `y` lie in different banks.
    pub fn room(self, itemsize: usize) -> usize {
        let bank = (4 / itemsize).max(1);
        (self.x as usize + bank) * self.y as usize
    }

    /// What decides which source is generated.
    pub fn key(self) -> [u8; 3] {
        [2, self.x.ilog2() as u8, self.y.ilog2() as u8]
    }

    /// Writes the parameter.
    pub fn push(self, record: &mut Record, span: Span, walk: &Walk, sides: impl Iterator<Item = usize>) {
        record.push_walk(span, self.lens(walk), sides.map(|side| walk.strides(side)));
        walk.lens().rev().take(2).for_each(|len| record.push_word(len as u64));
    }
}

/// The axis along which an array lies side by side, if that is far better to read along than the innermost one.
fn axis_across(walk: &Walk, side: usize) -> Option<usize> {
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
