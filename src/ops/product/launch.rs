//! Launches the kernels of products.

use super::COMPILED;
use super::operands::{Product, ProductProblem, kind_of_parts};
use super::plan::{self, ProductPlan};
use super::source;
use super::vendor_gemm;
use crate::elementwise_kernel::at_once;
use crate::reductions;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_codegen::array_access::ParameterBlock;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, launch};
use pygpu_layout::{Dims, Layout, MemoryOrder};
use pygpu_memory::{Access, BlockUse};

/// Whether every element of an array is aligned for its type.
fn is_even(array: &Array) -> bool {
    let bits = array.layout().strides().fold(array.address() as i64, |bits, stride| bits | stride);
    bits % array.dtype().itemsize() as i64 == 0
}

/// Returns an aligned copy of an array; `None` if the elements of the array are aligned already.
fn even(array: &Array, stream: &Stream) -> Result<Option<Array>> {
    match is_even(array) {
        true => Ok(None),
        false => copy::duplicate(array, MemoryOrder::C, stream).map(Some),
    }
}

/// Launches the kernels for a product.
///
/// # Errors
/// `OutOfMemory`; compiler errors; driver errors.
pub fn run(product: &Product<'_>, stream: &Stream) -> Result<()> {
    if product.out.layout().is_empty() {
        return Ok(());
    }
    let [a, b] = product.operands;
    let (own_a, own_b) = (even(a, stream)?, even(b, stream)?);
    let operands = [own_a.as_ref().unwrap_or(a), own_b.as_ref().unwrap_or(b)];
    if is_even(product.out) {
        return run_even(&Product { operands, ..*product }, stream);
    }
    let shape: Dims = product.out.layout().shape().collect();
    let made = Array::empty(&shape, product.out.dtype(), MemoryOrder::C, stream.clone())?;
    run_even(&Product { operands, out: &made, ..*product }, stream)?;
    copy::between(product.out, &made, stream)
}

fn run_even(product: &Product<'_>, stream: &Stream) -> Result<()> {
    let task = product.task()?;
    if task.depth == 0 {
        let zero = [0; 16];
        return copy::fill(product.out, &zero[..product.out.dtype().itemsize()], stream);
    }
    let device = stream.device();
    if vendor_gemm::is_faster(&task, device) && vendor_gemm::run(product, &task, stream)? {
        return Ok(());
    }
    let plan = plan::plan(&task, at_once(device).into(), device.is_cpu());
    let mut key = plan.key();
    key.extend([task.a.kind as u8, task.b.kind as u8, task.computed as u8, task.out.kind as u8]);
    key.extend([task.a.is_conjugated, task.b.is_conjugated, task.is_turned()].map(u8::from));
    let function = COMPILED.function(device, &key, source::name_of(plan.way), || source::source(&task, &plan))?;
    let parts = parts(&task, &plan, stream)?;
    let mut arguments = arguments(&task, &plan, parts.as_ref());
    let mut uses: [BlockUse<'_>; 3] = [
        (product.operands[0].allocation(), Access::Read),
        (product.operands[1].allocation(), Access::Read),
        (product.out.allocation(), Access::Write),
    ];
    if let Some(parts) = &parts {
        uses[2] = (parts.allocation(), Access::Write);
    }
    let blocks = u32::try_from(plan.blocks).ok().filter(|blocks| *blocks <= i32::MAX as u32);
    let blocks = match (plan.way, blocks) {
        (plan::ProductStrategy::Small, blocks) => blocks.unwrap_or(1 << 30),
        (_, Some(blocks)) => blocks,
        (_, None) => return Err(too_many(&task)),
    };
    let shape = LaunchShape {
        grid: [blocks, plan.splits as u32, 1],
        block: [plan.threads, 1, 1],
        shared: 0,
        cooperative: false,
    };
    // SAFETY: the kernel was compiled for this plan, which was made for these arrays; the results are inside `out`, and
    // the partial results have room for each row.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses)? };
    parts.map_or(Ok(()), |parts| join(&task, product, &parts, stream))
}

