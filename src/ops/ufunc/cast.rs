//! Casts: elements of one type written as elements of another, by the kernel of the function that leaves them as they are.

use super::kernel::{self, Given};
use super::table::{Group, Host, Kinds, Nature, Output, Row};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, Kind};
use pygpu_base::error::Result;
use pygpu_copy as copy;
use pygpu_device::stream::Stream;
use pygpu_kernel::Arguments;

/// Every kind as it is; of no public name.
static IDENTITY: Row = Row {
    name: "cast",
    inputs: 1,
    groups: &[Group { kinds: Kinds::ALL, output: Output::Same, text: "{a}", second: None, weight: 0 }],
    preamble: "",
    fixed: None,
    nature: Nature::Plain,
    host: Host::Steps,
    summary: "The values as they are.",
};

/// The function that leaves values as they are, whose result may be of another type.
pub fn as_it_is() -> &'static Row {
    &IDENTITY
}

/// What is written.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// The elements of an array, broadcast.
    Array(&'a Array),
    /// One element of the target's type, by its bytes.
    Item(&'a [u8]),
}

/// Whether a device converts elements of one type into those of another.
pub fn is_castable(from: DType, to: DType) -> bool {
    Kinds::ALL.contains(from.kind()) && Kinds::ALL.contains(to.kind())
}

/// Writes values into an array, converted to its type as C does, where a mask of bools is true. What overlaps is read before it is
/// written.
///
/// # Errors
/// `ValueError` for shapes that do not broadcast; `TypeError` for types that are not castable; `OutOfMemory` for a copy that is needed; the
/// compiler's; driver errors.
pub fn cast(target: &Array, source: Source<'_>, mask: Option<&Array>, stream: &Stream) -> Result<()> {
    if !is_aligned(target) {
        return beside(target, source, mask, stream);
    }
    let (own_source, own_mask);
    let source = match source {
        Source::Array(array) => {
            own_source = apart_from(target, array, stream)?;
            Source::Array(own_source.as_ref().unwrap_or(array))
        }
        item => item,
    };
    let mask = match mask {
        Some(mask) => {
            own_mask = apart_from(target, mask, stream)?;
            Some(own_mask.as_ref().unwrap_or(mask))
        }
        None => None,
    };
    run(target, source, mask, stream)
}

/// Into an array of its own, which is copied to where no kernel can write.
#[cold]
fn beside(target: &Array, source: Source<'_>, mask: Option<&Array>, stream: &Stream) -> Result<()> {
    let made = Array::on_new_memory(target.layout().dense_like(), target.dtype(), stream.clone())?;
    if mask.is_some() {
        copy::between(&made, target, stream)?;
    }
    cast(&made, source, mask, stream)?;
    copy::between(target, &made, stream)
}

/// A copy of what a kernel that writes `target` cannot read where it is.
fn apart_from(target: &Array, array: &Array, stream: &Stream) -> Result<Option<Array>> {
    let is_met = copy::may_overlap(target, array) && !copy::is_same_place(target, array);
    if !is_met && is_aligned(array) {
        return Ok(None);
    }
    let made = Array::on_new_memory(array.layout().dense_like(), array.dtype(), stream.clone())?;
    copy::between(&made, array, stream)?;
    Ok(Some(made))
}

/// Whether each element lies where a device reads it at once; parts of structured items may not.
fn is_aligned(array: &Array) -> bool {
    let layout = array.layout();
    let places = layout.strides().fold(array.address() as i64, |places, stride| places | stride);
    places % layout.itemsize() == 0 || layout.is_empty()
}

/// What an element is read as that is to stay as it is: a number of 16 bits goes through float otherwise, where each NaN is one.
fn same_bits(kind: Kind) -> Kind {
    match kind {
        Kind::Float16 | Kind::BFloat16 => Kind::UInt16,
        other => other,
    }
}

fn run(target: &Array, source: Source<'_>, mask: Option<&Array>, stream: &Stream) -> Result<()> {
    let is_same = !matches!(source, Source::Array(array) if array.dtype() != target.dtype());
    let read_as = |dtype: DType| if is_same { same_bits(dtype.kind()) } else { dtype.kind() };
    let to = read_as(target.dtype());
    let mut values = Arguments::new();
    let (from, given) = match source {
        Source::Array(array) => (read_as(array.dtype()), Given::Array(read_as(array.dtype()))),
        Source::Item(bytes) => {
            values.push(bytes);
            (to, Given::Value)
        }
    };
    let kernel = kernel::kernel(&IDENTITY, from, &[given], to, mask.is_some())?;
    let array = match source {
        Source::Array(array) => Some(array),
        Source::Item(_) => None,
    };
    let arrays: smallvec::SmallVec<[&Array; 3]> = array.into_iter().chain(mask).chain([target]).collect();
    let plan = kernel.plan(&arrays, false)?;
    // SAFETY: the kernel was made for arrays of these kinds, and the plan is of them; the item is as long as an element.
    unsafe { kernel.run(&plan, &arrays, &mut values, None, stream) }
}
