//! Computes `a[indices]` and `a[indices] = b` on a device. The computation is a copy in which the byte offsets along
//! one axis are taken from a table.
//!
//! Index arrays are broadcast to a common shape and converted to a table of byte offsets, one for each position of this
//! shape. The kernel that converts the indices also checks their bounds, and reports the result through a readback. The
//! host waits for this kernel only. A new array is filled before the check completes, because an index that is out of
//! range reads element 0. An existing array is written only after the check. If a position is assigned several times,
//! the last value is stored, as in NumPy: a kernel first determines the highest source index for each position.

use super::compile::{self, CopyKernelId, CopyVariant};
use super::kernel_choice::{DIVISIBLE, Units};
use super::parameters::{self, CopyParameters, THREADS};
use super::{run, shape};
use crate::{between, duplicate, fill, may_overlap};
use pygpu_array::Array;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::{Error, Result};
use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_device::Device;
use pygpu_device::stream::{PooledEvent, Stream};
use pygpu_kernel::{Arguments, launch};
use pygpu_layout::{ContiguousRuns, Dims, Layout, LoopNest, MemoryOrder, SharedAxis};
use pygpu_memory::readback::Readback;
use pygpu_memory::{Access, stream_captures};

/// The treatment of an index that is out of range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bounds {
    /// The index is an error.
    Checked,
    /// The index wraps around.
    Wrapped,
    /// The index is clipped to the nearest valid one; negative indices become 0.
    Clipped,
    /// No index can be out of range, so indices are not checked.
    Known,
}

impl Bounds {
    /// Returns the number that selects this treatment of indices in the kernels' source.
    const fn number(self) -> i64 {
        match self {
            Self::Wrapped => 1,
            Self::Clipped => 2,
            Self::Checked | Self::Known => 0,
        }
    }
}

/// An axis that is indexed by an array of integers.
pub struct Indexed {
    /// The array of indices, on the device of the indexed array, broadcast to the common shape of all index arrays.
    pub index: Array,
    /// Length of the indexed axis.
    pub len: i64,
    /// Stride of the indexed axis in bytes.
    pub stride: i64,
    /// The treatment of indices that are out of range.
    pub bounds: Bounds,
}

/// The elements that a key with index arrays selects.
pub struct Selection {
    /// Layout of the indexed array without the axes in `indexed`.
    pub view: Layout,
    /// The axes that index arrays index.
    pub indexed: Vec<Indexed>,
    /// The shape to which all index arrays were broadcast.
    pub shape: Dims,
    /// Index of the axis of `view` before which the axes of the index arrays are inserted in the result.
    pub position: usize,
}

impl Selection {
    /// Returns the shape of the selected elements.
    pub fn result_shape(&self) -> Dims {
        let view: Dims = self.view.shape().collect();
        let (before, behind) = view.split_at(self.position);
        before.iter().chain(&self.shape).chain(behind).copied().collect()
    }

    fn count(&self) -> i64 {
        self.shape.iter().product()
    }

    /// Returns whether each element is certainly selected at most once, because all index arrays come from one mask.
    fn is_distinct(&self) -> bool {
        self.indexed.iter().all(|indexed| indexed.bounds == Bounds::Known) && self.shape.len() == 1
    }

    /// Splits the axes of `result`, a layout with the selection's shape. Returns the layout of the axes that stem from
    /// `view`, and the stride of the axes that stem from the index arrays, if these can be merged into one axis.
    fn split(&self, result: &Layout) -> Result<(Layout, Option<i64>)> {
        let indexed = self.position..self.position + self.shape.len();
        let part = |is_indexed: bool| {
            let axes = || result.axes().iter().enumerate().filter(|(place, _)| indexed.contains(place) == is_indexed);
            let shape: Dims = axes().map(|(_, axis)| axis.len).collect();
            let strides: Dims = axes().map(|(_, axis)| axis.stride).collect();
            Layout::strided(&shape, &strides, result.offset(), result.itemsize())
        };
        let along = LoopNest::c_order(&part(true)?);
        let stride = if along.rank() > 1 { None } else { Some(along.strides(0).next().unwrap_or(0)) };
        Ok((part(false)?, stride))
    }
}

