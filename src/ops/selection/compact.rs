//! Launches the kernels of mask operations: counting true elements, and `take`, `put` and `nonzero` for a mask.

use super::source::{self, MaskKernel, MaskOperation};
use pygpu_array::Array;
use pygpu_backend::LaunchShape;
use pygpu_base::dtype::{DType, ScalarType};
use pygpu_base::error::Result;
use pygpu_codegen::array_access::{IndexWidth, ParameterBlock};
use pygpu_copy as copy;
use pygpu_device::stream::{PooledEvent, Stream};
use pygpu_kernel::{Arguments, launch};
use pygpu_layout::{Dims, Layout, LoopNest, MemoryOrder, NARROW};
use pygpu_memory::readback::Readback;
use pygpu_memory::{Access, BlockUse, stream_captures};
use smallvec::SmallVec;

/// Four numbers, in this order: threads in a block, threads in the block that scans the counts, elements in a tile, and
/// tiles that one block counts. `compact.cu` relies on these values.
const THREADS: u32 = 256;
const THREADS_OF_STARTS: u32 = 1024;
const TILE: i64 = 4096;
const COUNTED: i64 = 4;
/// Maximum number of elements for which a single thread block performs the whole mask operation, which saves launches.
const SMALL: i64 = 2 * TILE;

/// A mask whose elements are contiguous.
struct Mask {
    array: Array,
    count: i64,
    /// Number of elements from the last multiple of 16 bytes, at or before the mask's address, to the mask's address.
    head: i64,
}

impl Mask {
    fn of(array: &Array, stream: &Stream) -> Result<Self> {
        stream_captures::refuse("a boolean mask, whose true elements the host counts,", stream)?;
        let array = match array.layout().is_c_contiguous() {
            true => array.clone(),
            false => copy::duplicate(array, MemoryOrder::C, stream)?,
        };
        let (count, head) = (array.layout().size(), array.address() as i64 & 15);
        Ok(Self { array, count, head })
    }

    fn tiles(&self) -> i64 {
        (self.count + self.head + TILE - 1) / TILE
    }

    fn push(&self, arguments: &mut Arguments) {
        arguments.push_word(self.array.address() as u64);
        arguments.push_word(self.count as u64);
        arguments.push_word(self.head as u64);
    }

    fn used(&self) -> BlockUse<'_> {
        (self.array.allocation(), Access::Read)
    }
}

/// For each tile of a mask, the number of true elements in all earlier tiles. `count_readback` is the readback of the
/// total number of true elements.
struct TileOffsets {
    /// Array that contains a 64-bit offset for each tile, the total number of true elements, and a 32-bit count for
    /// each tile, in this order.
    numbers: Array,
    count_readback: Readback,
}

fn shape(blocks: i64, threads: u32) -> LaunchShape {
    // The conversion to 32 bits never fails: 2^32 thread blocks would need more elements than fit into a device's
    // memory.
    let blocks = u32::try_from(blocks).unwrap_or(i32::MAX as u32);
    LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared: 0, cooperative: false }
}

impl TileOffsets {
    fn of(mask: &Mask, stream: &Stream) -> Result<Self> {
        let device = stream.device();
        let (count, start) = (source::count(device)?, source::starts(device)?);
        let tiles = mask.tiles();
        let numbers = Array::empty(
            &[8 * (tiles + 1) + 4 * tiles],
            DType::new(ScalarType::UInt8),
            MemoryOrder::C,
            stream.clone(),
        )?;
        let count_readback = Readback::new(device)?;
        let counts = numbers.address() as u64 + 8 * (tiles as u64 + 1);
        let written = (numbers.allocation(), Access::Write);
        let mut arguments = Arguments::new();
        mask.push(&mut arguments);
        arguments.push_word(counts);
        arguments.push_word(tiles as u64);
        let blocks = (tiles + COUNTED - 1) / COUNTED;
        // SAFETY: the arguments match the kernel's declared parameters, and `numbers` has an entry for each tile.
        unsafe { launch::launch(&count, &shape(blocks, THREADS), stream, &mut arguments, &[mask.used(), written])? };
        let mut arguments = Arguments::new();
        [counts, numbers.address() as u64, tiles as u64, count_readback.address()]
            .into_iter()
            .for_each(|word| arguments.push_word(word));
        // SAFETY: the arguments match the kernel's declared parameters; `numbers` has an entry for each tile, and the
        // readback is read only after the kernel.
        unsafe { launch::launch(&start, &shape(1, THREADS_OF_STARTS), stream, &mut arguments, &[written])? };
        Ok(Self { numbers, count_readback })
    }
}

