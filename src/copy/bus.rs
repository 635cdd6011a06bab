//! Between host and device: which way a copy takes.
//!
//! Large pageable memory passes the ring. The rest goes to the driver as it is if a copy engine knows its layout, and else
//! through a packed buffer on the host.

use super::on_cpu::on_cpu;
use super::{HostSide, MANY, at, between, check_shapes, copy_blocks, host, ring, side_of, side_of_host, with_access};
use pygpu_array::Array;
use pygpu_backend::libraries::ranges::range;
use pygpu_backend::{Direction, HostUse, NodeKind, PointerKind};
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::{Blocks, Layout};
use pygpu_memory::{Access, capture};

/// Rows narrower than this are packed on the host instead of being fetched one by one over the bus.
const NARROW: i64 = 64;

/// Bytes that a driver surely takes out of pageable memory without waiting for a busy stream.
const STAGED_AT_ONCE: usize = 64 << 10;

/// Whether a device reads and writes the host memory itself, so that an asynchronous copy goes on using it.
///
/// # Errors
/// The driver's.
pub fn is_pinned(device: Device, host: &HostSide) -> Result<bool> {
    let low = host.layout.extent().map_or(0, |(low, _)| low);
    if device.is_cpu() && !capture::is_any() {
        return Ok(false); // a copy is over when its call returns, unless it is captured
    }
    Ok(device.backend().pointer_kind(at(host.address, low))? != PointerKind::Unregistered)
}

/// Copies host memory into an array, in the order of `stream`.
///
/// # Errors
/// `ValueError` when the shapes or item sizes differ; the driver's.
///
/// # Safety
/// The host memory is readable wherever its layout reaches, until this returns or, if pinned, the stream has passed.
pub unsafe fn to_device(target: &Array, source: &HostSide, stream: &Stream) -> Result<()> {
    // SAFETY: promised by the caller.
    unsafe { upload(target, source, stream, false) }
}

/// As `to_device`, and waits for the copy.
///
/// # Errors
/// As `to_device`.
///
/// # Safety
/// The host memory is readable wherever its layout reaches.
pub unsafe fn to_device_and_wait(target: &Array, source: &HostSide, stream: &Stream) -> Result<()> {
    // SAFETY: promised by the caller.
    unsafe { upload(target, source, stream, true) }
}

/// Copies an array into host memory, in the order of `stream`.
///
/// # Errors
/// `ValueError` when the shapes or item sizes differ; the driver's.
///
/// # Safety
/// The host memory is writable wherever its layout reaches, and no element of it lies on another, until this returns or,
/// if pinned, the stream has passed.
pub unsafe fn to_host(target: &HostSide, source: &Array, stream: &Stream) -> Result<()> {
    // SAFETY: promised by the caller.
    unsafe { download(target, source, stream, false) }
}

/// As `to_host`, and waits for the copy.
///
/// # Errors
/// As `to_host`.
///
/// # Safety
/// The host memory is writable wherever its layout reaches, and no element of it lies on another.
pub unsafe fn to_host_and_wait(target: &HostSide, source: &Array, stream: &Stream) -> Result<()> {
    // SAFETY: promised by the caller.
    unsafe { download(target, source, stream, true) }?;
    source.allocation().check_other_devices()
}

/// A capture takes in what a copy engine does by itself.
fn host_use(what: &str, host: &HostSide, stream: &Stream, wait: bool) -> Result<HostUse> {
    capture::host_use(what, stream, || Ok(!wait && is_pinned(stream.device(), host)?))
}

/// # Safety
/// As `to_device`; if `wait`, until this returns.
unsafe fn upload(target: &Array, source: &HostSide, stream: &Stream, wait: bool) -> Result<()> {
    check_shapes(target.layout(), &source.layout)?;
    if target.layout().size() == 0 {
        return Ok(());
    }
    let device = target.device();
    let _range = range(|| format!("PyGPU upload {} bytes", target.layout().nbytes()));
    let host = host_use("an upload that waits, or of ordinary host memory,", source, stream, wait)?;
    if device.is_cpu() {
        let owned = || (target.clone(), source.clone());
        return on_cpu(
            stream,
            NodeKind::Copy,
            &[(target, Access::Write)],
            (target, source),
            owned,
            |target, source| {
                // SAFETY: the target is an array's own memory, the source promised by the caller; they may be the same memory.
                unsafe { host::copy_overlapping(side_of(target), side_of_host(source)) }
            },
        );
    }
    let direction = Direction::HostToDevice(host);
    let most = if wait { usize::MAX } else { STAGED_AT_ONCE };
    match ring::open(device, source, target.layout().nbytes() as usize, most)? {
        // SAFETY: promised by the caller.
        Some(ring) => unsafe { upload_through(ring, direction, target, source, (stream, wait))? },
        None => {
            let blocks = Blocks::of(target.layout(), &source.layout)?;
            if let (true, Blocks::One { dst, src, bytes }) = (wait, &blocks) {
                let (to, from) = (at(target.allocation().address(), *dst), at(source.address, *src));
                // SAFETY: the target is an array's own memory, the source promised by the caller.
                return unsafe { run_and_wait(target, direction, to, from, *bytes, stream) };
            }
            // SAFETY: promised by the caller.
            unsafe { upload_by_driver(direction, target, source, &blocks, stream)? };
        }
    }
    if wait { stream.synchronize() } else { Ok(()) }
}

