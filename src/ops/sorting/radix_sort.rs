//! Sorts rows that are too long for one block of threads. This radix sort makes one pass over the keys for each byte of
//! a key.

use super::COMPILED;
use super::decoupled_lookback::{LONG, OF_WARPS, warp};
use super::sort_input::{SortInput, scratch};
use crate::elementwise_kernel::at_once;
use crate::{elementwise_kernel, kernel_source};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, KernelSource, launch};
use pygpu_memory::{Access, BlockUse};

const TEXT: &str = include_str!("radix_sort.cu");
const COUNT: &str = "pygpu_sort_count";
const SWEEP: &str = "pygpu_sort_sweep";

/// Threads per block: one for each value of a digit, which has 8 bits.
const THREADS: i64 = 256;

/// Number of thread blocks that a multiprocessor runs concurrently. The first number applies to sorts that return no
/// positions, the second one to sorts that return positions, which need more registers. These numbers, and the numbers
/// of keys in [`each`], were measured on an H200.
const BLOCKS: [u32; 2] = [4, 3];

/// Number of bytes that a thread of the counting kernel loads at once.
const COUNTED_AT_ONCE: usize = 32;

/// Number of blocks of the counting kernel per multiprocessor.
const COUNTING: i64 = 4;

/// Parameters of a sort, which all its launches share.
struct RadixSortPlan {
    with_places: bool,
    is_long: bool,
    /// Number of keys per thread.
    each: usize,
    /// Number of tiles in a row.
    tiles: i64,
    passes: i64,
}

impl RadixSortPlan {
    fn of(rows: &SortInput<'_>) -> Self {
        let with_places = rows.places.is_some();
        let is_long = rows.count >= LONG;
        let bytes = rows.keys.bytes().max(place_bytes(with_places, is_long));
        let each = each(bytes, with_places);
        let tiles = (rows.count as u64).div_ceil(THREADS as u64 * each as u64) as i64;
        Self { with_places, is_long, each, tiles, passes: rows.keys.passes().into() }
    }

    /// Returns the size in bytes of the integers that contain counts of keys and indices of elements.
    const fn number_bytes(&self) -> i64 {
        if self.is_long { 8 } else { 4 }
    }

    const fn number_type(&self) -> &'static str {
        if self.is_long { "unsigned long long" } else { "unsigned" }
    }
}

/// Returns the size in bytes in which an element's position is stored between the radix passes; 0 if no positions are
/// sorted.
const fn place_bytes(with_places: bool, is_long: bool) -> usize {
    match (with_places, is_long) {
        (false, _) => 0,
        (true, false) => 4,
        (true, true) => 8,
    }
}

/// Returns the number of keys that a thread sorts in each pass. `bytes` is the size of a key or of a position,
/// whichever is larger.
const fn each(bytes: usize, with_places: bool) -> usize {
    match (bytes, with_places) {
        (1, false) => 16,
        (..=4, false) => 28,
        (..=4, true) => 22,
        (8, _) => 14,
        _ => 7,
    }
}

/// Device memory that all passes use.
struct RadixSortScratch {
    /// Digit counts for each row and pass, look-back entries of the tiles in even passes, and the counters from which
    /// thread blocks take their tile indices.
    memory: Array,
    /// Look-back entries of the tiles in odd passes. Each pass sets the entries that the next pass uses to zero.
    other: Array,
    said: i64,
    tickets: i64,
}

impl RadixSortScratch {
    fn new(rows: &SortInput<'_>, plan: &RadixSortPlan, stream: &Stream) -> Result<Self> {
        let bytes = plan.number_bytes();
        let said = rows.rows * plan.passes * THREADS * bytes;
        let table = rows.rows * plan.tiles * THREADS * bytes;
        let memory = scratch(said + table + 4 * plan.passes, stream)?;
        copy::fill(&memory, &[0], stream)?;
        Ok(Self { memory, other: scratch(table, stream)?, said, tickets: said + table })
    }