/// A kernel that copies, assigns or lists the elements at which a mask is true, and the kernel's parameters besides the
/// mask.
struct MaskMove<'a> {
    kernel: MaskKernel,
    /// The array whose elements are moved, and the offset of its first element. `None` if the kernel computes indices
    /// and moves no elements.
    array: Option<(&'a Array, i64)>,
    values: &'a Array,
    /// Stride in bytes between the values that are copied or assigned. If indices are computed, the distance in bytes
    /// between the indices along one axis and those along the next axis.
    step: i64,
    /// The required number of true elements; negative if any number is allowed.
    expected: i64,
    walk: ParameterBlock,
}

impl MaskMove<'_> {
    /// Launches the kernel. If `starts` is `None`, a single thread block processes the whole mask and writes the number
    /// of true elements to the readback at `readback_address`.
    fn run(&self, mask: &Mask, starts: Option<&Array>, readback_address: u64, stream: &Stream) -> Result<()> {
        let function = source::moving(stream.device(), self.kernel)?;
        let tiles = mask.tiles();
        let mut arguments = Arguments::new();
        mask.push(&mut arguments);
        arguments.push_word(starts.map_or(0, |starts| starts.address() as u64));
        arguments.push_word(tiles as u64);
        arguments.push_word(readback_address);
        let first = self
            .array
            .map_or(0, |(array, offset)| array.allocation().address().wrapping_add_signed(offset as isize) as u64);
        arguments.push_word(first);
        arguments.push_word(self.values.address() as u64);
        arguments.push_word(self.step as u64);
        arguments.push_word(self.expected as u64);
        self.walk.pass(&mut arguments);
        let (array, values) = match self.kernel.task {
            MaskOperation::Put => (Access::Write, Access::Read),
            MaskOperation::Take | MaskOperation::Find => (Access::Read, Access::Write),
        };
        let mut uses: SmallVec<[BlockUse<'_>; 4]> =
            SmallVec::from_slice(&[mask.used(), (self.values.allocation(), values)]);
        uses.extend(starts.map(|starts| (starts.allocation(), Access::Read)));
        uses.extend(self.array.map(|(one, _)| (one.allocation(), array)));
        let shape = shape(if starts.is_some() { tiles } else { 1 }, THREADS);
        // SAFETY: the kernel was compiled for elements of this size and this loop nest; the caller has allocated the
        // result arrays in the required sizes.
        unsafe { launch::launch(&function, &shape, stream, &mut arguments, &uses) }
    }
}

/// Returns the compiled kernel for an array, the array's loop nest in C order as kernel parameters, and the offset of
/// the first element.
fn walk_of(array: &Array, task: MaskOperation) -> Option<(MaskKernel, ParameterBlock, i64)> {
    let layout = array.layout();
    let unit = layout.itemsize();
    let places = layout.strides().fold(array.address() as i64, |places, stride| places | stride);
    if !matches!(unit, 1 | 2 | 4 | 8 | 16) || places % unit != 0 {
        return None;
    }
    let walk = LoopNest::c_order(layout);
    let span = IndexWidth::of(&walk, 0..1);
    let mut record = ParameterBlock::new();
    let rank = walk.rank().max(1);
    match walk.rank() {
        0 => record.push_walk(span, std::iter::once(1), std::iter::once(std::iter::once(0))),
        _ => record.push_walk(span, walk.lens(), std::iter::once(walk.strides(0))),
    }
    Some((MaskKernel { task, unit, span, rank }, record, walk.offset(0)))
}

