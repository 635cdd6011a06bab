//! Reduces segments of an axis (`ufunc.reduceat`). The starts of the segments are in the memory of the device.

use super::reduction_table::ReductionEntry;
use super::source::{self, ReductionTypes};
use crate::elementwise_kernel;
use crate::kernel_source;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart, VariantKey};
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, KernelSource, launch};
use pygpu_memory::Access;

const TEXT: &str = include_str!("reduceat.cu");
const THREADS: u32 = 256;
const THREADS_ON_CPU: u32 = 16;
/// Number of threads that reduce one segment together, if elements that are adjacent in memory belong to the same
/// segment.
const LANES: u32 = 32;
const LANES_ON_CPU: u32 = 4;
/// If the axes after the reduced axis have at least this number of positions (the product of their lengths), one thread
/// reduces a whole segment. Adjacent threads then read adjacent elements.
const INNER_OF_SINGLE_LANE: i64 = 16;

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Reduceat);

/// A reduction of segments of an axis. All arrays are contiguous in C order.
pub struct SegmentReduction<'a> {
    /// The reduction function's entry in the table of reductions.
    pub row: &'static ReductionEntry,
    /// The element type in which the reduction is computed.
    pub computed: ScalarType,
    /// The elements to reduce.
    pub input: &'a Array,
    /// The starts of the segments: 64-bit integers, each a valid index of the axis.
    pub starts: &'a Array,
    /// The array for the results. It has the input's shape, except that the axis that is divided into segments has one
    /// index for each segment.
    pub out: &'a Array,
    /// The axis that is divided into segments.
    pub axis: usize,
}

fn name_of(row: &ReductionEntry) -> String {
    format!("{}_segments", source::name_of(row))
}

fn source_of(row: &ReductionEntry, types: ReductionTypes, threads: u32, lanes: u32) -> KernelSource {
    let mut definitions = source::definitions(row, types, "long long");
    let one = source::spelled(row.map, types.computed).replace("{x}", "x");
    definitions.push_str(&format!(
        "static __device__ inline pygpu_state pygpu_one(const pygpu_type &x) {{ const pygpu_state one = {{{one}}}; return one; }}\n"
    ));
    let head = kernel_source::head(&[&definitions, "pygpu::bytes"], "");
    let name = name_of(row);
    let body = TEXT.replace("PYGPU_NAME", &name);
    let text = format!("{head}#define PYGPU_THREADS {threads}\n#define PYGPU_LANES {lanes}\n{definitions}{body}");
    elementwise_kernel::source(&name, text, &["--fmad=false".to_owned()])
}

/// Launches the kernel that reduces the segments.
///
/// # Errors
/// Compiler errors; driver errors.
pub fn run(call: &SegmentReduction<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let SegmentReduction { row, computed, input, starts, out, axis } = *call;
    let results = out.layout().size();
    if results == 0 {
        return Ok(());
    }
    let lengths: Vec<i64> = input.layout().shape().collect();
    let inner: i64 = lengths[axis + 1..].iter().product();
    let segments = starts.layout().size();
    let is_single = inner >= INNER_OF_SINGLE_LANE || lengths[axis] <= 2 * segments;
    let (threads, most_lanes) = if device.is_cpu() { (THREADS_ON_CPU, LANES_ON_CPU) } else { (THREADS, LANES) };
    let lanes = if is_single { 1 } else { most_lanes };
    let types = ReductionTypes { input: input.dtype().kind(), computed, out: out.dtype().kind() };
    let mut key = VariantKey::from_slice(&[types.input, computed, types.out].map(|kind| kind as u8));
    key.push(lanes as u8);
    key.extend_from_slice(row.name.as_bytes());
    let function = COMPILED.function(device, &key, name_of(row), || source_of(row, types, threads, lanes))?;
    let mut arguments = Arguments::new();
    [input, starts, out].iter().for_each(|array| arguments.push_word(array.address() as u64));
    [results, segments, lengths[axis], inner].iter().for_each(|number| arguments.push_word(*number as u64));
    let blocks = (results as u64).div_ceil(u64::from(threads / lanes)).min(1 << 20) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false };
    let uses =
        [(input.allocation(), Access::Read), (starts.allocation(), Access::Read), (out.allocation(), Access::Write)];
    // SAFETY: the arguments match the kernel's declared parameters; the caller guarantees contiguous arrays of matching
    // shapes, and starts that are valid indices of the axis.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}