/// # Safety
/// As `to_host`; if `wait`, until this returns.
unsafe fn download(target: &HostSide, source: &Array, stream: &Stream, wait: bool) -> Result<()> {
    check_shapes(&target.layout, source.layout())?;
    if source.layout().size() == 0 {
        return Ok(());
    }
    let device = source.device();
    let _range = range(|| format!("PyGPU download {} bytes", source.layout().nbytes()));
    let host = host_use("a download that waits, or into ordinary host memory,", target, stream, wait)?;
    if device.is_cpu() {
        let owned = || (target.clone(), source.clone());
        return on_cpu(stream, NodeKind::Copy, &[(source, Access::Read)], (target, source), owned, |target, source| {
            // SAFETY: the source is an array's own memory, the target promised by the caller; they may be the same memory.
            unsafe { host::copy_overlapping(side_of_host(target), side_of(source)) }
        });
    }
    let direction = Direction::DeviceToHost(host);
    match ring::open(device, target, source.layout().nbytes() as usize, usize::MAX)? {
        // SAFETY: promised by the caller.
        Some(ring) => unsafe { download_through(ring, direction, target, source, stream)? },
        None => {
            let blocks = Blocks::of(&target.layout, source.layout())?;
            if let (true, Blocks::One { dst, src, bytes }) = (wait, &blocks) {
                let (to, from) = (at(target.address, *dst), at(source.allocation().address(), *src));
                // SAFETY: the source is an array's own memory, the target promised by the caller.
                return unsafe { run_and_wait(source, direction, to, from, *bytes, stream) };
            }
            // SAFETY: promised by the caller.
            unsafe { download_by_driver(direction, target, source, &blocks, stream)? };
        }
    }
    if wait { stream.synchronize() } else { Ok(()) }
}

/// One run of bytes, and the wait for it: the shortest path, which is most of what a small copy costs.
///
/// # Safety
/// Both sides are valid.
unsafe fn run_and_wait(
    array: &Array,
    direction: Direction,
    to: usize,
    from: usize,
    bytes: i64,
    stream: &Stream,
) -> Result<()> {
    let device = array.device();
    let access = if matches!(direction, Direction::HostToDevice(_)) { Access::Write } else { Access::Read };
    with_access(array, access, stream, || {
        // SAFETY: promised by the caller; the stream is alive.
        unsafe { device.backend().copy_and_wait(device.index(), direction, to, from, bytes as usize, stream.handle()) }
    })
}

/// Through the ring, into the array itself if copy engines know its layout, else into dense memory first.
///
/// # Safety
/// The host memory is readable wherever its layout reaches.
unsafe fn upload_through(
    ring: ring::Ring<'_>,
    direction: Direction,
    target: &Array,
    source: &HostSide,
    (stream, wait): (&Stream, bool),
) -> Result<()> {
    let dense = target.layout().dense_like();
    if is_direct(&Blocks::of(target.layout(), &dense)?) {
        // SAFETY: promised by the caller.
        return with_access(target, Access::Write, stream, || unsafe {
            ring.upload(direction, target, source, (stream, wait))
        });
    }
    let scratch = Array::on_new_memory(dense, target.dtype(), stream.clone())?;
    // SAFETY: promised by the caller.
    with_access(&scratch, Access::Write, stream, || unsafe {
        ring.upload(direction, &scratch, source, (stream, wait))
    })?;
    between(target, &scratch, stream)
}

/// # Safety
/// The host memory is writable wherever its layout reaches.
unsafe fn download_through(
    ring: ring::Ring<'_>,
    direction: Direction,
    target: &HostSide,
    source: &Array,
    stream: &Stream,
) -> Result<()> {
    let dense = source.layout().dense_like();
    if is_direct(&Blocks::of(&dense, source.layout())?) {
        // SAFETY: promised by the caller.
        return with_access(source, Access::Read, stream, || unsafe {
            ring.download(direction, target, source, stream)
        });
    }
    let scratch = Array::on_new_memory(dense, source.dtype(), stream.clone())?;
    between(&scratch, source, stream)?;
    // SAFETY: promised by the caller.
    with_access(&scratch, Access::Read, stream, || unsafe { ring.download(direction, target, &scratch, stream) })
}