/// Selects the elements of an array for which a mask of the array's shape is true. Returns `None` for unsupported
/// element types.
///
/// # Errors
/// `NotSupported` in a capture; `OutOfMemory`; compiler errors; driver errors.
pub fn take(array: &Array, mask: &Array, stream: &Stream) -> Result<Option<Array>> {
    let Some((kernel, walk, offset)) = walk_of(array, MaskOperation::Take) else { return Ok(None) };
    let dense = |count: i64| Array::empty(&[count], array.dtype(), MemoryOrder::C, stream.clone());
    let mask = Mask::of(mask, stream)?;
    if mask.count == 0 {
        return dense(0).map(Some);
    }
    let (array, step) = (Some((array, offset)), kernel.unit);
    let of = |values| MaskMove { kernel, array, values, step, expected: -1, walk: walk.clone() };
    if mask.count <= SMALL {
        let room = dense(mask.count)?;
        let count_readback = Readback::new(stream.device())?;
        of(&room).run(&mask, None, count_readback.address(), stream)?;
        let count = count_readback.read_behind(stream)? as i64;
        return room.view(Layout::contiguous(&[count], step, MemoryOrder::C)?).map(Some);
    }
    let TileOffsets { numbers, count_readback } = TileOffsets::of(&mask, stream)?;
    let result = dense(count_readback.read_behind(stream)? as i64)?;
    if !result.layout().is_empty() {
        of(&result).run(&mask, Some(&numbers), 0, stream)?;
    }
    Ok(Some(result))
}

/// Assigns one-dimensional values to the elements for which a mask of the array's shape is true. Returns the number of
/// true elements; if it differs from the number of values, nothing was assigned. `None` for unsupported element types.
///
/// # Errors
/// The errors of [`take`].
pub fn put(array: &Array, mask: &Array, values: &Array, stream: &Stream) -> Result<Option<i64>> {
    let Some((kernel, walk, offset)) = walk_of(array, MaskOperation::Put) else { return Ok(None) };
    let mask = Mask::of(mask, stream)?;
    if mask.count == 0 {
        return Ok(Some(0));
    }
    let step = values.layout().strides().next().unwrap_or(0);
    if (values.address() as i64 | step) % kernel.unit != 0 {
        return Ok(None);
    }
    let TileOffsets { numbers, count_readback } = TileOffsets::of(&mask, stream)?;
    let counted = PooledEvent::record(stream)?;
    let expected = values.layout().size();
    if expected > 0 {
        let put = MaskMove { kernel, array: Some((array, offset)), values, step, expected, walk };
        put.run(&mask, Some(&numbers), 0, stream)?;
    }
    Ok(Some(count_readback.read_at(&counted)? as i64))
}

/// Returns the indices of a mask's true elements in C order, one row per axis.
///
/// # Errors
/// The errors of [`take`].
pub fn nonzero(mask: &Array, stream: &Stream) -> Result<Array> {
    let shape: Dims = mask.layout().shape().collect();
    let rank = shape.len() as i64;
    let mask = Mask::of(mask, stream)?;
    let dense =
        |count: i64| Array::empty(&[rank, count], DType::new(ScalarType::Int64), MemoryOrder::C, stream.clone());
    if mask.count == 0 || rank == 0 {
        return dense(0);
    }
    let span = if mask.count < NARROW { IndexWidth::Short } else { IndexWidth::Wide };
    let mut walk = ParameterBlock::new();
    walk.push_walk(span, shape.iter().copied(), std::iter::once(shape.iter().map(|_| 0)));
    let kernel = MaskKernel { task: MaskOperation::Find, unit: 8, span, rank: shape.len() };
    let of = |values, step| MaskMove { kernel, array: None, values, step, expected: -1, walk: walk.clone() };
    if mask.count <= SMALL {
        let room = dense(mask.count)?;
        let count_readback = Readback::new(stream.device())?;
        of(&room, 8 * mask.count).run(&mask, None, count_readback.address(), stream)?;
        let count = count_readback.read_behind(stream)? as i64;
        return room.view(Layout::strided(&[rank, count], &[8 * mask.count, 8], 0, 8)?);
    }
    let TileOffsets { numbers, count_readback } = TileOffsets::of(&mask, stream)?;
    let count = count_readback.read_behind(stream)? as i64;
    let result = dense(count)?;
    if count > 0 {
        of(&result, 8 * count).run(&mask, Some(&numbers), 0, stream)?;
    }
    Ok(result)
}
