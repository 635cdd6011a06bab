//! Chooses the kernel for a product, and the work of each thread block and thread.

use super::operands::{ProductProblem, is_whole, kind_of_parts};
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_codegen::array_access::IndexWidth;
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_layout::NARROW;

/// Maximum number of multiply-adds of a product for which one thread per result is fastest. If the inner axis has at
/// most `SHORT` elements, one thread per result is fastest for any number of multiply-adds.
const FEW: i64 = 16 * 16 * 16;
const SHORT: i64 = 8;
/// Minimum length, in tiles, of the part of the inner axis that a thread block processes if this axis is divided among
/// several blocks.
const TURNS: i64 = 8;
/// Threads per block on GPUs. The CPU backend, which runs the threads of a block one after another, uses
/// `THREADS_ON_CPU`.
pub(super) const THREADS: u32 = 256;
const THREADS_ON_CPU: u32 = 16;
/// Number of packs (vector loads) that a thread of the matrix-vector kernel makes before it computes with the elements,
/// so that the loads overlap.
const EACH: i64 = 4;
/// Maximum size in bytes of a pack, i.e. of the elements that a thread loads by one instruction. `PACK` is the maximum
/// number of these elements.
const PACK_BYTES: i64 = 16;
const PACK: i64 = 8;
/// Number of adjacent threads of the matrix-vector kernel that read adjacent rows.
const BESIDE: i64 = 32;
/// Number of blocks per multiprocessor if the inner axis of a matrix-vector product is divided. `WAVES_ACROSS` applies
/// if a thread has several rows, because each block then takes less time.
const WAVES: i64 = 8;
const WAVES_ACROSS: i64 = 16;

/// Sizes of two parts of the result: the tile that a thread block computes, and the part of this tile that a thread
/// computes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tile {
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) depth: i64,
    /// Number of results per thread, along rows and columns.
    pub(super) own: [i64; 2],
}

impl Tile {
    pub(super) fn threads(self) -> i64 {
        (self.rows / self.own[0]) * (self.columns / self.own[1])
    }
}

const fn tile(rows: i64, columns: i64, depth: i64, own: [i64; 2]) -> Tile {
    Tile { rows, columns, depth, own }
}

/// Three lists of tile sizes: for computation types of at most 4 bytes, of 8 bytes, and of 16 bytes. Each list is
/// ordered from the largest to the smallest tile.
const OF_WORDS: [Tile; 3] = [tile(128, 128, 8, [8, 8]), tile(64, 64, 8, [8, 8]), tile(32, 32, 8, [4, 4])];
const OF_DOUBLES: [Tile; 2] = [tile(64, 64, 8, [8, 4]), tile(32, 32, 8, [4, 4])];
const OF_PAIRS: [Tile; 2] = [tile(64, 64, 8, [4, 4]), tile(32, 32, 8, [4, 4])];

fn tiles(bytes: usize) -> &'static [Tile] {
    match bytes {
        4 => &OF_WORDS,
        8 => &OF_DOUBLES,
        _ => &OF_PAIRS,
    }
}

/// The algorithm by which a product is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ProductStrategy {
    /// Each thread computes one result.
    Small,
    /// Matrix-vector product: `places` rows per block, and `lanes` threads per row.
    Rows { places: u32, lanes: u32 },
    /// Each thread block computes a tile of the results, from tiles of the operands in shared memory.
    Tiles(Tile),
}

/// The plan of a product: algorithm, vector loads (packs), and division of the inner axis.
#[derive(Clone, Debug)]
pub(super) struct ProductPlan {
    pub(super) way: ProductStrategy,
    /// Whether each operand is read along the inner axis. `vector` contains the pack sizes of the operands.
    pub(super) along: [bool; 2],
    pub(super) vector: [i64; 2],
    /// Whether a thread stores several adjacent results by one instruction, as a pack.
    pub(super) is_out_packed: bool,
    /// Number of thread blocks among which the inner axis is divided.
    pub(super) splits: i64,
    /// Length of the part of the inner axis that a thread block processes.
    pub(super) chunk: i64,
    pub(super) blocks: i64,
    pub(super) threads: u32,
    pub(super) span: IndexWidth,
    pub(super) is_wide: bool,
    rank: u8,
}

