//! Launches the kernels of reductions.

use super::input::Elements;
use super::plan::{
    self, BLOCKS, BlockShape, DeviceCapacity, INPUT, MASK, OUT, OperandAddresses, ReductionOptions, ReductionPlan,
};
use super::reduction_table::ReductionEntry;
use super::source::{self, ReductionTypes};
use crate::elementwise_kernel::at_once;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart, VariantKey};
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, launch};
use pygpu_layout::{Dims, Layout, MemoryOrder};
use pygpu_memory::{Access, BlockUse};
use smallvec::SmallVec;

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Reductions);

/// Threads per block on GPUs. The CPU backend, which runs the threads of a block one after another, uses
/// `THREADS_ON_CPU`.
const THREADS: u32 = 256;
const THREADS_ON_CPU: u32 = 16;

/// A reduction of an array along some axes.
pub struct AxisReduction<'a> {
    /// The reduction function's entry in the table of reductions.
    pub row: &'static ReductionEntry,
    /// The element type in which the reduction is computed.
    pub computed: ScalarType,
    /// The elements to reduce.
    pub input: Elements<'a>,
    /// An array of bools that selects elements. It has the input's shape or can be broadcast to that shape.
    pub mask: Option<&'a Array>,
    /// The array for the results: the input's shape with length 1 along the reduced axes.
    pub out: &'a Array,
    /// The reduced axes as a bit set; bit 0 is the first axis.
    pub reduced: u64,
    /// Number that is subtracted from the count of elements per result, by which a variance is divided (`ddof` of
    /// `var`).
    pub less: f64,
}

/// Returns the number of threads per block, and the number of blocks that a device runs concurrently.
pub(super) fn room(device: Device) -> DeviceCapacity {
    match device.is_cpu() {
        true => DeviceCapacity { threads: THREADS_ON_CPU, blocks: at_once(device) },
        false => DeviceCapacity { threads: THREADS, blocks: at_once(device) * BLOCKS },
    }
}

fn key(call: &AxisReduction<'_>, plan: &ReductionPlan, block: BlockShape, is_second: bool) -> VariantKey {
    let mut key = plan.key();
    let types = [call.input.dtype().kind(), call.computed, call.out.dtype().kind()];
    key.extend(types.map(|kind| kind as u8));
    key.push(call.row.name.len() as u8);
    key.extend_from_slice(call.row.name.as_bytes());
    if let Some(map) = call.input.map().filter(|_| !is_second) {
        key.extend(map.number.to_le_bytes());
    }
    if is_second {
        key.extend([block.places.ilog2() as u8, block.lanes.ilog2() as u8]);
    }
    key
}

/// Launches the kernels of a reduction.
///
/// # Errors
/// `ValueError` for incompatible shapes; `OutOfMemory`; compiler errors; driver errors.
pub fn run(call: &AxisReduction<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let room = room(device);
    let shape: Dims = call.input.layout().shape().collect();
    let out = call.out.layout().broadcast_to(&shape)?;
    let mask = call.mask.map(|mask| mask.layout().broadcast_to(&shape)).transpose()?;
    let mut sides: SmallVec<[&Layout; 3]> = SmallVec::from_slice(&[call.input.layout(), &out]);
    sides.extend(&mask);
    let memory = OperandAddresses {
        itemsize: [call.input.dtype().itemsize(), call.out.dtype().itemsize()],
        address: [call.input.address(), call.out.allocation().address()],
    };
    let (in_order, in_batches) = (call.row.is_numbered, !call.row.batch.is_empty());
    let plan = plan::plan(&sides, ReductionOptions { reduced: call.reduced, in_order, in_batches }, memory, room)?;
    let types =
        ReductionTypes { input: call.input.dtype().kind(), computed: call.computed, out: call.out.dtype().kind() };
    let of_first = || source::first(call.row, types, &plan, mask.is_some(), call.input.map());
    let first = COMPILED.function(device, &key(call, &plan, plan.block, false), source::name_of(call.row), of_first)?;
    if plan.splits == 1 {
        // SAFETY: `function` was compiled for this plan, which was made for these arrays.
        return unsafe { launch_first(call, &plan, &first, None, stream) };
    }
    let block = plan.second_block(room);
    let of_second = || source::second(call.row, types, &plan, block);
    let second = COMPILED.function(device, &key(call, &plan, block, true), source::name_of(call.row), of_second)?;
    let bytes = i64::from(plan.splits) * plan.places * call.row.state_bytes(call.computed) as i64;
    let parts = Array::empty(&[bytes], DType::new(ScalarType::UInt8), MemoryOrder::C, stream.clone())?;
    // SAFETY: both functions were compiled for this plan, which was made for these arrays; `parts` has an element for
    // each result and each part.
    unsafe {
        launch_first(call, &plan, &first, Some(&parts), stream)?;
        launch_second(call, &plan, &second, block, &parts, stream)
    }
}

