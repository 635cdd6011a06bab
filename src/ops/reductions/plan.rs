//! Plans a reduction: determines which elements a thread processes, how many threads compute one result together, and
//! whether a second launch combines partial results.
//!
//! *Results* are the elements of the output array; each is reduced from `count` input elements.

use pygpu_base::error::Result;
use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_kernel::Arguments;
use pygpu_layout::{Layout, LoopNest, LoopNestRules};

/// Index of the reduction's input array in the loop nest.
pub const INPUT: usize = 0;
/// Index of the reduction's output array in the loop nest.
pub const OUT: usize = 1;
/// Operand number of the mask in the loop nest; the mask selects the elements to reduce.
pub const MASK: usize = 2;

/// Number of elements, or packs (vector loads), that a thread loads before it combines them. The memory accesses then
/// overlap. `EACH_OF_BATCH` applies to packs that are processed as a batch; it is smaller than `EACH`, because all
/// packs of a batch stay in registers.
const EACH: u32 = 8;
const EACH_OF_BATCH: u32 = 4;
/// Number of results per thread, if a single vector load (pack) contains all elements of a result.
const TURNS: u32 = 4;
/// Maximum number of elements in a pack, i.e. in one vector load; `PACK_BYTES` is the maximum size of a pack in bytes.
const PACK: u32 = 4;
const PACK_BYTES: u32 = 16;
/// Number of adjacent threads that read adjacent packs of a row, if a pack contains elements of several results.
/// Together they read half a kilobyte of the row at once, i.e. 32 packs of 16 bytes.
const COLUMNS: u32 = 32;
/// Number of thread blocks that a multiprocessor runs concurrently if elements are loaded individually.
pub const BLOCKS: u32 = 8;
/// Number of thread blocks that a multiprocessor runs concurrently if several elements are loaded at once.
pub const BLOCKS_OF_PACKS: u32 = 4;

/// Assignment of a block's threads to the results of a reduction. The fields are compiled into the kernel as constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockShape {
    /// Number of columns into which the threads of a block are divided. Each column computes one result or one pack of
    /// results.
    pub places: u32,
    /// Number of threads per column.
    pub lanes: u32,
    /// Whether adjacent threads compute one result together. If false, adjacent threads compute adjacent results.
    pub along: bool,
    /// Number of elements in a pack, i.e. in one vector load. If `along` is set, all elements of a pack belong to one
    /// result. Otherwise each element belongs to a different result.
    pub vector: u32,
    /// Number of elements, or packs (vector loads), that a thread loads at once, before it combines them.
    pub each: u32,
    /// Number of results that a thread computes one after another.
    pub turns: u32,
}

impl BlockShape {
    /// Returns how many results a thread block computes.
    pub fn all_places(self) -> u64 {
        let abreast = if self.along { 1 } else { self.vector };
        u64::from(self.places) * u64::from(abreast * self.turns)
    }
}

/// Options of a reduction on which the plan depends.
#[derive(Clone, Copy, Debug)]
pub struct ReductionOptions {
    /// The reduced axes as a bit set; bit 0 is the first axis.
    pub reduced: u64,
    /// Whether elements must be traversed in C order.
    pub in_order: bool,
    /// Whether the function combines the elements of one vector load as one batch.
    pub in_batches: bool,
}

/// Element sizes and memory addresses of input and output, for alignment checks.
#[derive(Clone, Copy, Debug)]
pub struct OperandAddresses {
    /// Element sizes in bytes.
    pub itemsize: [usize; 2],
    /// Addresses of the first bytes of the memory blocks.
    pub address: [usize; 2],
}

/// The plan of a reduction: the loop nests, and the division of work among thread blocks and threads.
#[derive(Clone, Debug)]
pub struct ReductionPlan {
    walk: LoopNest,
    span: IndexWidth,
    sides: usize,
    /// Number of results, i.e. elements of the output.
    pub places: i64,
    /// Number of input elements per result.
    pub count: i64,
    /// Assignment of a block's threads to results.
    pub block: BlockShape,
    /// Number of thread blocks that share the elements of each result. If this number is greater than 1, a second
    /// launch combines the blocks' partial results.
    pub splits: u32,
}

