//! Finds the positions of values in sorted data, and combines values with the same position: counts them, or sums their
//! weights.

use super::COMPILED;
use super::radix_keys::Keys;
use super::sort_input::dense;
use crate::elementwise_kernel::at_once;
use crate::ufunc::kernel::stored_as;
use crate::{elementwise_kernel, kernel_source};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, KernelSource, launch};
use pygpu_layout::{Dims, MemoryOrder};
use pygpu_memory::{Access, BlockUse};

const TEXT: &str = include_str!("search.cu");
const SUMS: &str = include_str!("equal_run_sums.cu");
const SEARCH: &str = "pygpu_search_sorted";
const COUNT: &str = "pygpu_count_places";
const SUM: &str = "pygpu_sum_runs";

const THREADS: u32 = 256;
/// Maximum size in bytes of the sorted keys that a thread block copies to shared memory.
const HELD: i64 = 8192;
/// Maximum number of bins for which a thread block counts in shared memory instead of global memory.
const FEW: i64 = 4096;
/// Number of blocks per multiprocessor for kernels whose blocks first copy data to shared memory, so that more blocks
/// would repeat this copy.
const BLOCKS: u64 = 8;
/// Minimum average length of the runs of weights for which `THREADS` threads sum each run. For shorter runs, 32 threads
/// sum each run.
const LONG: i64 = 128;
/// Maximum number of thread blocks that sum one run of weights; `ENOUGH` is the total number of thread blocks that
/// suffices to occupy the device.
const MOST_PARTS: i64 = 256;
const ENOUGH: i64 = 1024;

/// Determines the task of a search kernel: to find the position of each value, to count the values at each
/// position (a histogram), or to count the values as indices, without a search (`bincount`).
#[derive(Clone, Copy, PartialEq, Eq)]
struct SearchVariant {
    searches: bool,
    counts: bool,
    holds: bool,
    is_few: bool,
}

/// How the bins are defined.
#[derive(Clone, Copy)]
pub enum Counted<'a> {
    /// The bins are the intervals between the sorted elements of this array (the edges), which have the values' type.
    Between(&'a Array),
    /// The bins are the integers from 0 up to, but excluding, this number.
    Below(i64),
}

/// Finds the insertion positions of values in sorted data of the same type, as 64-bit integers in the values' shape. If
/// `right` is set, the position of a value is after all elements that are equal to the value.
///
/// # Errors
/// `OutOfMemory`; compiler errors; driver errors.
pub fn search(sorted: &Array, values: &Array, right: bool, stream: &Stream) -> Result<Array> {
    let shape: Dims = values.layout().shape().collect();
    let places = Array::empty(&shape, DType::new(ScalarType::Int64), MemoryOrder::C, stream.clone())?;
    if !values.layout().is_empty() {
        let task = SearchVariant { searches: true, counts: false, holds: has_room(sorted), is_few: false };
        run(task, Some(sorted), values, &places, u64::from(right), stream)?;
    }
    Ok(places)
}

/// Counts the values in each bin. The counts are 64-bit integers.
///
/// # Errors
/// The errors of [`search`].
pub fn count(what: Counted<'_>, values: &Array, stream: &Stream) -> Result<Array> {
    let (edges, bins) = match what {
        Counted::Between(edges) => (Some(edges), (edges.layout().size() - 1).max(0)),
        Counted::Below(bins) => (None, bins),
    };
    let counts = Array::empty(&[bins], DType::new(ScalarType::Int64), MemoryOrder::C, stream.clone())?;
    copy::fill(&counts, &[0; 8], stream)?;
    if bins > 0 && !values.layout().is_empty() {
        let holds = edges.is_some_and(has_room);
        let task = SearchVariant { searches: edges.is_some(), counts: true, holds, is_few: bins <= FEW };
        run(task, edges, values, &counts, bins as u64, stream)?;
    }
    Ok(counts)
}

fn has_room(sorted: &Array) -> bool {
    sorted.layout().size() * sorted.dtype().itemsize() as i64 <= HELD
}

