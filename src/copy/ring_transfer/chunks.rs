//! Divides a copy between host and device into chunks. This module contains arithmetic only, and no driver calls.

use pygpu_base::error::Result;
use pygpu_layout::{Dims, Layout, SharedAxes, paired};

/// A copy between device and host memory, divided into chunks of limited size.
pub(super) enum ChunkPlan {
    /// The copy of bytes that are contiguous on the device and on the host.
    Run(ContiguousRun),
    /// The copy of elements that are not contiguous, divided into boxes.
    Boxes(ChunkBoxes),
}

/// A copy of contiguous bytes, divided at host addresses that are multiples of the chunk size.
///
/// Each new huge page then belongs to one chunk, and one thread touches it first. If two threads touched it at the same
/// time, both would clear it.
pub(super) struct ContiguousRun {
    pub(super) device: i64,
    pub(super) host: i64,
    bytes: i64,
    first: i64,
    step: i64,
}

impl ContiguousRun {
    /// Divides a copy of `bytes` contiguous bytes. `device` and `host` are the offsets of the first byte, and
    /// `host_address` is the address to which host offsets are relative.
    pub(super) fn new(device: i64, host: i64, bytes: i64, host_address: usize, step: usize) -> Self {
        let step = step as i64;
        let past = (host_address as i64).wrapping_add(host).rem_euclid(step);
        Self { device, host, bytes, first: step - past, step }
    }

    fn count(&self) -> usize {
        let rest = (self.bytes - self.first).max(0);
        1 + rest.div_euclid(self.step) as usize + usize::from(rest % self.step != 0)
    }

    /// Returns the offset of a chunk from the start of the run, and the chunk's length, in bytes.
    pub(super) fn piece(&self, chunk: usize) -> (i64, i64) {
        let start = if chunk == 0 { 0 } else { self.first + (chunk as i64 - 1) * self.step };
        let end = (self.first + chunk as i64 * self.step).min(self.bytes);
        (start, end - start)
    }
}

/// A copy divided into boxes that together contain all elements of two layouts of equal shape. The axes are in the
/// order of the device's memory.
pub(super) struct ChunkBoxes {
    axes: SharedAxes<2>,
    offsets: [i64; 2],
    itemsize: i64,
    /// Number of axes up to and including the axis that is divided into chunks; 0 if there is a single chunk. A chunk
    /// contains one index of each axis before the divided axis, and all indices of each axis after the divided axis.
    cut: usize,
    step: i64,
}

impl ChunkBoxes {
    /// Creates boxes of at most `most` bytes, or of one element if an element is larger.
    pub(super) fn new(device: &Layout, host: &Layout, most: usize) -> Result<Self> {
        let (axes, offsets) = paired(device, host)?;
        let itemsize = device.itemsize();
        let room = (most as i64 / itemsize).max(1);
        let (mut cut, mut inner) = (axes.len(), 1);
        while cut > 0 && axes[cut - 1].len * inner <= room {
            cut -= 1;
            inner *= axes[cut].len;
        }
        // The innermost axis whose elements, together with all further inner axes, exceed a chunk is divided. If all
        // axes fit into a chunk, there is one chunk.
        let step = if cut == 0 { 0 } else { room / inner };
        Ok(Self { axes, offsets, itemsize, cut, step })
    }

    fn steps(&self) -> i64 {
        match self.cut {
            0 => 1,
            cut => (self.axes[cut - 1].len + self.step - 1) / self.step,
        }
    }

    fn count(&self) -> usize {
        let outer: i64 = self.axes[..self.cut.saturating_sub(1)].iter().map(|axis| axis.len).product();
        (outer * self.steps()) as usize
    }

    /// Returns the layouts of a chunk on the device and on the host.
    pub(super) fn piece(&self, chunk: usize) -> Result<[Layout; 2]> {
        let mut shape: Dims = self.axes[self.cut..].iter().map(|axis| axis.len).collect();
        let mut offsets = self.offsets;
        if self.cut > 0 {
            let axis = self.axes[self.cut - 1];
            let (mut outer, start) = (chunk as i64 / self.steps(), chunk as i64 % self.steps() * self.step);
            shape.insert(0, self.step.min(axis.len - start));
            move_along(&mut offsets, axis.strides, start);
            for axis in self.axes[..self.cut - 1].iter().rev() {
                move_along(&mut offsets, axis.strides, outer % axis.len);
                outer /= axis.len;
            }
        }
        let first = self.cut.saturating_sub(1);
        let side = |which: usize| {
            let strides: Dims = self.axes[first..].iter().map(|axis| axis.strides[which]).collect();
            Layout::strided(&shape, &strides, offsets[which], self.itemsize)
        };
        Ok([side(0)?, side(1)?])
    }
}