/// The number of threads and thread blocks that a device runs concurrently.
#[derive(Clone, Copy, Debug)]
pub struct DeviceCapacity {
    /// Number of threads per block.
    pub threads: u32,
    /// Number of thread blocks that the device runs concurrently.
    pub blocks: u32,
}

/// Plans a reduction of an array over some of its axes. `sides` contains the layouts of the input, of the output with
/// stride 0 along the reduced axes, and of the mask, if there is one. All three have the input's shape.
///
/// # Errors
/// The errors of [`LoopNest::plan`].
pub fn plan(
    sides: &[&Layout],
    wants: ReductionOptions,
    memory: OperandAddresses,
    room: DeviceCapacity,
) -> Result<ReductionPlan> {
    let lead = if wants.in_order { None } else { Some(INPUT) };
    let walk = LoopNest::plan(sides, LoopNestRules { lead, reduced: wants.reduced })?;
    let kept = walk.unreduced_rank();
    let count: i64 = walk.lens().skip(kept).product();
    let places: i64 = walk.lens().take(kept).product();
    let inner = |mut strides: Box<dyn Iterator<Item = i64> + '_>| strides.next().map(i64::unsigned_abs);
    let along_reduced = inner(Box::new(walk.strides(INPUT).skip(kept).rev()));
    let along_kept = inner(Box::new(walk.strides(INPUT).take(kept).rev()));
    let along = match (along_kept, along_reduced) {
        (Some(kept), Some(reduced)) => reduced <= kept,
        (kept, _) => kept.is_none(),
    };
    // The elements of a mask are read individually. Therefore a reduction with a mask uses no vector loads.
    let vector = if sides.len() > MASK { 1 } else { vector(&walk, along, memory) };
    let each = if wants.in_batches && vector > 1 { EACH_OF_BATCH } else { EACH };
    let one = BlockShape { places: room.threads, lanes: 1, along, vector, each, turns: 1 };
    let block = if along { block_along(count, one, room) } else { block_across(places, count, one, room) };
    let blocks = (places as u64).div_ceil(block.all_places());
    let packs = if along { count as u64 / u64::from(vector) } else { count as u64 };
    // The elements are divided among more thread blocks only as long as each thread has at least 4 iterations. With
    // fewer iterations, the division saves less time than the second launch costs.
    let most = packs / u64::from(4 * block.lanes * block.each);
    let at_once = if vector > 1 { room.blocks * BLOCKS_OF_PACKS / BLOCKS } else { room.blocks };
    let splits = (u64::from(at_once) / blocks).clamp(1, most.max(1)) as u32;
    let span = IndexWidth::of(&walk, 0..sides.len());
    Ok(ReductionPlan { walk, span, sides: sides.len(), places, count, block, splits })
}

/// Returns the number of elements per pack, i.e. per vector load. At every position that a thread reads, that many
/// elements are contiguous and aligned. If `along` is set, the elements of a pack belong to one result. Otherwise each
/// belongs to a different result, and the results must be contiguous and aligned too.
fn vector(walk: &LoopNest, along: bool, memory: OperandAddresses) -> u32 {
    let axis = if along { walk.rank() } else { walk.unreduced_rank() };
    let Some(axis) = axis.checked_sub(1) else { return 1 };
    let fits = |side: usize, vector: u32| {
        let itemsize = memory.itemsize[side] as i64;
        let bytes = (itemsize * i64::from(vector)).min(i64::from(PACK_BYTES));
        let start = (memory.address[side] as i64).wrapping_add(walk.offset(side));
        let mut strides = walk.strides(side).enumerate();
        start % bytes == 0
            && strides.all(|(other, stride)| if other == axis { stride == itemsize } else { stride % bytes == 0 })
    };
    let is_even = |vector: u32| {
        let len = walk.lens().nth(axis).unwrap_or(1);
        len % i64::from(vector) == 0 && fits(INPUT, vector) && (along || fits(OUT, vector))
    };
    let mut vector = PACK.min(PACK_BYTES / memory.itemsize[INPUT] as u32).max(1);
    while vector > 1 && !is_even(vector) {
        vector /= 2;
    }
    vector
}