fn address(array: &Array, plan: &ReductionPlan, side: usize) -> u64 {
    array.allocation().address().wrapping_add_signed(plan.offset(side) as isize) as u64
}

fn shape(places: i64, block: BlockShape, splits: u32) -> LaunchShape {
    let blocks = (places as u64).div_ceil(block.all_places());
    // The conversion to 32 bits never fails: 2^32 thread blocks would need more elements than fit into a device's
    // memory.
    let blocks = u32::try_from(blocks).unwrap_or(u32::MAX);
    LaunchShape { grid: [blocks, splits, 1], block: [block.places * block.lanes, 1, 1], shared: 0, cooperative: false }
}

/// Launches the first kernel of a reduction, which reduces the input elements to results, or to partial results in
/// `parts`.
///
/// # Safety
/// The function must have been compiled for the plan, and the plan created for the call's arrays. `parts` must have an
/// element for each result and each part.
unsafe fn launch_first(
    call: &AxisReduction<'_>,
    plan: &ReductionPlan,
    function: &Function,
    parts: Option<&Array>,
    stream: &Stream,
) -> Result<()> {
    let mut values = Arguments::new();
    match call.input {
        Elements::Array(array) => values.push_word(address(array, plan, INPUT)),
        Elements::Made(made) => {
            made.leaves.iter().for_each(|leaf| values.push_word(leaf.address() as u64));
            values.append(made.values);
        }
    }
    values.push_word(address(call.out, plan, OUT));
    values.push_word(call.mask.map_or(0, |mask| address(mask, plan, MASK)));
    values.push_word(parts.map_or(0, |parts| parts.address() as u64));
    values.push_word(plan.places as u64);
    values.push_word(plan.count as u64);
    values.push_word(call.less.to_bits());
    plan.push(&mut values, true);
    let mut uses: SmallVec<[BlockUse<'_>; 4]> = SmallVec::new();
    match call.input {
        Elements::Array(array) => uses.push((array.allocation(), Access::Read)),
        Elements::Made(made) => uses.extend(made.leaves.iter().map(|leaf| (leaf.allocation(), Access::Read))),
    }
    uses.extend(call.mask.map(|mask| (mask.allocation(), Access::Read)));
    uses.push((parts.unwrap_or(call.out).allocation(), Access::Write));
    // SAFETY: the caller guarantees that the function was compiled for the plan, that the plan was made for these
    // arrays, and that `parts` is large enough.
    unsafe { launch::launch(function, &shape(plan.places, plan.block, plan.splits), stream, &mut values, &uses) }
}

/// Launches the second kernel of a reduction, which combines the partial results in `parts`.
///
/// # Safety
/// The conditions of [`launch_first`] apply, but the function must have been compiled from the source of the second
/// kernel.
unsafe fn launch_second(
    call: &AxisReduction<'_>,
    plan: &ReductionPlan,
    function: &Function,
    block: BlockShape,
    parts: &Array,
    stream: &Stream,
) -> Result<()> {
    let mut values = Arguments::new();
    values.push_word(parts.address() as u64);
    values.push_word(address(call.out, plan, OUT));
    values.push_word(plan.places as u64);
    values.push_word(u64::from(plan.splits));
    values.push_word(call.less.to_bits());
    plan.push(&mut values, false);
    let uses = [(parts.allocation(), Access::Read), (call.out.allocation(), Access::Write)];
    // SAFETY: the caller guarantees that the function was compiled for the plan, that the plan was made for these
    // arrays, and that `parts` is large enough.
    unsafe { launch::launch(function, &shape(plan.places, block, 1), stream, &mut values, &uses) }
}
