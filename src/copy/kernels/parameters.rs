//! The parameter of a kernel: one structure of 64-bit words, as the files in `device` declare it.

use smallvec::SmallVec;

use super::class::{Class, Units};
use crate::layout::SharedAxis;

/// Threads of a block, in every kernel.
pub(super) const THREADS: u32 = 256;

/// Most blocks of a launch; each takes several shares where there are more. AMD's devices take fewer than 2^32 threads.
const MOST_BLOCKS: u64 = 1 << 22;

/// Numbers of axes for which there are kernels: who has fewer gets axes of length 1.
const RANKS: [usize; 7] = [1, 2, 3, 4, 8, 16, 64];

/// The words of a structure; so many need no memory of their own.
pub(super) type Words = SmallVec<[u64; 36]>;

/// What is to be measured rather than known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tuning {
    /// Rows of tiles in a strip: blocks that run at once lie in a strip.
    pub(super) group: i64,
    /// Threads that read side by side, where planes are turned in registers: a power of two, at most 16.
    pub(super) lanes: i64,
    /// How often as many squares a thread turns there.
    pub(super) turns: i64,
}

impl Tuning {
    /// The quickest.
    pub(super) const BEST: Self = Self { group: 1, lanes: 8, turns: 1 };
}

/// What a launch needs beside the kernel.
#[derive(Debug)]
pub(super) struct Parameters {
    pub(super) words: Words,
    /// Blocks, if each takes one share.
    pub(super) shares: i64,
}

impl Parameters {
    /// Blocks of the launch.
    pub(super) fn blocks(&self) -> u32 {
        (self.shares as u64).clamp(1, MOST_BLOCKS) as u32
    }
}

/// The kernel's number of axes for so many.
pub(super) fn rank_for(axes: usize) -> usize {
    RANKS.into_iter().find(|&rank| rank >= axes).unwrap_or(axes)
}

/// How many axes the kernel of a class sees as axes.
pub(super) fn outer_axes(units: &Units, class: Class) -> &[SharedAxis<2>] {
    let inner = match class {
        Class::Flat { .. } => 0,
        Class::Lines => 1,
        Class::Squares { .. } | Class::Tiles { .. } => 2,
    };
    &units.axes[..units.axes.len() - inner]
}

/// Writes the structure.
pub(super) fn parameters(units: &Units, class: Class, Tuning { group, turns, .. }: Tuning) -> Parameters {
    let mut words = Words::new();
    words.extend([units.to as u64, units.from as u64]);
    let outer = outer_axes(units, class);
    let planes: i64 = outer.iter().map(|axis| axis.len).product();
    let inner = &units.axes[outer.len()..];
    let shares = match (class, inner) {
        (Class::Lines, [line]) => {
            let parts = div_ceil(line.len, line_share(units.unit));
            push(&mut words, [line.len, line.strides[0], line.strides[1], planes * parts]);
            words.extend(divisor(parts));
            planes * parts
        }
        (Class::Squares { vector }, [x, y]) => {
            let v = vector / units.unit;
            let (tile_x, tile_y) = (16 * v * squares_of(v, turns), 16 * v);
            push(&mut words, [x.len, y.len, y.strides[0], x.strides[1]]);
            push_tiles(&mut words, planes, [div_ceil(x.len, tile_x), div_ceil(y.len, tile_y)], group)
        }
        (Class::Tiles { x: tile_x, y: tile_y }, [x, y]) => {
            push(&mut words, [x.len, y.len, x.strides[0], y.strides[0], x.strides[1], y.strides[1]]);
            push_tiles(&mut words, planes, [div_ceil(x.len, tile_x), div_ceil(y.len, tile_y)], group)
        }
        _ => {
            push(&mut words, [planes]);
            div_ceil(planes, i64::from(THREADS) * 4)
        }
    };
    push_axes(&mut words, outer);
    Parameters { words, shares }
}

/// Squares that a thread turns, given the vectors of one: at least four reads are under way.
pub(super) fn squares_of(vectors: i64, turns: i64) -> i64 {
    turns * (4 / vectors).max(1)
}

/// Units that a block takes of a line.
fn line_share(unit: i64) -> i64 {
    i64::from(THREADS) * if unit < 16 { 8 } else { 4 }
}

fn push(words: &mut Words, values: impl IntoIterator<Item = i64>) {
    words.extend(values.into_iter().map(|value| value as u64));
}

fn push_tiles(words: &mut Words, planes: i64, tiles: [i64; 2], group: i64) -> i64 {
    let [along_x, along_y] = tiles;
    push(words, [along_x, along_y, planes * along_x * along_y]);
    words.extend(divisor(along_x * along_y));
    words.extend(divisor(along_x * group));
    planes * along_x * along_y
}

/// Writes axes, behind as many of length 1 as the kernel has more.
pub(super) fn push_axes(words: &mut Words, axes: &[SharedAxis<2>]) {
    for _ in axes.len()..rank_for(axes.len()) {
        push_axis(words, &SharedAxis { len: 1, strides: [0; 2] });
    }
    axes.iter().for_each(|axis| push_axis(words, axis));
}

fn push_axis(words: &mut Words, axis: &SharedAxis<2>) {
    words.extend(divisor(axis.len));
    push(words, axis.strides);
}

/// The length, and the factor and the shift that divide numbers below 2^31 by it; longer axes are divided otherwise.
pub(super) fn divisor(length: i64) -> [u64; 3] {
    let length = length.max(1) as u64;
    if length >= 1 << 31 {
        return [length, 0, 0]; // any number below 2^31 gives 0
    }
    let shift = 31 + length.next_power_of_two().trailing_zeros();
    [length, (1u64 << shift).div_ceil(length), u64::from(shift)]
}

pub(super) fn div_ceil(a: i64, b: i64) -> i64 {
    (a as u64).div_ceil(b as u64) as i64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    fn quotient(number: u64, [_, factor, shift]: [u64; 3]) -> u64 {
        // As the kernels do it: the low words, and a product that fits.
        assert!(factor <= u64::from(u32::MAX));
        (number * factor) >> shift
    }

    #[test]
    fn a_product_and_a_shift_divide_every_number_below_2_to_the_31() {
        let lengths = [1, 2, 3, 5, 7, 63, 64, 65, 1000, 46_341, 65_535, 65_537, (1 << 30) + 1, (1 << 31) - 1];
        for length in lengths {
            let divisor = divisor(length);
            let length = length as u64;
            let most = (1u64 << 31) - 1;
            let near = [0, 1, length - 1, length, length + 1, most / length * length, most - 1, most];
            for number in near.into_iter().flat_map(|number| [number, number.wrapping_sub(1)]) {
                if number <= most {
                    assert_eq!(quotient(number, divisor), number / length, "{number} / {length}");
                }
            }
        }
        assert_eq!(quotient(12_345, divisor(1 << 31)), 0);
    }

    #[test]
    fn there_is_a_kernel_for_every_rank() {
        assert_eq!([0, 1, 3, 5, 9, 17, 64].map(rank_for), [1, 1, 3, 8, 16, 64, 64]);
    }
}