/// Assigns threads to results for an input in which the elements of each result are adjacent in memory.
fn block_along(count: i64, block: BlockShape, room: DeviceCapacity) -> BlockShape {
    let packs = count as u64 / u64::from(block.vector);
    // If each result has few elements, one thread computes it. Each loaded cache line is used completely all the same,
    // because adjacent threads read its remaining elements.
    if packs <= 2 * u64::from(block.each) {
        return BlockShape { turns: if block.vector > 1 && packs == 1 { TURNS } else { 1 }, ..block };
    }
    let threads = packs.div_ceil(u64::from(block.each)).min(u64::from(room.threads)) as u32;
    let lanes = threads.next_power_of_two();
    BlockShape { places: room.threads / lanes, lanes, ..block }
}

/// Assigns threads to results for an input in which adjacent elements belong to different results.
fn block_across(places: i64, count: i64, block: BlockShape, room: DeviceCapacity) -> BlockShape {
    let columns = (places as u64 / u64::from(block.vector)).min(u64::from(room.threads)) as u32;
    let columns = columns.next_power_of_two();
    let lanes = (room.threads / COLUMNS).max(1);
    let is_high = block.vector > 1 && count as u64 >= u64::from(lanes * block.each);
    let columns = if is_high { columns.min(COLUMNS) } else { columns };
    BlockShape { places: columns, lanes: (room.threads / columns).max(1), ..block }
}

impl ReductionPlan {
    /// Assigns threads to results for the second launch, which combines partial results. The partial results form a
    /// matrix with one row for each part of the elements and one column for each result.
    pub fn second_block(&self, room: DeviceCapacity) -> BlockShape {
        let one = BlockShape { places: room.threads, lanes: 1, along: false, vector: 1, each: EACH, turns: 1 };
        let block = block_across(self.places, i64::from(self.splits), one, room);
        // If each result has few partial results, fewer threads combine the partial results of one result.
        let threads = (self.splits / block.each).max(1).next_power_of_two().min(room.threads);
        let lanes = block.lanes.max(threads);
        BlockShape { places: room.threads / lanes, lanes, ..block }
    }

    /// Returns the part of a compiled kernel's cache key that depends on the plan. The key also contains the types.
    pub fn key(&self) -> VariantKey {
        let BlockShape { places, lanes, along, vector, each: _, turns } = self.block;
        let (kept, rank) = (self.walk.unreduced_rank() as u8, self.walk.rank() as u8);
        VariantKey::from_slice(&[
            kept,
            rank,
            self.span as u8,
            self.sides as u8,
            places.ilog2() as u8,
            lanes.ilog2() as u8,
            along.into(),
            vector as u8,
            turns as u8,
        ])
    }