/// Copies the selected elements to a new array. Returns `None` if no kernel is available.
///
/// # Errors
/// `IndexError` for an index that is out of range; `OutOfMemory`; driver errors.
pub fn gather(source: &Array, selection: &Selection, stream: &Stream) -> Result<Option<Array>> {
    if let [indexed] = &selection.indexed[..]
        && let Some(result) = gather_directly(source, selection, indexed, stream)?
    {
        return Ok(Some(result));
    }
    let Some(table) = OffsetTable::of(source.device(), selection, stream)? else { return Ok(None) };
    let result = Array::empty(&selection.result_shape(), source.dtype(), MemoryOrder::C, stream.clone())?;
    if !table.gather(source, selection, &result, stream)? {
        return Ok(None);
    }
    table.check()?;
    Ok(Some(result))
}

/// Copies the selected elements like [`gather`], but without an offset table. Returns `None` unless one axis is indexed
/// and its indices are contiguous.
fn gather_directly(source: &Array, selection: &Selection, indexed: &Indexed, stream: &Stream) -> Result<Option<Array>> {
    let result = Array::empty(&selection.result_shape(), source.dtype(), MemoryOrder::C, stream.clone())?;
    let index = &indexed.index;
    let is_aligned = index.address().is_multiple_of(index.dtype().itemsize());
    let (kept, stride) = selection.split(result.layout())?;
    let (Some(stride), true) = (stride, is_aligned && index.layout().is_c_contiguous()) else { return Ok(None) };
    if result.layout().is_empty() || indexed.len == 0 {
        return Ok(None);
    }
    let is_checked = indexed.bounds == Bounds::Checked;
    if is_checked {
        check_capture(stream)?;
    }
    let word = if is_checked { Some(Readback::new(source.device())?) } else { None };
    let along = SharedAxis { len: selection.count(), strides: [stride, 0] };
    let places = OffsetSource::Of(indexed, word.as_ref());
    let sides = GatherOperands { target: &result, source, written: false };
    if !sides.select(&ContiguousRuns::of(&kept, &selection.view)?, along, selection, &places, stream)? {
        return Ok(None);
    }
    if let Some(word) = word
        && word.read_at(&PooledEvent::record(stream)?)? != 0
    {
        return Err(refusal());
    }
    Ok(Some(result))
}

/// Copies the selected elements to an existing array of the same shape and dtype. If an index is out of range, the
/// existing array stays unchanged. Returns `false` if no kernel is available.
///
/// # Errors
/// The errors of [`gather`].
pub fn gather_into(source: &Array, selection: &Selection, out: &Array, stream: &Stream) -> Result<bool> {
    if may_overlap(out, source) || selection.indexed.iter().any(|indexed| may_overlap(out, &indexed.index)) {
        let Some(gathered) = gather(source, selection, stream)? else { return Ok(false) };
        between(out, &gathered, stream)?;
        return Ok(true);
    }
    let Some(mut table) = OffsetTable::of(source.device(), selection, stream)? else { return Ok(false) };
    table.check_now()?;
    table.gather(source, selection, out, stream)
}

/// Assigns `values`, which have the selection's shape, to the selected elements of `target`. Returns `false`, with the
/// target unchanged, if no kernel is available.
///
/// # Errors
/// `IndexError` for an index that is out of range; `OutOfMemory`; driver errors.
pub fn scatter(target: &Array, selection: &Selection, values: &Array, stream: &Stream) -> Result<bool> {
    let Some(mut table) = OffsetTable::of(target.device(), selection, stream)? else { return Ok(false) };
    if values.layout().is_empty() {
        table.check()?;
        return Ok(true);
    }
    let (kept, stride) = match selection.split(values.layout())? {
        (kept, Some(stride)) => (kept, stride),
        _ => return scatter(target, selection, &duplicate(values, MemoryOrder::C, stream)?, stream),
    };
    // With stride 0, all assignments to one element store the same value, so their order is irrelevant.
    let is_one_value = stride == 0;
    let is_repeated = !is_one_value && selection.count() > 1 && !selection.is_distinct();
    if is_repeated && !table.keep_last(selection, stream)? {
        return Ok(false);
    }
    table.check_now()?;
    let along = SharedAxis { len: selection.count(), strides: [0, stride] };
    let pieces = ContiguousRuns::of(&selection.view, &kept)?;
    GatherOperands { target, source: values, written: true }.select(
        &pieces,
        along,
        selection,
        &OffsetSource::Table(&table.bytes),
        stream,
    )
}

