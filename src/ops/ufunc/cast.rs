//! Casts arrays between element types, by the kernel of an identity function.

use super::kernel::{self, LoopOperand};
use super::ufunc_table::{HostEvaluation, Output, ScalarRule, TypeSet, UfuncEntry, UfuncGroup};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;

/// Identity function for every type. The function is internal and has no public name.
static IDENTITY: UfuncEntry = UfuncEntry {
    name: "cast",
    inputs: 1,
    groups: &[UfuncGroup {
        kinds: TypeSet::ALL,
        output: Output::Same,
        text: "{a}",
        second: None,
        weight: 0,
        is_long: false,
    }],
    preamble: "",
    headers: &[],
    fixed: None,
    nature: ScalarRule::Plain,
    host: HostEvaluation::Steps,
    summary: "The values as they are.",
};

/// Returns the identity function, whose result may have another type.
pub fn as_it_is() -> &'static UfuncEntry {
    &IDENTITY
}

/// The values that a cast writes.
#[derive(Clone, Copy)]
pub enum CastSource<'a> {
    /// The elements of a source array, which is broadcast to the target's shape.
    Array(&'a Array),
    /// The bytes of one element of the target's type, which the cast writes to all elements.
    Item(&'a [u8]),
}

/// Whether a device can convert elements of one type to another.
pub fn is_castable(from: DType, to: DType) -> bool {
    TypeSet::ALL.contains(from.kind()) && TypeSet::ALL.contains(to.kind())
}

/// Converts values to the type of an array, as C does, and writes them where a mask of bools is true. If the memory of
/// source and target overlaps, the source is read before the target is written.
///
/// # Errors
/// `ValueError` for shapes that do not broadcast; `TypeError` for unsupported types; `OutOfMemory` for a required copy;
/// compiler errors; driver errors.
pub fn cast(target: &Array, source: CastSource<'_>, mask: Option<&Array>, stream: &Stream) -> Result<()> {
    if !is_aligned(target) {
        return cast_through_copy(target, source, mask, stream);
    }
    let (own_source, own_mask);
    let source = match source {
        CastSource::Array(array) => {
            own_source = copy_unless_disjoint(target, array, stream)?;
            CastSource::Array(own_source.as_ref().unwrap_or(array))
        }
        item => item,
    };
    let mask = match mask {
        Some(mask) => {
            own_mask = copy_unless_disjoint(target, mask, stream)?;
            Some(own_mask.as_ref().unwrap_or(mask))
        }
        None => None,
    };
    run(target, source, mask, stream)
}

/// Casts to a temporary array, and copies this array to a target whose elements no kernel can write because they are
/// unaligned.
#[cold]
fn cast_through_copy(target: &Array, source: CastSource<'_>, mask: Option<&Array>, stream: &Stream) -> Result<()> {
    let made = Array::on_new_memory(target.layout().dense_like(), target.dtype(), stream.clone())?;
    if mask.is_some() {
        copy::between(&made, target, stream)?;
    }
    cast(&made, source, mask, stream)?;
    copy::between(target, &made, stream)
}

/// Returns a copy of an array if no kernel can read the array while it writes `target`, because the two overlap.
/// Returns `None` if no copy is needed.
fn copy_unless_disjoint(target: &Array, array: &Array, stream: &Stream) -> Result<Option<Array>> {
    let is_met = copy::may_overlap(target, array) && !copy::is_same_place(target, array);
    if !is_met && is_aligned(array) {
        return Ok(None);
    }
    let made = Array::on_new_memory(array.layout().dense_like(), array.dtype(), stream.clone())?;
    copy::between(&made, array, stream)?;
    Ok(Some(made))
}

/// Whether each element is aligned. Elements of an array that is a field of structured elements may be unaligned.
fn is_aligned(array: &Array) -> bool {
    let layout = array.layout();
    let places = layout.strides().fold(array.address() as i64, |places, stride| places | stride);
    places % layout.itemsize() == 0 || layout.is_empty()
}

/// Returns the type as which the kernel reads elements that need no conversion. A kernel converts a 16-bit float to
/// float and back, which does not preserve NaN payloads. The kernel therefore reads such an element as a 16-bit
/// integer.
fn same_bits(kind: ScalarType) -> ScalarType {
    match kind {
        ScalarType::Float16 | ScalarType::BFloat16 => ScalarType::UInt16,
        other => other,
    }
}

fn run(target: &Array, source: CastSource<'_>, mask: Option<&Array>, stream: &Stream) -> Result<()> {
    let is_same = !matches!(source, CastSource::Array(array) if array.dtype() != target.dtype());
    let read_as = |dtype: DType| if is_same { same_bits(dtype.kind()) } else { dtype.kind() };
    let to = read_as(target.dtype());
    let mut values = Arguments::new();
    let (from, operand) = match source {
        CastSource::Array(array) => (read_as(array.dtype()), LoopOperand::Array(read_as(array.dtype()))),
        CastSource::Item(bytes) => {
            values.push(bytes);
            (to, LoopOperand::Value)
        }
    };
    let kernel = kernel::kernel(&IDENTITY, from, &[operand], to, mask.is_some())?;
    let array = match source {
        CastSource::Array(array) => Some(array),
        CastSource::Item(_) => None,
    };
    let arrays: smallvec::SmallVec<[&Array; 3]> = array.into_iter().chain(mask).chain([target]).collect();
    let plan = kernel.plan(&arrays, false)?;
    // SAFETY: the kernel was looked up by the types of these arrays, and the plan was made for these arrays; the scalar
    // has the size of a target element.
    unsafe { kernel.run(&plan, &arrays, &mut values, None, stream) }
}
