//! Builds the parameter of a copy kernel. The parameter is one structure, which the files in `device` declare.

use std::iter::repeat_n;

use super::kernel_choice::{CopyKernel, Units};
use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_layout::SharedAxis;

/// Number of threads in a block of every kernel.
pub(super) const THREADS: u32 = 256;

/// Maximum number of blocks of a launch. If the work is divided into more shares, each block processes several shares.
/// This maximum keeps the number of threads below 2^32, as AMD devices require.
const MOST_BLOCKS: u64 = 1 << 22;

/// The numbers of axes for which kernels are compiled. A copy with another number of axes is padded with axes of length
/// 1.
const RANKS: [usize; 7] = [1, 2, 3, 4, 8, 16, 64];

/// Tuning parameters of transpositions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tuning {
    /// Number of rows of tiles in a strip. Thread blocks that run concurrently process the tiles of one strip.
    pub(super) group: i64,
    /// Number of threads that read adjacent vectors, for transpositions in registers: a power of two, at most 16.
    pub(super) lanes: i64,
    /// Factor by which the default number of squares that a thread transposes is multiplied.
    pub(super) turns: i64,
}

impl Tuning {
    /// The values with which transpositions were fastest in measurements.
    pub(super) const BEST: Self = Self { group: 1, lanes: 8, turns: 1 };
}

/// A prepared launch: the number of shares into which the work is divided, and the kernel's parameter block.
#[derive(Debug)]
pub(super) struct CopyParameters {
    pub(super) record: ParameterBlock,
    /// Number of shares of work. A thread block processes one share, or several if there are more shares than
    /// `MOST_BLOCKS`.
    pub(super) shares: i64,
}

impl CopyParameters {
    /// Returns the number of thread blocks of the launch.
    pub(super) fn blocks(&self) -> u32 {
        (self.shares as u64).clamp(1, MOST_BLOCKS) as u32
    }
}

/// Returns the smallest number of axes, at least `axes`, for which kernels are compiled.
pub(super) fn rank_for(axes: usize) -> usize {
    RANKS.into_iter().find(|&rank| rank >= axes).unwrap_or(axes)
}

/// Returns the axes whose indices a kernel computes by divisions. The kernel handles the remaining axes, of its row or
/// plane, separately.
pub(super) fn outer_axes(units: &Units, class: CopyKernel) -> &[SharedAxis<2>] {
    let inner = match class {
        CopyKernel::Flat { .. } => 0,
        CopyKernel::Lines { .. } => 1,
        CopyKernel::Squares { .. } | CopyKernel::Tiles { .. } => 2,
    };
    &units.axes[..units.axes.len() - inner]
}

/// Builds the parameter block of a kernel.
pub(super) fn parameters(units: &Units, class: CopyKernel, Tuning { group, turns, .. }: Tuning) -> CopyParameters {
    let mut record = ParameterBlock::new();
    push(&mut record, [units.to as i64, units.from as i64]);
    let outer = outer_axes(units, class);
    let planes: i64 = outer.iter().map(|axis| axis.len).product();
    let inner = &units.axes[outer.len()..];
    let shares = match (class, inner) {
        (CopyKernel::Lines { again }, [line]) => {
            let parts = div_ceil(line.len, line_share(units.unit));
            push(&mut record, [line.len, line.strides[0], line.strides[1], planes * parts]);
            record.push_divisor(if again { planes } else { parts });
            planes * parts
        }
        (CopyKernel::Squares { vector }, [x, y]) => {
            let v = vector / units.unit;
            let (tile_x, tile_y) = (16 * v * squares_of(v, turns), 16 * v);
            push(&mut record, [x.len, y.len, y.strides[0], x.strides[1]]);
            push_tiles(&mut record, planes, [div_ceil(x.len, tile_x), div_ceil(y.len, tile_y)], group)
        }
        (CopyKernel::Tiles { x: tile_x, y: tile_y }, [x, y]) => {
            push(&mut record, [x.len, y.len, x.strides[0], y.strides[0], x.strides[1], y.strides[1]]);
            push_tiles(&mut record, planes, [div_ceil(x.len, tile_x), div_ceil(y.len, tile_y)], group)
        }
        _ => {
            push(&mut record, [planes]);
            div_ceil(planes, i64::from(THREADS) * 4)
        }
    };
    push_axes(
        &mut record,
        if class == (CopyKernel::Flat { wide: true }) { IndexWidth::Wide } else { IndexWidth::Far },
        outer,
    );
    CopyParameters { record, shares }
}

/// Returns the number of squares of `vectors` vectors that a thread transposes. With this number, at least four reads
/// of a thread are in progress at the same time.
pub(super) fn squares_of(vectors: i64, turns: i64) -> i64 {
    turns * (4 / vectors).max(1)
}

/// Returns the number of units (loads of up to 16 bytes) of a row that one thread block processes.
fn line_share(unit: i64) -> i64 {
    i64::from(THREADS) * if unit < 16 { 8 } else { 4 }
}

fn push(record: &mut ParameterBlock, values: impl IntoIterator<Item = i64>) {
    values.into_iter().for_each(|value| record.push_word(value as u64));
}

fn push_tiles(record: &mut ParameterBlock, planes: i64, tiles: [i64; 2], group: i64) -> i64 {
    let [along_x, along_y] = tiles;
    push(record, [along_x, along_y, planes * along_x * along_y]);
    record.push_divisor(along_x * along_y);
    record.push_divisor(along_x * group);
    planes * along_x * along_y
}

/// Appends axes to the parameter block, preceded by axes of length 1 up to the number of axes of the kernel.
pub(super) fn push_axes<const N: usize>(record: &mut ParameterBlock, span: IndexWidth, axes: &[SharedAxis<N>]) {
    let missing = rank_for(axes.len()) - axes.len();
    let lens = repeat_n(1, missing).chain(axes.iter().map(|axis| axis.len));
    let strides = |side: usize| repeat_n(0, missing).chain(axes.iter().map(move |axis| axis.strides[side]));
    record.push_walk(span, lens, (0..N).map(strides));
}

pub(super) fn div_ceil(a: i64, b: i64) -> i64 {
    (a as u64).div_ceil(b as u64) as i64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn arrays_of_every_rank_have_a_copy_kernel() {
        assert_eq!([0, 1, 3, 5, 9, 17, 64].map(rank_for), [1, 1, 3, 8, 16, 64, 64]);
    }
}