/// Returns the pack size of an operand: the number of elements that a thread loads at once. At every position that a
/// thread reads, this number of elements is contiguous and aligned. The pack size divides `extent`.
fn vector(task: &ProductProblem, place: usize, is_along: bool, most: i64, extent: i64) -> i64 {
    let side = [&task.a, &task.b][place];
    let (near, far) = match is_along {
        true => (side.step, side.row),
        false => (side.row, side.step),
    };
    // If the operand has a single row, the distance between rows is irrelevant.
    let bits = task.bits(place) | if is_along && side.rows == 1 { 0 } else { far };
    let mut vector = if near == side.itemsize { most.min(PACK).min(PACK_BYTES / side.itemsize).max(1) } else { 1 };
    while vector > 1 && (extent % vector != 0 || bits % (vector * side.itemsize) != 0) {
        vector /= 2;
    }
    vector
}

/// Plans a nonempty product for a device that runs `at_once` thread blocks concurrently.
pub(super) fn plan(task: &ProductProblem, at_once: i64, is_cpu: bool) -> ProductPlan {
    let (rows, columns) = (task.a.rows, task.b.rows);
    let results = rows.saturating_mul(columns);
    let span = task.walk.as_ref().map_or(IndexWidth::Short, |walk| IndexWidth::of(walk, 0..3));
    let is_wide = results.saturating_mul(task.batches) >= NARROW;
    let rank = task.walk.as_ref().map_or(0, |walk| walk.rank() as u8);
    let along = [task.a.is_along(), task.b.is_along()];
    let threads = if is_cpu { THREADS_ON_CPU } else { THREADS };
    let draft = ProductPlan {
        way: ProductStrategy::Small,
        along,
        vector: [1, 1],
        is_out_packed: false,
        splits: 1,
        chunk: task.depth,
        blocks: (results.saturating_mul(task.batches) as u64).div_ceil(threads.into()) as i64,
        threads,
        span,
        is_wide,
        rank,
    };
    let is_short = task.depth <= SHORT || results.saturating_mul(task.depth) <= FEW;
    match columns {
        1 if task.depth > SHORT => rows_with_vector(task, draft, at_once),
        _ if is_short => draft,
        _ => of_tiles(task, draft, at_once),
    }
}

fn rows_with_vector(task: &ProductProblem, draft: ProductPlan, at_once: i64) -> ProductPlan {
    let is_along = draft.along[0];
    let first = vector(task, 0, is_along, PACK, if is_along { 0 } else { task.a.rows });
    let mut second = if is_along { vector(task, 1, true, first, 0) } else { 1 };
    if second != first {
        // Loads of single elements suffice for the second operand, because its elements come from the cache.
        second = 1;
    }
    // Of the matrix-vector kernel: `pack` is the number of elements along the inner axis that a thread loads at once,
    // and `own` the number of rows that a thread computes.
    let (pack, own) = if is_along { (first, 1) } else { (1, first) };
    let packs = task.depth / pack;
    let threads = i64::from(draft.threads);
    let beside = (task.a.rows as u64).div_ceil(own as u64) as i64;
    let lanes = match is_along {
        true => (packs as u64).div_ceil(EACH as u64).min(threads as u64).next_power_of_two() as i64,
        false => threads / BESIDE.min(threads).min((beside as u64).next_power_of_two() as i64),
    };
    let places = threads / lanes;
    let blocks = (beside as u64).div_ceil(places as u64) as i64 * task.batches;
    let most = packs / (4 * lanes * EACH);
    let waves = if own > 1 { WAVES_ACROSS } else { WAVES };
    let splits = if may_split(task) { (waves * at_once / blocks).clamp(1, most.max(1)) } else { 1 };
    let way = ProductStrategy::Rows { places: places as u32, lanes: lanes as u32 };
    ProductPlan { way, vector: [first, second], splits, blocks, ..draft }
}

