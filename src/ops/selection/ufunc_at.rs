//! Implements `ufunc.at`: applies a function of one or two operands at indices, once for each occurrence of an index.

use crate::elementwise_kernel;
use crate::kernel_source;
use crate::ufunc::UfuncEntry;
use crate::ufunc::kernel::{converted, stored, stored_as, type_of, unsigned_of};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::ScalarType;
use pygpu_base::error::{Error, Result};
use pygpu_codegen::variant_cache::{KernelFamily, LibraryPart, VariantKey};
use pygpu_device::stream::Stream;
use pygpu_kernel::{Arguments, KernelSource, launch};
use pygpu_memory::{Access, BlockUse};

const TEXT: &str = include_str!("ufunc_at.cu");
const THREADS: u32 = 256;
const THREADS_ON_CPU: u32 = 16;

static COMPILED: KernelFamily = KernelFamily::of_library(LibraryPart::UfuncAt);

/// A call of `ufunc.at`; all arrays are one-dimensional and contiguous.
pub struct UfuncAt<'a> {
    /// The function to apply.
    pub row: &'static UfuncEntry,
    /// The element type in which the function is computed.
    pub kind: ScalarType,
    /// The array to modify.
    pub array: &'a Array,
    /// The indices in ascending order, as 64-bit integers, all of them valid indices of the array.
    pub places: &'a Array,
    /// For each index in `places`, its position in the caller's unsorted list of indices.
    pub order: &'a Array,
    /// The second operands, in the order of the unsorted indices, or one value for all indices; `None` for a function
    /// of one operand.
    pub values: Option<&'a Array>,
}

fn name_of(row: &UfuncEntry) -> String {
    format!("pygpu_{}_at", row.name)
}

fn source(call: &UfuncAt<'_>, threads: u32) -> Result<KernelSource> {
    let UfuncAt { row, kind, array, values, .. } = call;
    let kind = *kind;
    let Some(group) = row.group(kind) else {
        return Err(Error::type_error(format!("{}.at has no loop for {kind:?}", row.name)));
    };
    let own = array.dtype().kind();
    let other = values.map_or(own, |values| values.dtype().kind());
    let operand = |place: usize, name: &str, text: &str, from: ScalarType| {
        let takes = row.takes(place, kind);
        format!("const {} {name} = {};\n", type_of(takes), converted(text, from, takes))
    };
    let mut apply = operand(0, "pygpu_a", "kept", own);
    if values.is_some() {
        apply.push_str("const pygpu_value &other = values[order[next] * step];\n");
        apply.push_str(&operand(1, "pygpu_b", "other", other));
    }
    let text = group.text.replace("{T}", type_of(kind)).replace("{U}", unsigned_of(kind));
    let text = text.replace("{a}", "pygpu_a").replace("{b}", "pygpu_b");
    apply.push_str(&format!("kept = {};", stored(&text, group.output.of(kind), own)));
    let types = format!("typedef {} pygpu_kept;\ntypedef {} pygpu_value;\n", stored_as(own), stored_as(other));
    let mut definitions = Vec::new();
    row.add_definitions(&mut definitions);
    let head = kernel_source::head(&[&types, &apply], &definitions.concat());
    let name = name_of(row);
    let body = TEXT.replace("PYGPU_NAME", &name).replace("PYGPU_APPLY", &apply);
    let text = format!("{head}#define PYGPU_THREADS {threads}\n{types}{body}");
    Ok(elementwise_kernel::source(&name, text, &["--fmad=false".to_owned()]))
}

/// Launches the kernel of a `ufunc.at` call.
///
/// # Errors
/// `TypeError` if the function has no implementation for the type; compiler errors; driver errors.
pub fn at(call: &UfuncAt<'_>, stream: &Stream) -> Result<()> {
    let device = stream.device();
    let threads = if device.is_cpu() { THREADS_ON_CPU } else { THREADS };
    let count = call.places.layout().size();
    if count == 0 {
        return Ok(());
    }
    let kinds = [call.kind, call.array.dtype().kind(), call.values.map_or(call.kind, |values| values.dtype().kind())];
    let mut key = VariantKey::from_slice(&kinds.map(|kind| kind as u8));
    key.push(u8::from(call.values.is_some()));
    key.extend_from_slice(call.row.name.as_bytes());
    let text = source(call, threads)?;
    let function = COMPILED.function(device, &key, name_of(call.row), || text)?;
    let step = u64::from(call.values.is_some_and(|values| values.layout().size() > 1));
    let mut arguments = Arguments::new();
    let address = |array: &Array| array.address() as u64;
    let values = call.values.map_or(0, address);
    [address(call.places), address(call.order), address(call.array), values, step, count as u64]
        .into_iter()
        .for_each(|word| arguments.push_word(word));
    let mut uses: Vec<BlockUse<'_>> = vec![
        (call.places.allocation(), Access::Read),
        (call.order.allocation(), Access::Read),
        (call.array.allocation(), Access::Write),
    ];
    uses.extend(call.values.map(|values| (values.allocation(), Access::Read)));
    let blocks = (count as u64).div_ceil(u64::from(threads)).min(1 << 20) as u32;
    let shape = LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false };
    // SAFETY: the arguments match the kernel's declared parameters; the caller guarantees that indices are inside the
    // array and positions inside the values.
    unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
}