/// Source of the offsets along the indexed axis, from which a gather kernel reads.
enum OffsetSource<'a> {
    /// An array of byte offsets, one for each position of the broadcast index arrays.
    Table(&'a Array),
    /// The contiguous index array of the only indexed axis. An index out of range is reported to the readback.
    Of(&'a Indexed, Option<&'a Readback>),
}

impl OffsetSource<'_> {
    const fn array(&self) -> &Array {
        match self {
            Self::Table(table) => table,
            Self::Of(indexed, _) => &indexed.index,
        }
    }
}

/// Source and target of `a[indices]` or `a[indices] = b`, and whether the offsets apply to the target.
struct GatherOperands<'a> {
    target: &'a Array,
    source: &'a Array,
    written: bool,
}

impl GatherOperands<'_> {
    /// Launches the kernel that copies the selected elements; `along` is the axis to which the offsets apply.
    fn select(
        &self,
        pieces: &ContiguousRuns,
        along: SharedAxis<2>,
        selection: &Selection,
        places: &OffsetSource<'_>,
        stream: &Stream,
    ) -> Result<bool> {
        let (to, from) = (self.target.allocation().address(), self.source.allocation().address());
        let others = selection.indexed.iter().map(|indexed| indexed.stride).chain(along.strides);
        let mut units = Units::aligned(pieces, to, from, others);
        let side = usize::from(self.written);
        let place = match along.strides[side].unsigned_abs() {
            0 => Some(0),
            reach => units.axes.iter().position(|axis| axis.strides[side].unsigned_abs() < reach),
        };
        let place = place.unwrap_or(units.axes.len());
        units.axes.insert(place, along);
        let count: i64 = units.axes.iter().map(|axis| axis.len).product();
        let rank = parameters::rank_for(units.axes.len());
        let span = if count >= DIVISIBLE { IndexWidth::Wide } else { IndexWidth::Far };
        let defined = [
            ("UNIT", units.unit),
            ("DIMS", rank as i64),
            ("WIDE", i64::from(span == IndexWidth::Wide)),
            ("TABLE", (rank - units.axes.len() + place) as i64),
            ("WRITTEN", i64::from(self.written)),
        ];
        let variant = match places {
            OffsetSource::Table(_) => CopyVariant::new(CopyKernelId::Select, defined),
            OffsetSource::Of(indexed, _) => CopyVariant::new(CopyKernelId::SelectDirectly, defined)
                .with("INDEX_SIZE", indexed.index.dtype().itemsize() as i64)
                .with("INDEX_SIGNED", i64::from(is_signed(indexed.index.dtype())))
                .with("BOUNDS", indexed.bounds.number())
                .with("DIRECT", 1),
        };
        let Some(function) = compile::function(self.target.device(), variant) else { return Ok(false) };
        let mut record = ParameterBlock::new();
        let words = [units.to, units.from, places.array().address(), count as usize];
        words.into_iter().for_each(|word| record.push_word(word as u64));
        if let OffsetSource::Of(indexed, word) = places {
            let readback_address = word.map_or(0, Readback::address);
            let numbers = [readback_address, indexed.len as u64, indexed.stride as u64];
            numbers.into_iter().for_each(|word| record.push_word(word));
        }
        parameters::push_axes(&mut record, span, &units.axes);
        let parameters = CopyParameters { record, shares: parameters::div_ceil(count, i64::from(THREADS) * 4) };
        let uses = [
            (self.source.allocation(), Access::Read),
            (places.array().allocation(), Access::Read),
            (self.target.allocation(), Access::Write),
        ];
        // SAFETY: the parameter block matches the kernel's structure; the offset table, or the kernel's own check,
        // keeps every index inside the axis.
        unsafe { run(&function, &parameters, stream, &uses)? };
        Ok(true)
    }
}

/// Returns an error if a stream is capturing, because the host must wait for the result of the bounds check.
///
/// # Errors
/// `NotSupported`; driver errors.
pub fn check_capture(stream: &Stream) -> Result<()> {
    stream_captures::refuse("an index that is an array, whose places the host checks,", stream)
}

fn refusal() -> Error {
    Error::index("an index is out of bounds for the axis that it indexes")
}

/// An array of byte offsets, one for each position of the broadcast index arrays, and the bounds check of the indices.
struct OffsetTable {
    bytes: Array,
    /// Result of the bounds check: after the event is complete, the readback is nonzero if an index is out of range.
    refused: Option<(Readback, PooledEvent)>,
}

