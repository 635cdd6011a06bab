//! Launches scans (cumulative reductions) along an axis.

use super::plan::{self, INPUT, OUT, ScanPlan, ScanStrategy};
use super::source;
use crate::reductions::reduction_table::ReductionEntry;
use crate::reductions::source::ReductionTypes;
use crate::reductions::{self, plan::OperandAddresses};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart, VariantKey};
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, launch};
use pygpu_layout::MemoryOrder;
use pygpu_memory::{Access, BlockUse};

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Scans);

/// A scan of an array along an axis.
pub struct AxisScan<'a> {
    /// The reduction function's entry in the table of reductions. The state of the reduction must be a single number.
    pub row: &'static ReductionEntry,
    /// The element type in which the scan is computed.
    pub computed: ScalarType,
    /// The array to scan; not empty.
    pub input: &'a Array,
    /// The array for the results of the scan, which has the input's shape. It is either the input itself, or does not
    /// overlap the input.
    pub out: &'a Array,
    /// The scanned axis, along which elements are combined.
    pub axis: usize,
}

impl AxisScan<'_> {
    fn types(&self) -> ReductionTypes {
        ReductionTypes { input: self.input.dtype().kind(), computed: self.computed, out: self.out.dtype().kind() }
    }

    fn key(&self, plan: &ScanPlan, is_sum: bool) -> VariantKey {
        let mut key = plan.key();
        let ReductionTypes { input, computed, out } = self.types();
        key.extend([input as u8, computed as u8, out as u8, u8::from(is_sum)]);
        key.extend_from_slice(self.row.name.as_bytes());
        key
    }

    fn function(&self, plan: &ScanPlan, is_sum: bool, stream: &Stream) -> Result<Function> {
        let source = || source::source(self.row, self.types(), plan, is_sum);
        COMPILED.function(stream.device(), &self.key(plan, is_sum), source::name_of(self.row), source)
    }
}

/// Launches the kernels of a scan.
///
/// # Errors
/// `OutOfMemory`; compiler errors; driver errors.
pub fn run(call: &AxisScan<'_>, stream: &Stream) -> Result<()> {
    let ends = [call.input, call.out];
    let memory = OperandAddresses {
        itemsize: ends.map(|array| array.dtype().itemsize()),
        address: ends.map(|array| array.allocation().address()),
    };
    let bytes = source::state_bytes(call.row, call.computed);
    let plan =
        plan::plan(ends.map(Array::layout), call.axis, memory, bytes, reductions::launch::room(stream.device()))?;
    let function = call.function(&plan, false, stream)?;
    let new = |bytes: u64| Array::empty(&[bytes as i64], DType::new(ScalarType::UInt8), MemoryOrder::C, stream.clone());
    let places = plan.places as u64;
    match plan.way {
        ScanStrategy::Along { is_chained: true, lanes, .. } => {
            let tiles = (plan.len as u64).div_ceil(plan.tile());
            let words = bytes.div_ceil(size_of::<u32>()) as u64;
            let (in_group, in_league) = (u64::from(lanes), u64::from(lanes * lanes));
            let states = places * (tiles + tiles.div_ceil(in_group) + tiles.div_ceil(in_league));
            let board = new(size_of::<u64>() as u64 * (1 + states * words))?;
            copy::fill(&board, &[0], stream)?;
            // SAFETY: the function was compiled for this plan, which was made for these arrays; the look-back memory
            // has room for the states of all levels.
            unsafe { launch(call, &plan, &function, Some((&board, Access::Write)), tiles, [places * tiles, 1], stream) }
        }
        ScanStrategy::Along { rows, .. } => {
            let blocks = places.div_ceil(u64::from(rows));
            // SAFETY: the function was compiled for this plan, which was made for these arrays. With one block per row
            // the kernel needs no look-back memory.
            unsafe { launch(call, &plan, &function, None, 1, [blocks, 1], stream) }
        }
        ScanStrategy::Across { columns, .. } => {
            let (strips, splits) = (places.div_ceil(u64::from(columns)), u64::from(plan.splits));
            let part = plan.part(plan.splits);
            if splits == 1 {
                // SAFETY: the function was compiled for this plan, which was made for these arrays.
                return unsafe { launch(call, &plan, &function, None, part, [strips, 1], stream) };
            }
            let sum = call.function(&plan, true, stream)?;
            let parts = new(places * splits * bytes as u64)?;
            // SAFETY: the functions were compiled for this plan, which was made for these arrays; `parts` has room for
            // a state of each column and each part except the last, whose state is not needed.
            unsafe {
                launch(call, &plan, &sum, Some((&parts, Access::Write)), part, [strips, splits - 1], stream)?;
                launch(call, &plan, &function, Some((&parts, Access::Read)), part, [strips, splits], stream)
            }
        }
    }
}

/// Launches one kernel of a scan.
///
/// # Safety
/// The function must have been compiled for the plan, and the plan created for the call's arrays. `memory` must have
/// the size that the kernel expects.
unsafe fn launch(
    call: &AxisScan<'_>,
    plan: &ScanPlan,
    function: &Function,
    memory: Option<(&Array, Access)>,
    number: u64,
    blocks: [u64; 2],
    stream: &Stream,
) -> Result<()> {
    let place = |array: &Array, side: usize| {
        array.allocation().address().wrapping_add_signed(plan.offset(side) as isize) as u64
    };
    let mut values = Arguments::new();
    values.push_word(place(call.input, INPUT));
    values.push_word(place(call.out, OUT));
    values.push_word(plan.step(INPUT) as u64);
    values.push_word(plan.step(OUT) as u64);
    values.push_word(plan.places as u64);
    values.push_word(plan.len as u64);
    values.push_word(memory.map_or(0, |(array, _)| array.address() as u64));
    values.push_word(number);
    plan.push(&mut values);
    let mut uses: Vec<BlockUse<'_>> =
        vec![(call.input.allocation(), Access::Read), (call.out.allocation(), Access::Write)];
    uses.extend(memory.map(|(array, access)| (array.allocation(), access)));
    // The conversion to 32 bits never fails: 2^32 thread blocks would need more elements than fit into a device's
    // memory.
    let grid = blocks.map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    let shape =
        LaunchShape { grid: [grid[0], grid[1], 1], block: [plan.threads(), 1, 1], shared: 0, cooperative: false };
    // SAFETY: the caller guarantees that the function was compiled for the plan, that the plan was made for these
    // arrays, and that the additional memory is large enough.
    unsafe { launch::launch(function, &shape, stream, &mut values, &uses) }
}
