//! Plans a scan. If elements along the scanned axis are close in memory, they are treated as rows: a thread block scans
//! several rows, or several blocks share a row. Otherwise they are treated as columns: a block scans adjacent columns
//! downwards.

use crate::reductions::plan::{DeviceCapacity, OperandAddresses};
use pygpu_base::error::Result;
use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_kernel::Arguments;
use pygpu_layout::{Dims, Layout, LoopNest, LoopNestRules};

/// Index of the scan's input array in the loop nest.
pub const INPUT: usize = 0;
/// Index of the scan's output array in the loop nest.
pub const OUT: usize = 1;

/// Total size in bytes of the elements that a thread scans at once. `LEAST_EACH` and `MOST_EACH` limit the number of
/// these elements from below and above.
const BYTES_OF_THREAD: u32 = 64;
const LEAST_EACH: u32 = 4;
const MOST_EACH: u32 = 16;
/// Total size in bytes of the elements that a thread scans at once if several thread blocks share a row. Each of these
/// blocks waits for the blocks before it in the row. Larger parts mean fewer blocks and therefore fewer waits.
const CHAINED_BYTES_OF_THREAD: u32 = 128;
const CHAINED_MOST_EACH: u32 = 32;
/// Maximum size in bytes of a pack, i.e. of the elements that a thread loads by one instruction.
const PACK_BYTES: u32 = 16;
/// Number of consecutive elements of a column per thread.
const EACH_DOWN: u32 = 8;
/// Minimum total width in bytes of the adjacent columns that a thread block scans. `COLUMNS` is the minimum number of
/// these columns.
const COLUMN_BYTES: u32 = 128;
const COLUMNS: u32 = 32;
/// Minimum number of tiles in a row for which the row is divided among several thread blocks. A tile is the part of a
/// row that a block processes at once.
const TILES_OF_CHAIN: u64 = 4;

/// Assignment of a block's threads to the elements of a scan. The fields are compiled into the kernel as constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScanStrategy {
    /// Scan of rows: elements along the axis are close to each other in memory.
    Along {
        /// Number of rows per block.
        rows: u32,
        /// Number of threads per row.
        lanes: u32,
        /// Number of consecutive elements per thread.
        each: u32,
        /// Number of elements in a vector load of the input, and in a vector store of the output.
        vectors: [u32; 2],
        /// Whether a row is divided among several thread blocks. Each block then waits for the results of the blocks
        /// before it in the row.
        is_chained: bool,
    },
    /// Scan of columns: adjacent columns are close to each other in memory.
    Across {
        /// Number of columns per block.
        columns: u32,
        /// Number of threads per column.
        down: u32,
        /// Number of consecutive elements of a column per thread.
        each: u32,
    },
}

/// The plan of a scan: the loop nest, and the division of work among thread blocks and threads.
#[derive(Clone, Debug)]
pub struct ScanPlan {
    kept: LoopNest,
    span: IndexWidth,
    steps: [i64; 2],
    /// Number of elements along the scanned axis.
    pub len: i64,
    /// Number of rows or columns: the product of the lengths of all other axes.
    pub places: i64,
    /// Assignment of a block's threads to elements.
    pub way: ScanStrategy,
    /// Number of thread blocks that share a column. If this number is greater than 1, an additional launch first
    /// computes the state of each block's part of the column.
    pub splits: u32,
}

/// Returns a copy of a layout without one of its axes.
fn without(layout: &Layout, axis: usize) -> Result<Layout> {
    let others = |all: &mut dyn Iterator<Item = i64>| -> Dims {
        all.enumerate().filter(|(place, _)| *place != axis).map(|(_, one)| one).collect()
    };
    let (shape, strides) = (others(&mut layout.shape()), others(&mut layout.strides()));
    Layout::strided(&shape, &strides, layout.offset(), layout.itemsize())
}