/// Whether the inner axis may be divided among thread blocks. The partial sums are then added in the type of the
/// partial results. Therefore integers must wrap around in this type as they do in the type of the results.
fn may_split(task: &ProductProblem) -> bool {
    !is_whole(task.computed) || task.computed == ScalarType::Bool || task.computed == task.out.kind
}

fn of_tiles(task: &ProductProblem, draft: ProductPlan, at_once: i64) -> ProductPlan {
    let bytes = DType::new(kind_of_parts(task.computed)).itemsize();
    let may_split = may_split(task);
    let blocks_of = |tile: &Tile| {
        (task.a.rows as u64).div_ceil(tile.rows as u64) as i64
            * (task.b.rows as u64).div_ceil(tile.columns as u64) as i64
            * task.batches
    };
    let parts_of = |tile: &Tile| if may_split { (task.depth / (TURNS * tile.depth)).max(1) } else { 1 };
    let all = tiles(bytes);
    let is_right = |tile: &&Tile| {
        2 * task.a.rows > tile.rows
            && 2 * task.b.rows > tile.columns
            && blocks_of(tile).saturating_mul(parts_of(tile)) >= at_once
    };
    let tile = *all.iter().find(is_right).unwrap_or(&all[all.len() - 1]);
    let blocks = blocks_of(&tile);
    let splits = (2 * at_once / blocks).clamp(1, parts_of(&tile));
    let chunk = (task.depth as u64).div_ceil(splits as u64).next_multiple_of(tile.depth as u64) as i64;
    let splits = (task.depth as u64).div_ceil(chunk as u64) as i64;
    let packs = |place: usize, rows: i64, whole: i64| {
        let is_along = draft.along[place];
        let most = rows * tile.depth / tile.threads();
        vector(task, place, is_along, most, if is_along { task.depth } else { whole })
    };
    let vector = [packs(0, tile.rows, task.a.rows), packs(1, tile.columns, task.b.rows)];
    let quad = (16 / bytes as i64).min(4);
    let out = &task.out;
    let is_out_packed = quad > 1
        && out.column == out.itemsize
        && task.b.rows % quad == 0
        && (task.bits(2) | out.row) % (quad * out.itemsize).min(PACK_BYTES) == 0;
    let threads = tile.threads() as u32;
    ProductPlan { way: ProductStrategy::Tiles(tile), vector, is_out_packed, splits, chunk, blocks, threads, ..draft }
}

impl ProductPlan {
    /// Returns the part of the variant's cache key that depends on the plan, in addition to the types.
    pub(super) fn key(&self) -> VariantKey {
        let way = match self.way {
            ProductStrategy::Small => [0, 0, 0],
            ProductStrategy::Rows { places, lanes } => [1, places.ilog2() as u8, lanes.ilog2() as u8],
            ProductStrategy::Tiles(tile) => [2, tile.rows as u8, 0],
        };
        let bits = [self.along[0], self.along[1], self.is_out_packed, self.is_wide];
        let bits = bits.into_iter().fold(0, |bits, bit| bits * 2 + u8::from(bit));
        let [first, second] = self.vector.map(|vector| vector as u8);
        VariantKey::from_slice(&[
            way[0],
            way[1],
            way[2],
            bits,
            first,
            second,
            self.rank,
            self.span as u8,
            self.threads as u8,
        ])
    }