    fn address(&self, offset: i64) -> u64 {
        (self.memory.address() as u64).wrapping_add_signed(offset)
    }
}

/// Launches the sort of several rows.
///
/// # Errors
/// `OutOfMemory`; compiler errors; driver errors.
pub fn run(rows: &SortInput<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let plan = RadixSortPlan::of(rows);
    let count = compiled(rows, &plan, device, true)?;
    let sweep = compiled(rows, &plan, device, false)?;
    let state = RadixSortScratch::new(rows, &plan, stream)?;
    // SAFETY: the kernel was compiled for sort keys of this type; the scratch memory was allocated with the size that
    // this plan requires.
    unsafe { launch_count(rows, &count, &state, stream)? };
    // The passes alternate between two buffers, so that the last pass writes to the result. If positions are sorted
    // too, the last pass reads the original elements again, which must therefore not be overwritten.
    let size = rows.rows * rows.count;
    let pairs = |bytes: i64, result: Option<&Array>| -> Result<[Array; 2]> {
        let new = |is_needed: bool| scratch(if is_needed { size * bytes } else { 0 }, stream);
        Ok([result.map_or_else(|| new(plan.passes > 2), |result| Ok(result.clone()))?, new(plan.passes > 1)?])
    };
    let keys = pairs(rows.keys.bytes() as i64, rows.values.filter(|_| !plan.with_places))?;
    let places = match plan.with_places {
        // Between the radix passes, a position occupies fewer bytes than the 8 bytes that it has in the result.
        true => Some(pairs(plan.number_bytes(), None)?),
        false => None,
    };
    let (mut from, mut places_from) = (None, None);
    for pass in 0..plan.passes {
        let (is_last, side) = (pass == plan.passes - 1, ((plan.passes - 1 - pass) % 2) as usize);
        let to = if is_last { rows.values } else { Some(&keys[side]) };
        let places_to = if is_last { rows.places } else { places.as_ref().map(|places| &places[side]) };
        let step = RadixPass { from, places_from, to, places_to, pass };
        // SAFETY: the kernel was compiled for sort keys of this type, and the scratch memory was allocated with the
        // size that this plan requires; the arrays have room for a key and a position of each element.
        unsafe { launch_sweep(rows, &plan, &sweep, &state, &step, stream)? };
        (from, places_from) = (to, places_to);
    }
    Ok(())
}

/// Arrays that one pass of the sort reads and writes.
struct RadixPass<'a> {
    from: Option<&'a Array>,
    places_from: Option<&'a Array>,
    to: Option<&'a Array>,
    places_to: Option<&'a Array>,
    pass: i64,
}

fn shape(grid: [u32; 2]) -> LaunchShape {
    LaunchShape { grid: [grid[0], grid[1], 1], block: [THREADS as u32, 1, 1], shared: 0, cooperative: false }
}

/// Launches the kernel that counts the digits.
///
/// # Safety
/// `function` must have been compiled, and the scratch memory created, for the plan of these rows.
unsafe fn launch_count(
    rows: &SortInput<'_>,
    function: &Function,
    state: &RadixSortScratch,
    stream: &Stream,
) -> Result<()> {
    let mut values = Arguments::new();
    values.push_word(rows.input.address() as u64);
    values.push_word(state.address(0));
    values.push_word(rows.count as u64);
    let most = (i64::from(at_once(stream.device())) * COUNTING / rows.rows).max(1);
    let blocks = (rows.count / (THREADS * counted_each(rows) as i64)).clamp(1, most);
    let uses = [(rows.input.allocation(), Access::Read), (state.memory.allocation(), Access::Write)];
    let grid = [u32::try_from(rows.rows).unwrap_or(u32::MAX), blocks as u32];
    // SAFETY: the caller guarantees that the function and the scratch memory were created for the plan of these rows.
    unsafe { launch::launch(function, &shape(grid), stream, &mut values, &uses) }
}