/// Plans a scan of the first array along an axis. The second array receives the result and has the same shape. Both
/// arrays must be nonempty. `state_bytes` is the size in bytes of a state, the intermediate value of a scan.
///
/// # Errors
/// The errors of [`LoopNest::plan`].
pub fn plan(
    sides: [&Layout; 2],
    axis: usize,
    memory: OperandAddresses,
    state_bytes: usize,
    room: DeviceCapacity,
) -> Result<ScanPlan> {
    let along = |side: &Layout| side.axes().get(axis).map_or((1, 0), |found| (found.len, found.stride));
    let steps = sides.map(|side| along(side).1);
    let (input, out) = (without(sides[INPUT], axis)?, without(sides[OUT], axis)?);
    let kept = LoopNest::plan(&[&input, &out], LoopNestRules { lead: Some(OUT), reduced: 0 })?;
    let (len, places) = (along(sides[INPUT]).0, kept.size());
    let span = IndexWidth::of(&kept, 0..2);
    let nearest = kept.strides(INPUT).next_back().map(i64::unsigned_abs);
    let largest = memory.itemsize.into_iter().max().unwrap_or(1).max(state_bytes) as u32;
    let plan = ScanPlan {
        kept,
        span,
        steps,
        len,
        places,
        way: ScanStrategy::Across { columns: 1, down: 1, each: 1 },
        splits: 1,
    };
    Ok(match nearest {
        Some(nearest) if nearest < steps[INPUT].unsigned_abs() => plan.across(largest, room),
        _ => plan.along(memory, largest, room),
    })
}

impl ScanPlan {
    fn along(self, memory: OperandAddresses, largest: u32, room: DeviceCapacity) -> Self {
        let len = self.len as u64;
        let has_few_rows = self.places as u64 * 4 < u64::from(room.blocks);
        let (bytes, most) =
            if has_few_rows { (CHAINED_BYTES_OF_THREAD, CHAINED_MOST_EACH) } else { (BYTES_OF_THREAD, MOST_EACH) };
        let whole = (bytes / largest).clamp(LEAST_EACH, most);
        let mut each = whole.min(len.clamp(1, u64::from(most)).next_power_of_two() as u32);
        // If the input is too short to occupy all thread blocks that the device runs concurrently, each thread gets
        // fewer elements. The work is then divided among more blocks.
        let threads = u64::from(room.threads) * u64::from(room.blocks) / 2;
        if len * (self.places as u64) < threads * u64::from(each) {
            each = each.min(LEAST_EACH);
        }
        let lanes = len.div_ceil(u64::from(each)).min(u64::from(room.threads)) as u32;
        let lanes = lanes.next_power_of_two();
        let rows = room.threads / lanes;
        let tiles = len.div_ceil(u64::from(lanes * each));
        let is_chained = rows == 1 && tiles >= TILES_OF_CHAIN && has_few_rows;
        let vectors = [INPUT, OUT].map(|side| self.vector(side, each, memory));
        Self { way: ScanStrategy::Along { rows, lanes, each, vectors, is_chained }, ..self }
    }

    /// Returns the number of elements per pack, i.e. per vector load. At every position where a thread begins, that
    /// many elements are contiguous and aligned.
    fn vector(&self, side: usize, each: u32, memory: OperandAddresses) -> u32 {
        let itemsize = memory.itemsize[side] as i64;
        let start = (memory.address[side] as i64).wrapping_add(self.kept.offset(side));
        let mut vector = (PACK_BYTES / itemsize as u32).clamp(1, each);
        let is_even = |vector: u32| {
            let bytes = itemsize * i64::from(vector);
            start % bytes == 0 && self.kept.strides(side).all(|stride| stride % bytes == 0)
        };
        while vector > 1 && (self.steps[side] != itemsize || !is_even(vector)) {
            vector /= 2;
        }
        vector
    }

    fn across(self, largest: u32, room: DeviceCapacity) -> Self {
        let beside = (COLUMN_BYTES / largest).max(COLUMNS);
        let columns = beside.min(room.threads).min((self.places as u64).next_power_of_two().min(1 << 16) as u32);
        let down = (room.threads / columns).max(1);
        let each = if largest > 8 { EACH_DOWN / 2 } else { EACH_DOWN };
        let strips = (self.places as u64).div_ceil(u64::from(columns));
        let most = self.len as u64 / u64::from(4 * down * each);
        // The elements of columns that are divided among blocks are read twice, by two launches. Therefore columns are
        // divided only if undivided columns would occupy less than a quarter of the thread blocks that the device runs
        // concurrently.
        let splits = match strips * 4 < u64::from(room.blocks) {
            true => (u64::from(room.blocks) / strips).clamp(1, most.max(1)) as u32,
            false => 1,
        };
        let plan = Self { way: ScanStrategy::Across { columns, down, each }, ..self };
        let splits = (plan.len as u64).div_ceil(plan.part(splits)) as u32;
        Self { splits, ..plan }
    }

    /// Returns the number of elements of a column per block, if `splits` blocks share the column.
    pub fn part(&self, splits: u32) -> u64 {
        (self.len as u64).div_ceil(u64::from(splits)).next_multiple_of(self.tile())
    }