    /// Returns the C++ type of the elements' indices.
    pub fn number_type(&self) -> &'static str {
        if self.span == IndexWidth::Short { "unsigned" } else { "unsigned long long" }
    }

    /// Returns the C++ type of the loop nest over the axes that are not reduced; `None` if all axes are reduced.
    pub fn kept_type(&self) -> Option<String> {
        let kept = self.walk.unreduced_rank();
        (kept > 0).then(|| self.span.type_of(kept, self.sides))
    }

    /// Returns the C++ type of the loop nest over the reduced axes; `None` if no axis is reduced.
    pub fn reduced_type(&self) -> Option<String> {
        let reduced = self.walk.rank() - self.walk.unreduced_rank();
        (reduced > 0).then(|| self.span.type_of(reduced, self.sides))
    }

    /// Returns the byte offset of an array's first element from the start of its memory block.
    pub fn offset(&self, side: usize) -> i64 {
        self.walk.offset(side)
    }

    /// Appends the loop nest over the axes that are not reduced to the arguments of a launch, and, if `with_reduced` is
    /// set, the loop nest over the reduced axes.
    pub fn push(&self, arguments: &mut Arguments, with_reduced: bool) {
        let (kept, rank) = (self.walk.unreduced_rank(), self.walk.rank());
        let sides = 0..self.sides;
        if kept > 0 {
            let mut record = ParameterBlock::new();
            let steps = sides.clone().map(|side| self.walk.strides(side).take(kept));
            record.push_walk(self.span, self.walk.lens().take(kept), steps);
            record.pass(arguments);
        }
        if rank > kept && with_reduced {
            let mut record = ParameterBlock::new();
            let steps = sides.map(|side| self.walk.strides(side).skip(kept));
            record.push_walk(self.span, self.walk.lens().skip(kept), steps);
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
    const FLAT: ReductionOptions = ReductionOptions { reduced: 1, in_order: false, in_batches: false };
    const EVEN: OperandAddresses = OperandAddresses { itemsize: [4, 4], address: [0x1000, 0x1000] };

    fn planned(shape: &[i64], reduced: &[usize]) -> ReductionPlan {
        let input = Layout::contiguous(shape, 4, MemoryOrder::C).unwrap();
        let kept: Vec<i64> =
            (0..shape.len()).map(|axis| if reduced.contains(&axis) { 1 } else { shape[axis] }).collect();
        let out = Layout::contiguous(&kept, 4, MemoryOrder::C).unwrap().broadcast_to(shape).unwrap();
        let wants = ReductionOptions { reduced: reduced.iter().map(|axis| 1 << axis).sum(), ..FLAT };
        plan(&[&input, &out], wants, EVEN, H200).unwrap()
    }

    #[test]
    fn reduction_threads_follow_axis_with_smallest_stride() {
        let block = |shape: &[i64], reduced: &[usize]| {
            let BlockShape { places, lanes, along, vector, each: _, turns } = planned(shape, reduced).block;
            (places, lanes, along, vector, turns)
        };
        assert_eq!(block(&[1 << 14, 1 << 14], &[1]), (1, 256, true, 4, 1));
        assert_eq!(block(&[1 << 14, 1 << 14], &[0]), (32, 8, false, 4, 1));
        assert_eq!(block(&[4, 1 << 20], &[0]), (256, 1, false, 4, 1));
        assert_eq!(block(&[1 << 20, 4], &[1]), (256, 1, true, 4, 4));
        assert_eq!(block(&[1 << 20, 5], &[1]), (256, 1, true, 1, 1));
        assert_eq!(block(&[1 << 20, 5], &[0]), (8, 32, false, 1, 1));
        assert_eq!(block(&[64, 64, 64], &[0, 1, 2]), (1, 256, true, 4, 1));
        assert_eq!(block(&[1 << 14, 1026], &[0]), (32, 8, false, 2, 1));
    }

    #[test]
    fn reduction_pack_size_follows_alignment_of_input() {
        let input = Layout::contiguous(&[64, 64], 4, MemoryOrder::C).unwrap();
        let out = Layout::contiguous(&[64, 1], 4, MemoryOrder::C).unwrap().broadcast_to(&[64, 64]).unwrap();
        let vector = |address| {
            let memory = OperandAddresses { address: [address, 0], ..EVEN };
            plan(&[&input, &out], ReductionOptions { reduced: 2, ..FLAT }, memory, H200).unwrap().block.vector
        };
        assert_eq!([0x100, 0x108, 0x104].map(vector), [4, 2, 1]);
    }

    #[test]
    fn reduction_to_few_results_is_divided_among_blocks() {
        assert_eq!(planned(&[1 << 28], &[0]).splits, 528);
        assert_eq!(planned(&[1 << 14, 1 << 14], &[0]).splits, 4);
        assert_eq!(planned(&[1 << 14, 1 << 14], &[1]).splits, 1);
        assert_eq!(planned(&[16], &[0]).splits, 1);
        assert_eq!(planned(&[4, 1 << 20], &[0]).splits, 1);
    }

    #[test]
    fn plan_counts_results_and_elements_by_reduced_axes() {
        let plan = planned(&[3, 4, 5, 6], &[1, 3]);
        assert_eq!((plan.places, plan.count), (15, 24));
        let plan = planned(&[3, 1], &[1]);
        assert_eq!((plan.places, plan.count), (3, 1));
        assert!(plan.reduced_type().is_none());
        assert!(planned(&[7], &[0]).kept_type().is_none());
    }
}
