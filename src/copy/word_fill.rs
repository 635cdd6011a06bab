//! Fills an array by memsets only, for items that are not a memset pattern: each memset sets one word of all items.
//!
//! An item of two different words needs two memsets. Each memset sets rows that are one word wide, and the distance
//! between two rows is one item. Further axes multiply the number of memsets.

use super::{at, with_access};
use pygpu_array::Array;
use pygpu_backend::{Address, Pattern};
use pygpu_base::error::Result;
use pygpu_device::stream::Stream;
use pygpu_layout::{ContiguousRuns, Odometer, SharedAxes, SharedAxis};
use pygpu_memory::Access;

/// Maximum size in bytes of a memset's word.
const LARGEST: i64 = 4;

/// Consecutive words of the item that are equal, which one memset sets.
struct WordRun {
    /// Offset in bytes, from the start of an item, of the first word that the memset sets.
    start: i64,
    pattern: Pattern,
    count: usize,
}

/// The memsets that together perform a fill.
pub(super) struct WordFill {
    runs: Vec<WordRun>,
    /// Offset in bytes of the first item from the start of the memory block.
    offset: i64,
    /// The rows that each memset covers: one item per row, or one whole contiguous run if all words are equal.
    rows: SharedAxis<2>,
    /// Axes along which the memsets are repeated.
    others: SharedAxes<2>,
}

impl WordFill {
    /// Plans the memsets for contiguous runs of whole items. The offsets of the runs are relative to `base`.
    pub(super) fn of(pieces: &ContiguousRuns, base: Address, item: &[u8]) -> Self {
        let itemsize = item.len() as i64;
        // Axes with stride 0 (broadcast axes) are removed, because along such an axis the memsets would set the same
        // element repeatedly.
        let mut axes: SharedAxes<2> = pieces.axes.iter().filter(|axis| axis.strides[0] != 0).copied().collect();
        let strides = axes.iter().map(|axis| axis.strides[0]);
        let bits = strides.fold(LARGEST | itemsize | at(base, pieces.dst) as i64, |bits, stride| bits | stride);
        let word = 1 << bits.trailing_zeros();
        let words: Vec<Pattern> = item.chunks_exact(word).map(pattern).collect();
        let are_equal = words.iter().all(|word| *word == words[0]);
        let row = if are_equal { pieces.width } else { itemsize };
        if row < pieces.width {
            axes.push(SharedAxis { len: pieces.width / itemsize, strides: [itemsize; 2] });
        }
        // The rows of a memset may lie along an axis only if consecutive rows along this axis do not overlap.
        let fitting = (0..axes.len()).filter(|&place| axes[place].strides[0] >= row);
        let longest = fitting.max_by_key(|&place| axes[place].len);
        let rows = longest.map_or(SharedAxis { len: 1, strides: [row; 2] }, |place| axes.remove(place));
        let runs = if are_equal {
            vec![WordRun { start: 0, pattern: words[0], count: row as usize / word }]
        } else {
            runs(&words, word)
        };
        Self { runs, offset: pieces.dst, rows, others: axes }
    }

    /// Returns the number of memsets.
    pub(super) fn count(&self) -> i64 {
        let repeated = self.others.iter().fold(1i64, |product, axis| product.saturating_mul(axis.len));
        repeated.saturating_mul(self.runs.len() as i64)
    }

    /// Executes the memsets, in the order of the stream.
    pub(super) fn fill(&self, target: &Array, stream: &Stream) -> Result<()> {
        let device = target.device();
        let base = target.allocation().address();
        with_access(target, Access::Write, stream, || {
            Odometer::new(&self.others, [self.offset; 2]).try_for_each(|[offset, _]| {
                self.runs.iter().try_for_each(|run| {
                    // SAFETY: the words belong to items of the array, which its recorded use keeps alive in the order
                    // of the stream.
                    unsafe {
                        device.backend().fill(
                            device.index(),
                            at(base, offset + run.start),
                            self.rows.strides[0] as usize,
                            run.pattern,
                            run.count,
                            self.rows.len as usize,
                            stream.handle(),
                        )
                    }
                })
            })
        })
    }
}

fn runs(words: &[Pattern], word: usize) -> Vec<WordRun> {
    let mut start = 0;
    let equal = words.chunk_by(|one, next| one == next);
    equal
        .map(|chunk| {
            let run = WordRun { start, pattern: chunk[0], count: chunk.len() };
            start += (chunk.len() * word) as i64;
            run
        })
        .collect()
}

/// Returns the memset pattern that sets a word.
fn pattern(bytes: &[u8]) -> Pattern {
    match *bytes {
        [a, b, c, d] => Pattern::U32(u32::from_le_bytes([a, b, c, d])),
        [a, b] => Pattern::U16(u16::from_le_bytes([a, b])),
        _ => Pattern::U8(bytes.first().copied().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use pygpu_layout::{Index, Layout, MemoryOrder};

    fn words(layout: &Layout, base: Address, item: &[u8]) -> WordFill {
        WordFill::of(&ContiguousRuns::of(layout, layout).unwrap(), base, item)
    }

    fn dense(shape: &[i64], itemsize: i64) -> Layout {
        Layout::contiguous(shape, itemsize, MemoryOrder::C).unwrap()
    }

    #[test]
    fn word_fill_uses_one_memset_per_distinct_word_of_item() {
        for (itemsize, expected) in [(8, 2), (16, 4), (12, 3), (3, 3), (6, 3), (40, 10)] {
            let item: Vec<u8> = (1..=itemsize).collect();
            let words = words(&dense(&[1000], itemsize.into()), 1 << 20, &item);
            assert_eq!((words.count(), words.rows.len), (expected, 1000), "items of {itemsize} bytes");
        }
        assert_eq!(words(&dense(&[1000], 8), 1 << 20, &1.5f64.to_le_bytes()).count(), 2);
    }

    #[test]
    fn equal_words_are_set_by_one_memset() {
        let item = [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4];
        assert_eq!(words(&dense(&[1000], 12), 1 << 20, &item).count(), 2);
        let cut = dense(&[100, 64], 4).index(&[slice(1), slice(1)]).unwrap();
        let rows = words(&cut, 1 << 20, &[1, 2, 3, 4]);
        assert_eq!((rows.count(), rows.runs[0].count, rows.rows.len), (1, 63, 99));
    }

    #[test]
    fn memset_covers_longest_axis_and_is_repeated_along_other_axes() {
        let cube = dense(&[4, 30, 9], 8).index(&[slice(0), slice(0), step(2)]).unwrap();
        let words = words(&cube, 1 << 20, &1.5f64.to_le_bytes());
        assert_eq!((words.count(), words.rows.len), (2 * 5, 120));
    }

    fn slice(start: i64) -> Index {
        Index::Slice { start: Some(start), stop: None, step: None }
    }

    fn step(step: i64) -> Index {
        Index::Slice { start: None, stop: None, step: Some(step) }
    }
}