impl OffsetTable {
    /// Builds the offset table of a selection, and starts the bounds check. Returns `None` if no kernel is available.
    fn of(device: Device, selection: &Selection, stream: &Stream) -> Result<Option<Self>> {
        let is_checked = selection.indexed.iter().any(|indexed| indexed.bounds == Bounds::Checked);
        if is_checked {
            check_capture(stream)?;
        }
        // An axis of length 0 is handled on the host, because it lacks element 0, which the kernel would read for an
        // index out of range.
        if selection.count() > 0 && selection.indexed.iter().any(|indexed| indexed.len == 0) {
            return Err(refusal());
        }
        let word = if is_checked && selection.count() > 0 { Some(Readback::new(device)?) } else { None };
        let strides = selection.indexed.iter().map(|indexed| indexed.stride);
        let Some(bytes) = places(device, selection, strides, word.as_ref(), stream)? else { return Ok(None) };
        let refused = word.map(|word| Ok::<_, Error>((word, PooledEvent::record(stream)?))).transpose()?;
        Ok(Some(Self { bytes, refused }))
    }

    /// Waits for the bounds check, and returns an error if an index is out of range.
    fn check_now(&mut self) -> Result<()> {
        let Some((word, mark)) = self.refused.take() else { return Ok(()) };
        match word.read_at(&mark)? {
            0 => Ok(()),
            _ => Err(refusal()),
        }
    }

    fn check(mut self) -> Result<()> {
        self.check_now()
    }

    /// Copies the selected elements into `result`, which has the selection's shape. It must be a new array, or the
    /// bounds check must have succeeded before.
    fn gather(&self, source: &Array, selection: &Selection, result: &Array, stream: &Stream) -> Result<bool> {
        if result.layout().is_empty() {
            return Ok(true);
        }
        let (kept, Some(stride)) = selection.split(result.layout())? else {
            let made = Array::empty(&selection.result_shape(), source.dtype(), MemoryOrder::C, stream.clone())?;
            let is_done = self.gather(source, selection, &made, stream)?;
            return if is_done { between(result, &made, stream).map(|()| true) } else { Ok(false) };
        };
        let along = SharedAxis { len: selection.count(), strides: [stride, 0] };
        let pieces = ContiguousRuns::of(&kept, &selection.view)?;
        GatherOperands { target: result, source, written: false }.select(
            &pieces,
            along,
            selection,
            &OffsetSource::Table(&self.bytes),
            stream,
        )
    }

    /// If a position is assigned several times, marks all but the last assignment as ignored. Returns `false` if no
    /// kernel is available.
    fn keep_last(&self, selection: &Selection, stream: &Stream) -> Result<bool> {
        let device = self.bytes.device();
        let mut strides = Dims::new();
        let mut targets = 1i64;
        for indexed in selection.indexed.iter().rev() {
            strides.insert(0, targets);
            match targets.checked_mul(indexed.len) {
                Some(product) => targets = product,
                None => return Ok(false),
            }
        }
        let count = selection.count();
        let owner = owner_dtype(count);
        let is_wide = i64::from(owner.kind() == ScalarType::UInt64);
        let function = |kernel: CopyKernelId| {
            compile::function(device, places_variant(1, true, 8, (false, 0), kernel).with("WIDE", is_wide))
        };
        let (Some(claim), Some(settle)) = (function(CopyKernelId::Claim), function(CopyKernelId::Settle)) else {
            return Ok(false);
        };
        let word = self.refused.as_ref().map(|(word, _)| word);
        let Some(numbers) = places(device, selection, strides.into_iter(), word, stream)? else { return Ok(false) };
        let owners = Array::empty(&[targets], owner, MemoryOrder::C, stream.clone())?;
        fill(&owners, &[0; 8][..owner.itemsize()], stream)?;
        let blocks =
            CopyParameters { record: ParameterBlock::new(), shares: parameters::div_ceil(count, i64::from(THREADS)) }
                .blocks();
        let uses = [(numbers.allocation(), Access::Read), (owners.allocation(), Access::Write)];
        let mut arguments = Arguments::new();
        for word in [numbers.address(), owners.address(), count as usize] {
            arguments.push_word(word as u64);
        }
        // SAFETY: `arguments` has the kernel's three declared parameters; the kernel checks indices against the size of
        // `owners`.
        unsafe { launch::launch(&claim, &shape(blocks), stream, &mut arguments, &uses)? };
        let uses = [
            (numbers.allocation(), Access::Read),
            (owners.allocation(), Access::Read),
            (self.bytes.allocation(), Access::Write),
        ];
        let mut arguments = Arguments::new();
        for word in [numbers.address(), owners.address(), self.bytes.address(), count as usize] {
            arguments.push_word(word as u64);
        }
        // SAFETY: `arguments` has the kernel's four declared parameters; index and offset array have `count` items
        // each.
        unsafe { launch::launch(&settle, &shape(blocks), stream, &mut arguments, &uses)? };
        Ok(true)
    }
}

