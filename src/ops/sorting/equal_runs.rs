//! Finds runs of equal elements in sorted data.

use super::COMPILED;
use super::decoupled_lookback::{LONG, OF_WARPS, warp};
use super::radix_keys::Keys;
use super::sort_input::scratch;
use crate::{elementwise_kernel, kernel_source};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::variant_cache::VariantKey;
use pygpu_copy as copy;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, KernelSource, launch};
use pygpu_layout::MemoryOrder;
use pygpu_memory::readback::Readback;
use pygpu_memory::{Access, BlockUse};

const TEXT: &str = include_str!("equal_runs.cu");
const NAME: &str = "pygpu_sort_runs";

const THREADS: u32 = 256;
/// Maximum size in bytes of the elements that one thread processes. The value is large because each thread block waits
/// for the previous block, and more elements per thread mean fewer blocks and fewer waits.
const BYTES_OF_THREAD: u64 = 128;
/// Maximum number of elements that one thread processes. The limit exists because each element needs one bit of a
/// 32-bit word.
const MOST_EACH: u64 = 32;

/// Size in bytes of a pack, i.e. of the elements that a thread loads by one instruction.
const BYTES_OF_PACK: u64 = 16;

/// Returns the number of elements that one thread of the kernel processes.
fn each(dtype: DType) -> u64 {
    (BYTES_OF_THREAD / dtype.itemsize() as u64).min(MOST_EACH)
}

/// The runs of equal elements. The arrays have room for one run per element; only the first `total` entries are valid.
pub(super) struct Runs {
    /// The value of each run, i.e. its first element.
    pub(super) values: Array,
    /// The position of each run's first element, followed by the total number of elements as the end of the last run.
    pub(super) starts: Option<Array>,
    /// The index of each element's run, stored at the element's position before the sort.
    pub(super) inverse: Option<Array>,
    /// The number of runs, which the host can read after the kernel is complete.
    pub(super) total: Readback,
}

/// Optional outputs of `runs`.
#[derive(Clone, Copy)]
pub(super) struct RunOutputs<'a> {
    pub(super) starts: bool,
    /// The elements' positions before the sort, if `inverse` is requested.
    pub(super) places: Option<&'a Array>,
    /// Whether each NaN forms a separate run. If false, all NaNs form one run.
    pub(super) nan_apart: bool,
}

/// Finds the runs in sorted, contiguous, nonempty data.
///
/// # Errors
/// `OutOfMemory`; compiler errors; driver errors.
pub(super) fn runs(sorted: &Array, beside: RunOutputs<'_>, stream: &Stream) -> Result<Runs> {
    let RunOutputs { starts, places, nan_apart } = beside;
    let count = sorted.layout().size();
    let new = |length: i64, dtype: DType| Array::empty(&[length], dtype, MemoryOrder::C, stream.clone());
    let whole = DType::new(ScalarType::Int64);
    let found = Runs {
        values: new(count, sorted.dtype())?,
        starts: starts.then(|| new(count + 1, whole)).transpose()?,
        inverse: places.map(|_| new(count, whole)).transpose()?,
        total: Readback::new(stream.device())?,
    };
    let tiles = (count as u64).div_ceil(u64::from(THREADS) * each(sorted.dtype()));
    let (is_long, device) = (count >= LONG, stream.device());
    let said = tiles as i64 * if is_long { 8 } else { 4 };
    let state = scratch(said + 4, stream)?;
    copy::fill(&state, &[0], stream)?;
    let keys = Keys { kind: sorted.dtype().kind(), descending: false, as_equal: true };
    let mut key = VariantKey::from_slice(&[b'u', is_long.into(), nan_apart.into()]);
    key.extend(keys.identity());
    let function = COMPILED.function(device, &key, NAME, || source(&keys, is_long, nan_apart, device))?;
    let outputs = [Some(&found.values), found.starts.as_ref(), found.inverse.as_ref()];
    let mut values = Arguments::new();
    for array in [Some(sorted), places].into_iter().chain(outputs) {
        values.push_word(array.map_or(0, |array| array.address() as u64));
    }
    values.push_word(found.total.address());
    values.push_word(count as u64);
    values.push_word(state.address() as u64);
    values.push_word((state.address() as u64).wrapping_add_signed(said));
    let read = [Some(sorted), places].into_iter().flatten().map(|array| (array.allocation(), Access::Read));
    let written = outputs.into_iter().flatten().chain([&state]).map(|array| (array.allocation(), Access::Write));
    let uses: Vec<BlockUse<'_>> = read.chain(written).collect();
    let shape = LaunchShape { grid: [tiles as u32, 1, 1], block: [THREADS, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the kernel was compiled for sort keys of this type; the output arrays have as many elements as the sorted
    // one, and the look-back memory has an entry for each tile. The readback is read only after the kernel.
    unsafe { launch::launch(&function, &shape, stream, &mut values, &uses)? };
    Ok(found)
}

fn source(keys: &Keys, is_long: bool, nan_apart: bool, device: Device) -> KernelSource {
    let text = keys.text();
    let head = kernel_source::head(&[&text], "");
    let number = if is_long { "unsigned long long" } else { "unsigned" };
    let dtype = DType::new(keys.kind);
    let text = format!(
        "{head}{text}typedef {number} pygpu_number;\n#define PYGPU_WARP {}\n#define PYGPU_EACH {}\n#define PYGPU_PACK {}\n\
         #define PYGPU_NAN_APART {}\n{OF_WARPS}{TEXT}",
        warp(device),
        each(dtype),
        (BYTES_OF_PACK / dtype.itemsize() as u64).max(1),
        u8::from(nan_apart),
    );
    elementwise_kernel::source(NAME, text, &[])
}
