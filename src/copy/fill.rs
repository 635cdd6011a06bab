//! Fills an array with one item. The fill uses the driver's memset if the item is a pattern that the driver supports.
//! Otherwise it uses a kernel, or several memsets if no compiler is available.
//!
//! A fill reads no host memory when it runs, so a captured graph does not depend on the lifetime of the item.

use super::cpu_backend_copies::on_cpu;
use super::word_fill::WordFill;
use super::{CopyOperand, at, host_host, kernels, side_of, with_access};
use pygpu_array::Array;
use pygpu_backend::{Address, NodeKind, Pattern};
use pygpu_base::error::{Error, Result};
use pygpu_device::stream::Stream;
use pygpu_layout::{ContiguousRuns, CopyBlocks, Dims, Layout, Uniform};
use pygpu_memory::Access;

/// Maximum number of planes of a target that are filled by one memset each. A target with more planes is filled by one
/// launch of a kernel.
const PLANES: i64 = 16;

/// Number of memsets, each of a single element, that together take no longer than a kernel launch.
const CHEAP: i64 = 4;

/// Sets every element of an array to `item`, given as bytes, as an operation on `stream`.
///
/// # Errors
/// `ValueError` if the size of the item differs from that of the elements; driver errors.
pub fn fill(target: &Array, item: &[u8], stream: &Stream) -> Result<()> {
    if item.len() as i64 != target.layout().itemsize() {
        return Err(Error::value(format!(
            "fill: the item has {} bytes, the elements have {}",
            item.len(),
            target.layout().itemsize()
        )));
    }
    if target.layout().size() == 0 {
        return Ok(());
    }
    if target.device().is_cpu() {
        let owned = || (target.clone(), item.to_vec());
        return on_cpu(stream, NodeKind::Fill, &[(target, Access::Write)], (target, item), owned, fill_on_cpu);
    }
    if let Some(rows) = rows(target)?
        && let Some(pattern) = pattern_for(target, &rows, item)
    {
        return fill_rows(target, &rows, pattern, stream);
    }
    // Memsets and kernels both receive the item by value, so a captured fill needs no host memory when it runs.
    let mut parts = item.chunks(kernels::LONGEST as usize).enumerate();
    parts.try_for_each(|(number, part)| {
        let pieces = pieces(target.layout(), number as i64 * kernels::LONGEST, part.len() as i64)?;
        let words = WordFill::of(&pieces, target.allocation().address(), part);
        let are_few = words.count() == 1 || (target.layout().size() == 1 && words.count() <= CHEAP);
        if are_few || !kernels::fill(target, &pieces, part, stream)? {
            words.fill(target, stream)?;
        }
        Ok(())
    })
}

/// Describes the target as at most [`PLANES`] planes of evenly spaced rows. Returns `None` if that is impossible.
fn rows(target: &Array) -> Result<Option<Uniform>> {
    Ok(match CopyBlocks::of(target.layout(), target.layout())? {
        CopyBlocks::One { dst, bytes, .. } => Some(Uniform {
            dst,
            src: dst,
            width: bytes,
            height: 1,
            depth: 1,
            dst_pitch: bytes,
            src_pitch: bytes,
            dst_slice: bytes,
            src_slice: bytes,
        }),
        CopyBlocks::Uniform(rows) if rows.depth <= PLANES => Some(rows),
        _ => None,
    })
}

/// Describes, as contiguous runs, one part of every item of a layout: the `bytes` bytes from byte `start` of the item
/// on.
fn pieces(layout: &Layout, start: i64, bytes: i64) -> Result<ContiguousRuns> {
    let (shape, strides): (Dims, Dims) = (layout.shape().collect(), layout.strides().collect());
    let part = Layout::strided(&shape, &strides, layout.offset() + start, bytes)?;
    ContiguousRuns::of(&part, &part)
}

fn fill_on_cpu(target: &Array, item: &[u8]) -> Result<()> {
    let repeated = Layout::scalar(item.len() as i64).broadcast_to(&target.layout().shape().collect::<Vec<_>>())?;
    let source = CopyOperand { base: item.as_ptr() as Address, layout: &repeated };
    // SAFETY: the target is the memory of a borrowed array; the source repeats one borrowed item.
    unsafe { host_host::copy(side_of(target), source) }
}

/// Returns the shortest memset pattern whose repetition is the item, or `None` if there is none.
fn pattern(item: &[u8]) -> Option<Pattern> {
    let repeats =
        |period: usize| item.len().is_multiple_of(period) && item.chunks(period).all(|chunk| chunk == &item[..period]);
    match item {
        [byte, ..] if repeats(1) => Some(Pattern::U8(*byte)),
        [a, b, ..] if repeats(2) => Some(Pattern::U16(u16::from_le_bytes([*a, *b]))),
        [a, b, c, d, ..] if repeats(4) => Some(Pattern::U32(u32::from_le_bytes([*a, *b, *c, *d]))),
        _ => None,
    }
}

fn size_of_pattern(pattern: Pattern) -> usize {
    match pattern {
        Pattern::U8(_) => 1,
        Pattern::U16(_) => 2,
        Pattern::U32(_) => 4,
    }
}

/// Returns the item's memset pattern, if the addresses of the rows to fill are aligned for a memset with this pattern.
fn pattern_for(target: &Array, rows: &Uniform, item: &[u8]) -> Option<Pattern> {
    let pattern = pattern(item)?;
    let size = size_of_pattern(pattern) as i64;
    let start = at(target.allocation().address(), rows.dst) as i64;
    let aligned = [start, rows.dst_pitch, rows.dst_slice].iter().all(|number| number % size == 0);
    aligned.then_some(pattern)
}

fn fill_rows(target: &Array, rows: &Uniform, pattern: Pattern, stream: &Stream) -> Result<()> {
    let device = target.device();
    let start = at(target.allocation().address(), rows.dst);
    let count = rows.width as usize / size_of_pattern(pattern);
    with_access(target, Access::Write, stream, || {
        (0..rows.depth).try_for_each(|plane| {
            // SAFETY: the rows are inside the array, which its recorded use keeps alive in the order of the stream.
            unsafe {
                device.backend().fill(
                    device.index(),
                    at(start, plane * rows.dst_slice),
                    rows.dst_pitch as usize,
                    pattern,
                    count,
                    rows.height as usize,
                    stream.handle(),
                )
            }
        })
    })
}
