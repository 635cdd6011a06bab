//! Filling an array with one item.

use super::{Side, at, between, host, side_of, with_access};
use crate::array::Array;
use crate::backend::{Address, Direction, Pattern};
use crate::error::{Error, Result};
use crate::layout::{Blocks, Layout, Uniform};
use crate::memory::Access;
use crate::stream::Stream;

/// Sets every element to `item`, given as bytes, in the order of `stream`.
///
/// # Errors
/// `ValueError` when the item has another size than the elements; the driver's.
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
        let repeated = Layout::scalar(item.len() as i64).broadcast_to(&target.layout().shape().collect::<Vec<_>>())?;
        let source = Side { base: item.as_ptr() as Address, layout: &repeated };
        // SAFETY: the target is an array's own memory; the source repeats one borrowed item.
        return unsafe { host::copy(side_of(target), source) };
    }
    match Blocks::of(target.layout(), target.layout())? {
        Blocks::One { dst, bytes, .. } => fill_dense(target, dst, bytes as usize, item, stream),
        Blocks::Uniform(rows) if pattern_for(target, &rows, item).is_some() => fill_rows(target, &rows, item, stream),
        _ => {
            let dense = Array::on_new_memory(target.layout().dense_like(), target.dtype(), stream.clone())?;
            fill(&dense, item, stream)?;
            between(target, &dense, stream)
        }
    }
}

/// The shortest pattern that a driver's memset repeats to give the item.
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

/// The pattern, if memset takes it at these addresses.
fn pattern_for(target: &Array, rows: &Uniform, item: &[u8]) -> Option<Pattern> {
    let pattern = pattern(item)?;
    let size = size_of_pattern(pattern) as i64;
    let start = at(target.allocation().address(), rows.dst) as i64;
    let aligned = [start, rows.dst_pitch, rows.dst_slice].iter().all(|number| number % size == 0);
    aligned.then_some(pattern)
}

fn fill_rows(target: &Array, rows: &Uniform, item: &[u8], stream: &Stream) -> Result<()> {
    let Some(pattern) = pattern_for(target, rows, item) else { return Ok(()) };
    let device = target.device();
    let start = at(target.allocation().address(), rows.dst);
    let count = rows.width as usize / size_of_pattern(pattern);
    with_access(target, Access::Write, stream, || {
        (0..rows.depth).try_for_each(|plane| {
            // SAFETY: the rows lie inside the array, which its usage keeps alive in the order of the stream.
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

fn fill_dense(target: &Array, offset: i64, bytes: usize, item: &[u8], stream: &Stream) -> Result<()> {
    let whole = Uniform {
        dst: offset,
        src: offset,
        width: bytes as i64,
        height: 1,
        depth: 1,
        dst_pitch: bytes as i64,
        src_pitch: bytes as i64,
        dst_slice: bytes as i64,
        src_slice: bytes as i64,
    };
    match pattern_for(target, &whole, item) {
        Some(_) => fill_rows(target, &whole, item, stream),
        None => fill_by_doubling(target, offset, bytes, item, stream),
    }
}

/// For items that no memset knows: one item goes up, then what is filled is copied behind itself, twice as much each time.
fn fill_by_doubling(target: &Array, offset: i64, bytes: usize, item: &[u8], stream: &Stream) -> Result<()> {
    let device = target.device();
    let (backend, index) = (device.backend(), device.index());
    let start = at(target.allocation().address(), offset);
    with_access(target, Access::Write, stream, || {
        // SAFETY: all copies stay inside `bytes` of the array and never overlap; the item is pageable.
        unsafe {
            backend.copy(
                index,
                Direction::HostToDevice,
                start,
                item.as_ptr() as Address,
                item.len(),
                stream.handle(),
            )?;
            let mut filled = item.len();
            while filled < bytes {
                let step = filled.min(bytes - filled);
                backend.copy(index, Direction::DeviceToDevice, start + filled, start, step, stream.handle())?;
                filled += step;
            }
        }
        Ok(())
    })
}