    /// Returns the number of elements of a row or column that a thread block processes at once.
    pub fn tile(&self) -> u64 {
        u64::from(match self.way {
            ScanStrategy::Along { lanes, each, .. } => lanes * each,
            ScanStrategy::Across { down, each, .. } => down * each,
        })
    }

    /// Returns the number of threads per block.
    pub fn threads(&self) -> u32 {
        match self.way {
            ScanStrategy::Along { rows, lanes, .. } => rows * lanes,
            ScanStrategy::Across { columns, down, .. } => columns * down,
        }
    }

    /// Whether 32 bits suffice for indices.
    pub fn is_short(&self) -> bool {
        self.span == IndexWidth::Short
    }

    /// Returns the part of a compiled kernel's cache key that depends on the plan. The key also contains the types.
    pub fn key(&self) -> VariantKey {
        let shape = [self.kept.rank() as u8, self.span as u8];
        let way = match self.way {
            ScanStrategy::Along { rows, lanes, each, vectors, is_chained } => [
                1 + u8::from(is_chained),
                rows.ilog2() as u8,
                lanes.ilog2() as u8,
                each as u8,
                vectors[0] as u8,
                vectors[1] as u8,
            ],
            ScanStrategy::Across { columns, down, each } => {
                [3, columns.ilog2() as u8, down.ilog2() as u8, each as u8, u8::from(self.splits > 1), 0]
            }
        };
        shape.into_iter().chain(way).collect()
    }

    /// Returns the C++ type of the loop nest over all axes except the scanned axis; `None` if there are no such axes.
    pub fn kept_type(&self) -> Option<String> {
        let rank = self.kept.rank();
        (rank > 0).then(|| self.span.type_of(rank, 2))
    }

    /// Returns the byte offset of an array's first element from the start of its memory block.
    pub fn offset(&self, side: usize) -> i64 {
        self.kept.offset(side)
    }

    /// Returns the stride in bytes of an array along the scanned axis.
    pub fn step(&self, side: usize) -> i64 {
        self.steps[side]
    }

    /// Appends the lengths and strides of all axes but the scanned one to the arguments of a launch.
    pub fn push(&self, arguments: &mut Arguments) {
        if self.kept.rank() > 0 {
            let mut record = ParameterBlock::new();
            let steps = [INPUT, OUT].into_iter().map(|side| self.kept.strides(side));
            record.push_walk(self.span, self.kept.lens(), steps);
            record.pass(arguments);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::*;
    use pygpu_layout::MemoryOrder;

    const H200: DeviceCapacity = DeviceCapacity { threads: 256, blocks: 1056 };
    const EVEN: OperandAddresses = OperandAddresses { itemsize: [4, 4], address: [0x1000, 0x1000] };

    fn planned(shape: &[i64], axis: usize) -> ScanPlan {
        let side = Layout::contiguous(shape, 4, MemoryOrder::C).unwrap();
        plan([&side, &side], axis, EVEN, 4, H200).unwrap()
    }

    fn along(rows: u32, lanes: u32, each: u32, vector: u32, is_chained: bool) -> ScanStrategy {
        ScanStrategy::Along { rows, lanes, each, vectors: [vector; 2], is_chained }
    }

    #[test]
    fn scan_strategy_follows_axis_with_smallest_stride() {
        let way = |shape: &[i64], axis| planned(shape, axis).way;
        assert_eq!(way(&[1 << 27], 0), along(1, 256, 32, 4, true));
        assert_eq!(way(&[1 << 20], 0), along(1, 256, 4, 4, true));
        assert_eq!(way(&[1 << 14, 1 << 14], 1), along(1, 256, 16, 4, false));
        assert_eq!(way(&[1 << 26, 4], 1), along(256, 1, 4, 4, false));
        assert_eq!(way(&[1 << 20, 50], 1), along(64, 4, 16, 2, false));
        assert_eq!(way(&[1 << 14, 1 << 14], 0), ScanStrategy::Across { columns: 32, down: 8, each: 8 });
        assert_eq!(way(&[1 << 14, 6], 0), ScanStrategy::Across { columns: 8, down: 32, each: 8 });
    }

    #[test]
    fn scan_of_few_columns_is_divided_among_blocks() {
        let splits = |shape: &[i64]| planned(shape, 0).splits;
        assert_eq!(splits(&[1 << 14, 1 << 14]), 1);
        assert_eq!(splits(&[256, 64]), 1);
        let plan = planned(&[1 << 20, 64], 0);
        assert!(plan.splits > 100 && plan.part(plan.splits) * u64::from(plan.splits) >= 1 << 20);
        assert!(plan.part(plan.splits) * u64::from(plan.splits - 1) < 1 << 20);
    }
}