fn move_along(offsets: &mut [i64; 2], strides: [i64; 2], steps: i64) {
    for (offset, stride) in offsets.iter_mut().zip(strides) {
        *offset += steps * stride;
    }
}

impl ChunkPlan {
    /// Returns the number of chunks.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Run(run) => run.count(),
            Self::Boxes(boxes) => boxes.count(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;
    use proptest::prelude::*;
    use pygpu_layout::{MemoryOrder, for_each_run};

    #[test]
    fn contiguous_run_is_divided_at_host_multiples_of_chunk_size() {
        let run = ContiguousRun::new(0, 0, 100, 0x1000 + 5, 16);
        let pieces: Vec<_> = (0..run.count()).map(|chunk| run.piece(chunk)).collect();
        assert_eq!(pieces, [(0, 11), (11, 16), (27, 16), (43, 16), (59, 16), (75, 16), (91, 9)]);
    }

    #[test]
    fn short_contiguous_run_is_one_chunk() {
        for (bytes, address) in [(1, 0), (16, 0), (11, 5), (3, 15)] {
            let run = ContiguousRun::new(0, 0, bytes, address, 16);
            assert_eq!(run.piece(0), (0, bytes.min(16 - address as i64)));
            assert_eq!(run.count(), 1 + usize::from(bytes > 16 - address as i64));
        }
    }

    #[test]
    fn single_element_is_one_box() {
        let layout = Layout::scalar(8);
        let boxes = ChunkBoxes::new(&layout, &layout, 1).unwrap();
        assert_eq!(boxes.count(), 1);
        assert_eq!(boxes.piece(0).unwrap(), [layout.clone(), layout]);
    }

    /// One axis of a random test layout: its length, whether its stride is negative, and the factor by which its stride
    /// exceeds the stride of a dense layout.
    type TestAxis = (i64, bool, i64);

    fn layouts() -> impl Strategy<Value = (Layout, Layout, usize)> {
        let axis = (1i64..6, prop::bool::ANY, 1i64..3);
        (prop::collection::vec((axis.clone(), axis), 0..4), 0usize..3, 1usize..80).prop_map(|(axes, turn, most)| {
            let shape: Vec<i64> = axes.iter().map(|((len, ..), _)| *len).collect();
            let strides = |which: fn(&(TestAxis, TestAxis)) -> (bool, i64), turned: bool| {
                let mut stride = 4;
                let mut order: Vec<usize> = (0..axes.len()).collect();
                if turned {
                    order.reverse();
                }
                let mut strides = vec![0; axes.len()];
                for &place in &order {
                    let (negative, factor) = which(&axes[place]);
                    stride *= factor;
                    strides[place] = if negative { -stride } else { stride };
                    stride *= shape[place];
                }
                strides
            };
            let device = strides(|(one, _)| (one.1, one.2), turn != 1);
            let host = strides(|(_, two)| (two.1, two.2), turn != 0);
            let layout = |strides: &[i64]| Layout::strided(&shape, strides, 100, 4).unwrap();
            (layout(&device), layout(&host), most)
        })
    }

    proptest! {
        #[test]
        fn boxes_cover_all_elements_once_within_size_limit((device, host, most) in layouts()) {
            let mut expected = Vec::new();
            for_each_run(&device, &host, |to, from, bytes| (0..bytes).for_each(|at| expected.push((to + at, from + at)))).unwrap();
            let boxes = ChunkBoxes::new(&device, &host, most).unwrap();
            let mut found = Vec::new();
            for chunk in 0..boxes.count() {
                let [to, from] = boxes.piece(chunk).unwrap();
                prop_assert!(to.nbytes() as usize <= most.max(4));
                for_each_run(&to, &from, |to, from, bytes| (0..bytes).for_each(|at| found.push((to + at, from + at)))).unwrap();
            }
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn chunk_of_dense_device_array_is_dense() {
        let device = Layout::contiguous(&[10, 30], 4, MemoryOrder::C).unwrap();
        let host = Layout::strided(&[10, 30], &[480, 8], 0, 4).unwrap();
        let boxes = ChunkBoxes::new(&device, &host, 256).unwrap();
        assert_eq!(boxes.count(), 5);
        assert!((0..5).all(|chunk| boxes.piece(chunk).unwrap()[0].is_c_contiguous()));
    }
}