/// # Safety
/// As `to_device`.
unsafe fn upload_by_driver(
    direction: Direction,
    target: &Array,
    source: &HostSide,
    blocks: &Blocks,
    stream: &Stream,
) -> Result<()> {
    let is_captured = capture::is_capturing(stream)?;
    if is_direct(blocks) || is_captured && is_even(blocks) {
        let (to, from) = (side_of(target), side_of_host(source));
        return with_access(target, Access::Write, stream, || {
            // SAFETY: the target is an array's own memory, the source promised by the caller.
            unsafe { copy_blocks(target.device(), direction, to, from, blocks, stream) }
        });
    }
    if is_captured {
        let scratch = Array::on_new_memory(source.layout.dense_like(), target.dtype(), stream.clone())?;
        let blocks = Blocks::of(scratch.layout(), &source.layout)?;
        check_even(&blocks)?;
        // SAFETY: promised by the caller; even rows do not come here again.
        unsafe { upload_by_driver(direction, &scratch, source, &blocks, stream)? };
        return between(target, &scratch, stream);
    }
    let dense = target.layout().dense_like();
    let packed = host::Packed::new(&dense);
    // SAFETY: the packed buffer is ours and as large as `dense`; the source is promised by the caller.
    unsafe { host::copy(packed.side(&dense), side_of_host(source))? };
    let packed_side = packed_side(&packed, &dense);
    let from_packed = Blocks::of(target.layout(), &dense)?;
    if is_direct(&from_packed) {
        // SAFETY: the packed buffer is pageable: the driver has read it when this returns.
        return unsafe { upload_by_driver(direction, target, &packed_side, &from_packed, stream) };
    }
    let scratch = Array::on_new_memory(dense.clone(), target.dtype(), stream.clone())?;
    // SAFETY: as above; equal dense layouts are one block, so this does not come here again.
    unsafe { upload_by_driver(direction, &scratch, &packed_side, &Blocks::of(&dense, &dense)?, stream)? };
    between(target, &scratch, stream)
}

/// # Safety
/// As `to_host`.
unsafe fn download_by_driver(
    direction: Direction,
    target: &HostSide,
    source: &Array,
    blocks: &Blocks,
    stream: &Stream,
) -> Result<()> {
    let is_captured = capture::is_capturing(stream)?;
    if is_direct(blocks) || is_captured && is_even(blocks) {
        let (to, from) = (side_of_host(target), side_of(source));
        return with_access(source, Access::Read, stream, || {
            // SAFETY: the source is an array's own memory, the target promised by the caller.
            unsafe { copy_blocks(source.device(), direction, to, from, blocks, stream) }
        });
    }
    if is_captured {
        let scratch = Array::on_new_memory(target.layout.dense_like(), source.dtype(), stream.clone())?;
        let blocks = Blocks::of(&target.layout, scratch.layout())?;
        check_even(&blocks)?;
        between(&scratch, source, stream)?;
        // SAFETY: as promised by the caller; even rows do not come here again.
        return unsafe { download_by_driver(direction, target, &scratch, &blocks, stream) };
    }
    let dense = source.layout().dense_like();
    let into_packed = Blocks::of(&dense, source.layout())?;
    if !is_direct(&into_packed) {
        let scratch = Array::on_new_memory(dense, source.dtype(), stream.clone())?;
        between(&scratch, source, stream)?;
        let blocks = Blocks::of(&target.layout, scratch.layout())?;
        // SAFETY: as promised by the caller; a dense source does not come here again.
        return unsafe { download_by_driver(direction, target, &scratch, &blocks, stream) };
    }
    let packed = host::Packed::new(&dense);
    // SAFETY: the packed buffer is ours and pageable: the values are there when this returns.
    unsafe { download_by_driver(direction, &packed_side(&packed, &dense), source, &into_packed, stream)? };
    // SAFETY: as above; the target is promised by the caller.
    unsafe { host::copy(side_of_host(target), packed.side(&dense)) }
}

/// Whether one copy of a driver does it, however narrow the rows are.
const fn is_even(blocks: &Blocks) -> bool {
    matches!(blocks, Blocks::One { .. } | Blocks::Uniform(_))
}

/// Refuses in a capture what the host would have to pack.
fn check_even(blocks: &Blocks) -> Result<()> {
    match is_even(blocks) {
        true => Ok(()),
        false => {
            Err(capture::refusal("a copy of host memory whose elements lie in no even rows, and which the host packs,"))
        }
    }
}

fn packed_side(packed: &host::Packed, dense: &Layout) -> HostSide {
    HostSide { address: packed.address(), layout: dense.clone() }
}

/// Whether a copy over the bus goes as it is, without packing on the host first.
fn is_direct(blocks: &Blocks) -> bool {
    match blocks {
        Blocks::One { .. } => true,
        Blocks::Uniform(uniform) => uniform.width >= NARROW,
        Blocks::Many(many) => many.block.width >= NARROW && many.count() <= MANY,
    }
}