/// Launches one pass of the sort.
///
/// # Safety
/// The conditions of [`launch_count`] apply. The arrays of the pass must have room for a key and a position of each
/// element.
unsafe fn launch_sweep(
    rows: &SortInput<'_>,
    plan: &RadixSortPlan,
    function: &Function,
    state: &RadixSortScratch,
    step: &RadixPass<'_>,
    stream: &Stream,
) -> Result<()> {
    let address = |array: Option<&Array>| array.map_or(0, |array| array.address() as u64);
    let other = state.other.address() as u64;
    let (said, next) = match step.pass % 2 {
        0 => (state.address(state.said), other),
        _ => (other, state.address(state.said)),
    };
    let mut values = Arguments::new();
    for array in [Some(rows.input), step.from, step.to, step.places_from, step.places_to] {
        values.push_word(address(array));
    }
    values.push_word(rows.count as u64);
    values.push_word(plan.tiles as u64);
    values.push_word(step.pass as u64);
    values.push_word(state.address(0));
    values.push_word(said);
    values.push_word(next);
    values.push_word(state.address(state.tickets + 4 * step.pass));
    let read = [Some(rows.input), step.from, step.places_from];
    let mut uses: Vec<BlockUse<'_>> =
        read.into_iter().flatten().map(|array| (array.allocation(), Access::Read)).collect();
    uses.extend([step.to, step.places_to].into_iter().flatten().map(|array| (array.allocation(), Access::Write)));
    uses.extend([&state.memory, &state.other].map(|array| (array.allocation(), Access::Write)));
    let blocks = u32::try_from(rows.rows * plan.tiles).unwrap_or(u32::MAX);
    // SAFETY: the caller guarantees that the function and the scratch memory were created for the plan of these rows,
    // and that the arrays have room for a key and a position of each element.
    unsafe { launch::launch(function, &shape([blocks, 1]), stream, &mut values, &uses) }
}

/// Returns the number of keys that a thread of the counting kernel loads at once.
fn counted_each(rows: &SortInput<'_>) -> usize {
    (COUNTED_AT_ONCE / rows.keys.bytes()).clamp(1, 16)
}

fn compiled(rows: &SortInput<'_>, plan: &RadixSortPlan, device: Device, is_count: bool) -> Result<Function> {
    let with_places = plan.with_places && !is_count;
    let mut key = VariantKey::from_slice(&[b's', is_count.into(), with_places.into(), plan.is_long.into()]);
    key.extend(rows.keys.identity());
    let name = if is_count { COUNT } else { SWEEP };
    COMPILED.function(device, &key, name, || source(rows, plan, device, is_count))
}

fn source(rows: &SortInput<'_>, plan: &RadixSortPlan, device: Device, is_count: bool) -> KernelSource {
    let keys = rows.keys.text();
    let head = kernel_source::head(&[&keys], "");
    let each = if is_count { counted_each(rows) } else { plan.each };
    let bytes = rows.keys.bytes().max(place_bytes(plan.with_places, plan.is_long));
    let words = (each * THREADS as usize * bytes).div_ceil(8);
    let text = format!(
        "{head}{keys}typedef {number} pygpu_number;\ntypedef {number} pygpu_place;\n#define PYGPU_IS_COUNT {}\n\
         #define PYGPU_PLACES {}\n#define PYGPU_EACH {each}\n#define PYGPU_PASSES {}\n#define PYGPU_WARP {}\n\
         #define PYGPU_BLOCKS {}\n#define PYGPU_TILE_WORDS {words}\n{OF_WARPS}{TEXT}",
        u8::from(is_count),
        u8::from(plan.with_places),
        plan.passes,
        warp(device),
        BLOCKS[usize::from(plan.with_places)],
        number = plan.number_type(),
    );
    elementwise_kernel::source(if is_count { COUNT } else { SWEEP }, text, &[])
}
