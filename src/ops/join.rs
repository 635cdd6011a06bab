//! Concatenates dense arrays along an axis. One kernel launch concatenates up to 64 small arrays; each large array
//! needs a copy of its own.

use crate::elementwise_kernel;
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart};
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, Function, KernelSource, launch};
use pygpu_layout::{Dims, Layout, MemoryOrder};
use pygpu_memory::{Access, BlockUse};

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::Joining);

const TEXT: &str = include_str!("join.cu");
const NAME: &str = "pygpu_join_parts";
const THREADS: u32 = 256;
/// Maximum number of arrays per launch. The kernel parameters for this number of arrays fit into the 4096 bytes that
/// every device supports.
const PARTS: usize = 64;
/// Maximum size in bytes of an array that a joint launch copies. A larger array is copied by a separate launch, which
/// takes no longer.
const SMALL: i64 = 64 << 10;
/// Maximum size in bytes of a unit, the amount of memory that a thread copies at once.
const UNIT: u64 = 16;

/// Returns the shape of the concatenation, or `None` unless all arrays are dense and have the same dtype and device.
pub fn shape(parts: &[&Array], axis: usize) -> Option<Dims> {
    let (first, others) = parts.split_first()?;
    let mut shape: Dims = first.layout().shape().collect();
    if axis >= shape.len() || !first.layout().is_c_contiguous() {
        return None;
    }
    for other in others {
        let is_plain = other.device() == first.device()
            && other.dtype() == first.dtype()
            && other.layout().ndim() == first.layout().ndim()
            && other.layout().is_c_contiguous();
        let fits = |(place, (own, others)): (usize, (i64, i64))| place == axis || own == others;
        if !is_plain || !first.layout().shape().zip(other.layout().shape()).enumerate().all(fits) {
            return None;
        }
        shape[axis] = shape[axis].checked_add(other.layout().shape().nth(axis)?)?;
    }
    Some(shape)
}

/// Concatenates dense arrays of one dtype and device along `axis`. `shape` is the result's shape; the caller has
/// obtained it from the function [`shape`]. The work is enqueued on `stream`.
///
/// # Errors
/// `OutOfMemory`; driver errors.
pub fn join(parts: &[&Array], axis: usize, shape: &[i64], stream: &Stream) -> Result<Array> {
    let dtype = parts.first().map_or(DType::new(ScalarType::UInt8), |part| part.dtype());
    let result = Array::empty(shape, dtype, MemoryOrder::C, stream.clone())?;
    let device = stream.device();
    let are_small = parts.iter().all(|part| part.layout().nbytes() <= SMALL);
    if are_small
        && parts.len() > 1
        && !device.is_cpu()
        && !result.layout().is_empty()
        && launch_all(parts, axis, &result, stream)?
    {
        return Ok(result);
    }
    let mut begin = 0;
    for part in parts {
        let length = part.layout().shape().nth(axis).unwrap_or(0);
        let lengths: Dims = part.layout().shape().collect();
        let strides: Dims = result.layout().strides().collect();
        let offset = result.layout().offset() + begin * strides[axis];
        let place = Layout::strided(&lengths, &strides, offset, result.layout().itemsize())?;
        copy::between(&result.view(place)?, part, stream)?;
        begin += length;
    }
    Ok(result)
}

/// Returns the size in bytes of an array's row, i.e. of all elements that have the same indices along the axes before
/// `axis`.
fn row(array: &Array, axis: usize) -> u64 {
    array.layout().shape().skip(axis).product::<i64>() as u64 * array.layout().itemsize() as u64
}

/// Concatenates small arrays by kernel launches. Returns `false` if the kernel cannot be compiled.
fn launch_all(parts: &[&Array], axis: usize, result: &Array, stream: &Stream) -> Result<bool> {
    let rows: u64 = result.layout().shape().take(axis).product::<i64>() as u64;
    // The unit is the largest power of two that divides the addresses and lengths of all rows.
    let places = parts.iter().flat_map(|part| [part.address() as u64, row(part, axis)]);
    let all = places.fold(result.address() as u64 | UNIT, |all, place| all | place);
    let unit = 1 << all.trailing_zeros();
    let Some(function) = function(stream.device(), unit) else { return Ok(false) };
    let mut begin = 0;
    for parts in parts.chunks(PARTS) {
        begin = launch_some(&function, parts, axis, (result, rows, unit, begin), stream)?;
    }
    Ok(true)
}

fn function(device: Device, unit: u64) -> Option<Function> {
    let of_unit = match unit {
        1 => "typedef unsigned char pygpu_unit;",
        2 => "typedef unsigned short pygpu_unit;",
        4 => "typedef unsigned pygpu_unit;",
        8 => "typedef unsigned long long pygpu_unit;",
        _ => "struct alignas(16) pygpu_unit { unsigned long long a, b; };",
    };
    let source = || -> KernelSource {
        let text = format!("{of_unit}\n#define PYGPU_THREADS {THREADS}\n#define PYGPU_PARTS {PARTS}\n{TEXT}");
        elementwise_kernel::source(NAME, text, &[])
    };
    COMPILED.function_if_any(device, &[unit as u8], NAME, source)
}

/// Launches the kernel that copies some of the arrays into the result. In each row of the result, the first of these
/// arrays begins `begin` units (the amount of memory that a thread copies at once) after the row's start. Returns the
/// offset in units at which the last of these arrays ends.
fn launch_some(
    function: &Function,
    parts: &[&Array],
    axis: usize,
    (result, rows, unit, mut begin): (&Array, u64, u64, u64),
    stream: &Stream,
) -> Result<u64> {
    let mut record = vec![0; PARTS * 24];
    let mut most = 0;
    for (place, part) in record.chunks_exact_mut(24).zip(parts) {
        let units = row(part, axis) / unit;
        for (word, value) in place.chunks_exact_mut(8).zip([part.address() as u64, units, begin]) {
            word.copy_from_slice(&value.to_le_bytes());
        }
        begin += units;
        most = most.max(rows * units);
    }
    let mut values = Arguments::new();
    values.push(&record);
    values.push_word(result.address() as u64);
    values.push_word(rows);
    values.push_word(row(result, axis) / unit);
    let mut uses: Vec<BlockUse<'_>> = parts.iter().map(|part| (part.allocation(), Access::Read)).collect();
    uses.push((result.allocation(), Access::Write));
    let blocks = most.div_ceil(u64::from(THREADS)).max(1) as u32;
    let shape =
        LaunchShape { grid: [blocks, parts.len() as u32, 1], block: [THREADS, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the arguments match the kernel's declared parameters; each array has `units` units per row, and the rows
    // of all arrays together fit into a row of the result.
    unsafe { launch::launch(function, &shape, stream, &mut values, &uses)? };
    Ok(begin)
}