fn run(
    task: SearchVariant,
    sorted: Option<&Array>,
    values: &Array,
    result: &Array,
    last: u64,
    stream: &Stream,
) -> Result<()> {
    let own = dense(values, stream)?;
    let values = own.as_ref().unwrap_or(values);
    let held = sorted.map(|sorted| dense(sorted, stream)).transpose()?.flatten();
    let sorted = held.as_ref().or(sorted);
    let function = compiled(task, values.dtype().kind(), stream.device())?;
    let count = values.layout().size() as u64;
    let mut arguments = Arguments::new();
    arguments.push_word(sorted.map_or(0, |sorted| sorted.address() as u64));
    arguments.push_word(sorted.map_or(0, |sorted| sorted.layout().size() as u64));
    arguments.push_word(values.address() as u64);
    arguments.push_word(count);
    arguments.push_word(result.address() as u64);
    arguments.push_word(last);
    let mut uses: Vec<BlockUse<'_>> = vec![(values.allocation(), Access::Read), (result.allocation(), Access::Write)];
    uses.extend(sorted.map(|sorted| (sorted.allocation(), Access::Read)));
    let most = match task.holds || task.is_few {
        true => u64::from(at_once(stream.device())) * BLOCKS,
        false => 1 << 24,
    };
    let blocks = count.div_ceil(u64::from(THREADS)).clamp(1, most.max(1)) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the kernel was compiled for this type; `result` has an element for each value or bin, and the kernel
    // ignores values outside of all bins.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}

fn compiled(task: SearchVariant, kind: ScalarType, device: Device) -> Result<Function> {
    let SearchVariant { searches, counts, holds, is_few } = task;
    let key = VariantKey::from_slice(&[b'b', searches.into(), counts.into(), holds.into(), is_few.into(), kind as u8]);
    let name = if counts { COUNT } else { SEARCH };
    COMPILED.function(device, &key, name, || source(task, name, kind))
}

fn source(task: SearchVariant, name: &str, kind: ScalarType) -> KernelSource {
    let keys = Keys { kind, descending: false, as_equal: true };
    let types = match task.searches {
        true => keys.text(),
        false => format!("typedef {} pygpu_element;\n", stored_as(kind)),
    };
    let head = kernel_source::head(&[&types], "");
    let held = if task.holds { HELD / keys.bytes() as i64 } else { 0 };
    let text = format!(
        "{head}{types}#define PYGPU_THREADS {THREADS}\n#define PYGPU_SEARCHES {}\n#define PYGPU_COUNTS {}\n\
         #define PYGPU_HELD {held}\n#define PYGPU_FEW {}\n{TEXT}",
        u8::from(task.searches),
        u8::from(task.counts),
        if task.is_few { FEW } else { 0 },
    );
    elementwise_kernel::source(name, text, &[])
}

/// Computes, in float64, sums of parts of each run of weights. Run `r` consists of the weights `weights[places[k]]` for
/// `k` from `starts[r]` to below `starts[r + 1]`. Row `r` of the result contains the sums of the parts of run `r`,
/// which the caller adds up.
///
/// # Errors
/// The errors of [`search`].
pub fn sum_runs(weights: &Array, places: &Array, starts: &Array, stream: &Stream) -> Result<Array> {
    let runs = starts.layout().size() - 1;
    let each = places.layout().size() / runs.max(1);
    let parts = (ENOUGH / runs.max(1)).clamp(1, MOST_PARTS).min((each / i64::from(THREADS)).max(1));
    let sums = Array::empty(&[runs, parts], DType::new(ScalarType::Float64), MemoryOrder::C, stream.clone())?;
    if runs == 0 {
        return Ok(sums);
    }
    let own = dense(weights, stream)?;
    let weights = own.as_ref().unwrap_or(weights);
    let threads = if each >= LONG { THREADS } else { 32 };
    let function = COMPILED.function(stream.device(), &[b'+', u8::from(each >= LONG)], SUM, || {
        elementwise_kernel::source(
            SUM,
            format!("#define PYGPU_THREADS {threads}\n{SUMS}"),
            &["--fmad=false".to_owned()],
        )
    })?;
    let mut arguments = Arguments::new();
    [weights, places, starts, &sums].into_iter().for_each(|array| arguments.push_word(array.address() as u64));
    arguments.push_word(runs as u64);
    let read = [weights, places, starts].map(|array| (array.allocation(), Access::Read));
    let uses: Vec<BlockUse<'_>> = read.into_iter().chain([(sums.allocation(), Access::Write)]).collect();
    let blocks = u32::try_from(runs).unwrap_or(u32::MAX).min(1 << 30);
    let shape = LaunchShape { grid: [blocks, parts as u32, 1], block: [threads, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the arguments match the kernel's declared parameters; the caller guarantees that positions are inside the
    // weights and starts inside the positions.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses)? };
    Ok(sums)
}