/// Returns the integer type for numbering `count` assignments from 1: 32 bits if they suffice, otherwise 64.
fn owner_dtype(count: i64) -> DType {
    DType::new(if u32::try_from(count).is_ok() { ScalarType::UInt32 } else { ScalarType::UInt64 })
}

fn places_variant(
    rank: usize,
    signed: bool,
    size: usize,
    (begun, bounds): (bool, i64),
    kernel: CopyKernelId,
) -> CopyVariant {
    let defined = [
        ("UNIT", 4),
        ("DIMS", rank as i64),
        ("INDEX_SIGNED", i64::from(signed)),
        ("INDEX_SIZE", size as i64),
        ("BEGUN", i64::from(begun)),
        ("BOUNDS", bounds),
    ];
    CopyVariant::new(kernel, defined)
}

/// Computes a byte offset for each position of the broadcast index arrays: the sum of each array's index there times
/// the stride of its axis. If an index is out of range, the kernel stores a nonzero value in the word `refused`, which
/// the host reads later.
fn places(
    device: Device,
    selection: &Selection,
    strides: impl Iterator<Item = i64>,
    refused: Option<&Readback>,
    stream: &Stream,
) -> Result<Option<Array>> {
    let count = selection.count();
    let table = Array::empty(&[count], DType::new(ScalarType::Int64), MemoryOrder::C, stream.clone())?;
    if count == 0 {
        return Ok(Some(table));
    }
    for (number, (indexed, stride)) in selection.indexed.iter().zip(strides).enumerate() {
        let index = aligned(&indexed.index, stream)?;
        let (signed, size) = (is_signed(index.dtype()), index.dtype().itemsize());
        let axes = LoopNest::c_order(index.layout()).axes::<1>();
        let begun = (number > 0, indexed.bounds.number());
        let variant = places_variant(parameters::rank_for(axes.len()), signed, size, begun, CopyKernelId::Places);
        let Some(function) = compile::function(device, variant) else { return Ok(None) };
        let mut record = ParameterBlock::new();
        let readback_address = refused.map_or(0, Readback::address);
        let addresses = [table.address() as u64, index.address() as u64, readback_address];
        let numbers = [count, indexed.len, stride].map(|number| number as u64);
        addresses.into_iter().chain(numbers).for_each(|word| record.push_word(word));
        parameters::push_axes(&mut record, IndexWidth::Wide, &axes);
        let parameters = CopyParameters { record, shares: parameters::div_ceil(count, i64::from(THREADS)) };
        let uses = [(index.allocation(), Access::Read), (table.allocation(), Access::Write)];
        // SAFETY: the parameter block matches the kernel's structure; the axes are those of an aligned index array;
        // without a readback no index can be out of range.
        unsafe { run(&function, &parameters, stream, &uses)? };
    }
    Ok(Some(table))
}

fn is_signed(dtype: DType) -> bool {
    matches!(dtype.kind(), ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int32 | ScalarType::Int64)
}

/// Returns an index array with aligned elements: a copy of an unaligned array (a field of a packed structure), or the
/// array itself.
fn aligned(index: &Array, stream: &Stream) -> Result<Array> {
    let size = index.dtype().itemsize();
    let bits = index.layout().strides().fold(index.address() as i64, |bits, stride| bits | stride);
    if (bits as usize).is_multiple_of(size) { Ok(index.clone()) } else { duplicate(index, MemoryOrder::C, stream) }
}

#[cfg(test)]
mod tests {
    #![allow(missing_docs)]
    use super::*;

    #[test]
    fn numbers_of_assignments_have_64_bits_beyond_2_to_the_32() {
        let kinds = [1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 40].map(|count| owner_dtype(count).kind());
        assert_eq!(kinds[..3], [ScalarType::UInt32; 3]);
        assert_eq!(kinds[3..], [ScalarType::UInt64; 2]);
    }
}