#[cold]
fn too_many(task: &ProductProblem) -> Error {
    Error::value(format!(
        "a product of {} batches of {} by {} elements has more tiles than a launch has blocks; multiply a part of the batch at a time",
        task.batches, task.a.rows, task.b.rows
    ))
}

fn arguments(task: &ProductProblem, plan: &ProductPlan, parts: Option<&Array>) -> Arguments {
    let mut arguments = Arguments::new();
    [0, 1, 2].into_iter().for_each(|side| arguments.push_word(task.address(side)));
    arguments.push_word(parts.map_or(0, |parts| parts.address() as u64));
    let lengths = [task.batches, task.a.rows, task.b.rows, task.depth, plan.chunk];
    let steps = [task.a.row, task.a.step, task.b.row, task.b.step, task.out.row, task.out.column];
    lengths.into_iter().chain(steps).for_each(|number| arguments.push_word(number as u64));
    if let (Some(walk), true) = (&task.walk, plan.walk_type().is_some()) {
        let mut record = ParameterBlock::new();
        record.push_walk(plan.span, walk.lens(), [0, 1, 2].into_iter().map(|side| walk.strides(side)));
        record.pass(&mut arguments);
    }
    arguments
}

/// Allocates an array for partial results, if the inner axis is divided among thread blocks. The first axis of this
/// array has one index for each part of the inner axis; the axes of the results follow.
fn parts(task: &ProductProblem, plan: &ProductPlan, stream: &Stream) -> Result<Option<Array>> {
    if plan.splits == 1 {
        return Ok(None);
    }
    let kind = kind_of_parts(task.computed);
    let shape = [plan.splits, task.batches, task.a.rows, task.b.rows];
    Array::empty(&shape, DType::new(kind), MemoryOrder::C, stream.clone()).map(Some)
}

/// Returns a view of the partial results. The axes after the first axis are in the order of the axes of `product.out`,
/// even if the operands were exchanged.
fn as_results(task: &ProductProblem, product: &Product<'_>, parts: &Array) -> Result<Array> {
    let strides: Dims = parts.layout().strides().collect();
    let (row, column) = if task.is_turned() { (strides[3], strides[2]) } else { (strides[2], strides[3]) };
    let cores = product.are_vectors.iter().filter(|is_vector| !**is_vector).count();
    let shape: Dims = product.out.layout().shape().collect();
    let batch = &shape[..shape.len() - cores];
    let mut all = Dims::new();
    let mut stride = strides[1];
    for len in batch.iter().rev() {
        all.insert(0, stride);
        stride *= len;
    }
    all.insert(0, strides[0]);
    all.extend((!product.are_vectors[0]).then_some(row));
    all.extend((!product.are_vectors[1]).then_some(column));
    let mut whole = Dims::new();
    whole.extend(parts.layout().shape().take(1));
    whole.extend(shape);
    parts.view(Layout::strided(&whole, &all, parts.layout().offset(), parts.layout().itemsize())?)
}

/// Adds up the partial results in a fixed order, so that the sum is reproducible.
fn join(task: &ProductProblem, product: &Product<'_>, parts: &Array, stream: &Stream) -> Result<()> {
    let (name, computed) = match task.computed {
        ScalarType::Bool => ("any", ScalarType::Bool),
        kind => ("sum", kind_of_parts(kind)),
    };
    let row = reductions::row(name).ok_or_else(|| Error::value(format!("there is no reduction named {name}")))?;
    let input = as_results(task, product, parts)?;
    let layout = product.out.layout();
    let (mut shape, mut strides) = (Dims::from_slice(&[1]), Dims::from_slice(&[layout.itemsize()]));
    shape.extend(layout.shape());
    strides.extend(layout.strides());
    let out = product.out.view(Layout::strided(&shape, &strides, layout.offset(), layout.itemsize())?)?;
    reductions::run(
        &reductions::AxisReduction {
            row,
            computed,
            input: reductions::Elements::Array(&input),
            mask: None,
            out: &out,
            reduced: 1,
            less: 0.0,
        },
        stream,
    )
}