    /// Returns the C++ type of the indices of results.
    pub(super) fn number_type(&self) -> &'static str {
        if self.is_wide { "unsigned long long" } else { "unsigned" }
    }

    /// Returns the C++ type of the loop nest over the batches.
    pub(super) fn walk_type(&self) -> Option<String> {
        (self.rank > 0).then(|| self.span.type_of(self.rank.into(), 3))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, missing_docs)]
    use super::super::operands::{MatrixOperand, Out};
    use super::*;

    const PROCESSORS: i64 = 132;

    fn side(rows: i64, row: i64, step: i64) -> MatrixOperand {
        MatrixOperand { kind: ScalarType::Float32, is_conjugated: false, address: 0x1000, itemsize: 4, rows, row, step }
    }

    /// Creates a product of two matrices in C order.
    fn task(rows: i64, depth: i64, columns: i64) -> ProductProblem {
        let out = Out {
            kind: ScalarType::Float32,
            address: 0x2000,
            itemsize: 4,
            row: 4 * columns,
            column: if columns > 1 { 4 } else { 0 },
        };
        ProductProblem::of(side(rows, 4 * depth, 4), side(columns, 4, 4 * columns), out, depth)
    }

    fn planned(rows: i64, depth: i64, columns: i64) -> ProductPlan {
        plan(&task(rows, depth, columns), PROCESSORS, false)
    }

    fn rows_of_tile(plan: &ProductPlan) -> i64 {
        match plan.way {
            ProductStrategy::Tiles(tile) => tile.rows,
            _ => 0,
        }
    }

    #[test]
    fn largest_tile_that_occupies_all_processors_is_chosen() {
        let tiles = |m, k, n| {
            let plan = planned(m, k, n);
            (rows_of_tile(&plan), plan.splits)
        };
        assert_eq!(tiles(8192, 8192, 8192), (128, 1));
        assert_eq!(tiles(1024, 64, 1024), (64, 1));
        assert_eq!(tiles(64, 64, 64), (32, 1));
        assert_eq!(tiles(40, 40, 40), (32, 1));
        let (rows, splits) = tiles(128, 1 << 20, 128);
        assert_eq!((rows, splits), (128, 264));
    }

    #[test]
    fn small_products_and_vector_products_are_planned_without_tiles() {
        assert_eq!(planned(3, 3, 3).way, ProductStrategy::Small);
        assert_eq!(planned(1 << 20, 8, 8).way, ProductStrategy::Small);
        assert_eq!(planned(4096, 4096, 1).way, ProductStrategy::Rows { places: 1, lanes: 256 });
        assert_eq!(planned(4096, 64, 1).way, ProductStrategy::Rows { places: 64, lanes: 4 });
        let mut across = task(4096, 4096, 1);
        across.a = side(4096, 4, 4 * 4096);
        let plan_across = plan(&across, PROCESSORS, false);
        assert_eq!((plan_across.way, plan_across.vector), (ProductStrategy::Rows { places: 32, lanes: 8 }, [4, 1]));
        across.a = side(4095, 4, 4 * 4096);
        assert_eq!(plan(&across, PROCESSORS, false).vector, [1, 1]);
    }

    #[test]
    fn parts_of_divided_inner_axis_cover_all_elements() {
        for depth in [5000, 100_003, 1 << 20, (1 << 20) + 1] {
            let plan = planned(64, depth, 64);
            assert!(plan.splits > 1);
            assert!(plan.chunk * plan.splits >= depth && plan.chunk * (plan.splits - 1) < depth);
        }
    }

    #[test]
    fn pack_sizes_follow_alignment_of_addresses_and_lengths() {
        assert_eq!(planned(512, 512, 512).vector, [4, 4]);
        assert_eq!(planned(512, 510, 512).vector, [2, 4]);
        assert_eq!(planned(512, 512, 511).vector, [4, 1]);
        let mut odd = task(512, 512, 512);
        odd.a.address += 8;
        assert_eq!(plan(&odd, PROCESSORS, false).vector, [2, 4]);
        odd.out.address += 4;
        assert!(!plan(&odd, PROCESSORS, false).is_out_packed);
        assert!(planned(512, 512, 512).is_out_packed);
    }
}
