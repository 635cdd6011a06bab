//! Copies arrays between host and device, and chooses the path of the data.
//!
//! Large pageable memory passes through the ring of pinned slots. Other copies are issued to the driver directly if a
//! copy engine supports the layout, and otherwise go through a packed buffer on the host.

use super::cpu_backend_copies::on_cpu;
use super::{
    HostBuffer, MANY, at, between, check_shapes, copy_blocks, host_host, ring_transfer, side_of, side_of_host,
    with_access,
};
use pygpu_array::Array;
use pygpu_backend::libraries::profiler_ranges::range;
use pygpu_backend::{Direction, HostUse, NodeKind, PointerKind};
use pygpu_base::error::Result;
use pygpu_device::Device;
use pygpu_device::stream::Stream;
use pygpu_layout::{CopyBlocks, Layout};
use pygpu_memory::{Access, stream_captures};

/// Width in bytes below which rows are packed on the host instead of being transferred individually.
const NARROW: i64 = 64;

/// Maximum size in bytes of a pageable source that the driver reads before its copy call returns, even if the stream is
/// busy.
const STAGED_AT_ONCE: usize = 64 << 10;

/// Returns whether a device accesses the host memory directly. In this case an asynchronous copy may still use the
/// memory after its call has returned.
///
/// # Errors
/// Driver errors.
pub fn is_pinned(device: Device, host: &HostBuffer) -> Result<bool> {
    let low = host.layout.extent().map_or(0, |(low, _)| low);
    if device.is_cpu() && !stream_captures::is_any() {
        return Ok(false); // without a capture, a CPU copy completes before its call returns
    }
    Ok(device.backend().pointer_kind(at(host.address, low))? != PointerKind::Unregistered)
}

/// Copies host memory into an array, as an operation on `stream`.
///
/// # Errors
/// `ValueError` if the shapes or item sizes differ; driver errors.
///
/// # Safety
/// The host memory must be readable wherever its layout reaches. Pageable memory must stay valid until this function
/// returns, pinned memory until the stream has completed the copy.
pub unsafe fn to_device(target: &Array, source: &HostBuffer, stream: &Stream) -> Result<()> {
    // SAFETY: the caller guarantees a valid source, as `upload` requires.
    unsafe { upload(target, source, stream, false) }
}

/// Copies host memory into an array as `to_device` does, and waits until the copy is complete.
///
/// # Errors
/// The errors of `to_device`.
///
/// # Safety
/// The host memory must be readable wherever its layout reaches.
pub unsafe fn to_device_and_wait(target: &Array, source: &HostBuffer, stream: &Stream) -> Result<()> {
    // SAFETY: the caller guarantees a valid source; the function waits for the copy.
    unsafe { upload(target, source, stream, true) }
}

/// Copies an array into host memory, as an operation on `stream`.
///
/// # Errors
/// `ValueError` if the shapes or item sizes differ; driver errors.
///
/// # Safety
/// The host memory must be writable wherever its layout reaches, and its elements must not overlap. Pageable memory
/// must stay valid until this function returns, pinned memory until the stream has completed the copy.
pub unsafe fn to_host(target: &HostBuffer, source: &Array, stream: &Stream) -> Result<()> {
    // SAFETY: the caller guarantees a valid target, as `download` requires.
    unsafe { download(target, source, stream, false) }
}

/// Copies an array into host memory like `to_host`, and waits until the copy is complete.
///
/// # Errors
/// The errors of `to_host`.
///
/// # Safety
/// The host memory must be writable wherever its layout reaches, and its elements must not overlap.
pub unsafe fn to_host_and_wait(target: &HostBuffer, source: &Array, stream: &Stream) -> Result<()> {
    // SAFETY: the caller guarantees a valid target; the function waits for the copy.
    unsafe { download(target, source, stream, true) }?;
    source.allocation().check_other_devices()
}

/// Returns the permission that a copy needs to use host memory. During a capture, only asynchronous copies of pinned
/// memory get this permission.
fn host_use(what: &str, host: &HostBuffer, stream: &Stream, wait: bool) -> Result<HostUse> {
    stream_captures::host_use(what, stream, || Ok(!wait && is_pinned(stream.device(), host)?))
}

/// Implements `to_device`, and `to_device_and_wait` if `wait` is set.
///
/// # Safety
/// The conditions of `to_device` apply; with `wait`, the memory must be valid until the function returns.
unsafe fn upload(target: &Array, source: &HostBuffer, stream: &Stream, wait: bool) -> Result<()> {
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
                // SAFETY: the target is the memory of a borrowed array, and the caller guarantees a valid source; both
                // may be the same memory.
                unsafe { host_host::copy_overlapping(side_of(target), side_of_host(source)) }
            },
        );
    }
    let direction = Direction::HostToDevice(host);
    let most = if wait { usize::MAX } else { STAGED_AT_ONCE };
    match ring_transfer::open(device, source, target.layout().nbytes() as usize, most)? {
        // SAFETY: the caller guarantees that the source is readable wherever its layout reaches.
        Some(ring) => unsafe { upload_through(ring, direction, target, source, (stream, wait))? },
        None => {
            let blocks = CopyBlocks::of(target.layout(), &source.layout)?;
            if let (true, CopyBlocks::One { dst, src, bytes }) = (wait, &blocks) {
                let (to, from) = (at(target.allocation().address(), *dst), at(source.address, *src));
                // SAFETY: the target is the memory of a borrowed array, and the caller guarantees a valid source.
                return unsafe { run_and_wait(target, direction, to, from, *bytes, stream) };
            }
            // SAFETY: the caller guarantees a valid source, as `to_device` requires.
            unsafe { upload_by_driver(direction, target, source, &blocks, stream)? };
        }
    }
    if wait { stream.synchronize() } else { Ok(()) }
}

/// Implements `to_host`, and `to_host_and_wait` if `wait` is set.
///
/// # Safety
/// The conditions of `to_host` apply; with `wait`, the memory must be valid until the function returns.
unsafe fn download(target: &HostBuffer, source: &Array, stream: &Stream, wait: bool) -> Result<()> {
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
            // SAFETY: the source is the memory of a borrowed array, and the caller guarantees a valid target; both may
            // be the same memory.
            unsafe { host_host::copy_overlapping(side_of_host(target), side_of(source)) }
        });
    }
    let direction = Direction::DeviceToHost(host);
    match ring_transfer::open(device, target, source.layout().nbytes() as usize, usize::MAX)? {
        // SAFETY: the caller guarantees that the target is writable wherever its layout reaches.
        Some(ring) => unsafe { download_through(ring, direction, target, source, stream)? },
        None => {
            let blocks = CopyBlocks::of(&target.layout, source.layout())?;
            if let (true, CopyBlocks::One { dst, src, bytes }) = (wait, &blocks) {
                let (to, from) = (at(target.address, *dst), at(source.allocation().address(), *src));
                // SAFETY: the source is the memory of a borrowed array, and the caller guarantees a valid target.
                return unsafe { run_and_wait(source, direction, to, from, *bytes, stream) };
            }
            // SAFETY: the caller guarantees a valid target, as `to_host` requires.
            unsafe { download_by_driver(direction, target, source, &blocks, stream)? };
        }
    }
    if wait { stream.synchronize() } else { Ok(()) }
}

/// Copies contiguous bytes and waits until the copy is complete. The function does as little as possible, because most
/// of the time of a small copy is call overhead.
///
/// # Safety
/// Both ranges must be valid.
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
        // SAFETY: the caller guarantees that source and target ranges are valid; the borrow keeps the stream alive.
        unsafe { device.backend().copy_and_wait(device.index(), direction, to, from, bytes as usize, stream.handle()) }
    })
}

/// Copies host memory into an array through the ring of pinned slots: directly if copy engines support the array's
/// layout, otherwise into dense device memory first.
///
/// # Safety
/// The host memory must be readable wherever its layout reaches.
unsafe fn upload_through(
    ring: ring_transfer::Ring<'_>,
    direction: Direction,
    target: &Array,
    source: &HostBuffer,
    (stream, wait): (&Stream, bool),
) -> Result<()> {
    let dense = target.layout().dense_like();
    if is_direct(&CopyBlocks::of(target.layout(), &dense)?) {
        // SAFETY: the caller guarantees that the source is readable wherever its layout reaches.
        return with_access(target, Access::Write, stream, || unsafe {
            ring.upload(direction, target, source, (stream, wait))
        });
    }
    let scratch = Array::on_new_memory(dense, target.dtype(), stream.clone())?;
    // SAFETY: the caller guarantees that the source is readable wherever its layout reaches.
    with_access(&scratch, Access::Write, stream, || unsafe {
        ring.upload(direction, &scratch, source, (stream, wait))
    })?;
    between(target, &scratch, stream)
}

/// Copies an array into host memory through the ring of pinned slots: directly if copy engines support the array's
/// layout, otherwise from a dense copy on the device.
///
/// # Safety
/// The host memory must be writable wherever its layout reaches.
unsafe fn download_through(
    ring: ring_transfer::Ring<'_>,
    direction: Direction,
    target: &HostBuffer,
    source: &Array,
    stream: &Stream,
) -> Result<()> {
    let dense = source.layout().dense_like();
    if is_direct(&CopyBlocks::of(&dense, source.layout())?) {
        // SAFETY: the caller guarantees that the target is writable wherever its layout reaches.
        return with_access(source, Access::Read, stream, || unsafe {
            ring.download(direction, target, source, stream)
        });
    }
    let scratch = Array::on_new_memory(dense, source.dtype(), stream.clone())?;
    between(&scratch, source, stream)?;
    // SAFETY: the caller guarantees that the target is writable wherever its layout reaches.
    with_access(&scratch, Access::Read, stream, || unsafe { ring.download(direction, target, &scratch, stream) })
}

/// Copies host memory into an array by driver calls, without the ring. The host packs the elements first if necessary.
///
/// # Safety
/// The conditions of `to_device` apply.
unsafe fn upload_by_driver(
    direction: Direction,
    target: &Array,
    source: &HostBuffer,
    blocks: &CopyBlocks,
    stream: &Stream,
) -> Result<()> {
    let is_captured = stream_captures::is_capturing(stream)?;
    if is_direct(blocks) || is_captured && is_even(blocks) {
        let (to, from) = (side_of(target), side_of_host(source));
        return with_access(target, Access::Write, stream, || {
            // SAFETY: the target is the memory of a borrowed array, and the caller guarantees a valid source.
            unsafe { copy_blocks(target.device(), direction, to, from, blocks, stream) }
        });
    }
    if is_captured {
        let scratch = Array::on_new_memory(source.layout.dense_like(), target.dtype(), stream.clone())?;
        let blocks = CopyBlocks::of(scratch.layout(), &source.layout)?;
        check_even(&blocks)?;
        // SAFETY: the caller guarantees a valid source. The recursion ends because evenly spaced rows are copied
        // directly.
        unsafe { upload_by_driver(direction, &scratch, source, &blocks, stream)? };
        return between(target, &scratch, stream);
    }
    let dense = target.layout().dense_like();
    let packed = host_host::Packed::new(&dense);
    // SAFETY: this function owns the packed buffer, which is as large as `dense`; the caller guarantees a valid source.
    unsafe { host_host::copy(packed.side(&dense), side_of_host(source))? };
    let packed_side = packed_side(&packed, &dense);
    let from_packed = CopyBlocks::of(target.layout(), &dense)?;
    if is_direct(&from_packed) {
        // SAFETY: the packed buffer is pageable memory, so the driver has read it when this call returns.
        return unsafe { upload_by_driver(direction, target, &packed_side, &from_packed, stream) };
    }
    let scratch = Array::on_new_memory(dense.clone(), target.dtype(), stream.clone())?;
    // SAFETY: this function owns the packed buffer, which is pageable, so the driver has read it when this call
    // returns. The recursion ends because two equal dense layouts form a single block.
    unsafe { upload_by_driver(direction, &scratch, &packed_side, &CopyBlocks::of(&dense, &dense)?, stream)? };
    between(target, &scratch, stream)
}

/// Copies an array into host memory by driver calls, without the ring. If necessary, the host unpacks the elements
/// after the driver's copy.
///
/// # Safety
/// The conditions of `to_host` apply.
unsafe fn download_by_driver(
    direction: Direction,
    target: &HostBuffer,
    source: &Array,
    blocks: &CopyBlocks,
    stream: &Stream,
) -> Result<()> {
    let is_captured = stream_captures::is_capturing(stream)?;
    if is_direct(blocks) || is_captured && is_even(blocks) {
        let (to, from) = (side_of_host(target), side_of(source));
        return with_access(source, Access::Read, stream, || {
            // SAFETY: the source is the memory of a borrowed array, and the caller guarantees a valid target.
            unsafe { copy_blocks(source.device(), direction, to, from, blocks, stream) }
        });
    }
    if is_captured {
        let scratch = Array::on_new_memory(target.layout.dense_like(), source.dtype(), stream.clone())?;
        let blocks = CopyBlocks::of(&target.layout, scratch.layout())?;
        check_even(&blocks)?;
        between(&scratch, source, stream)?;
        // SAFETY: the caller guarantees a valid target. The recursion ends because evenly spaced rows are copied
        // directly.
        return unsafe { download_by_driver(direction, target, &scratch, &blocks, stream) };
    }
    let dense = source.layout().dense_like();
    let into_packed = CopyBlocks::of(&dense, source.layout())?;
    if !is_direct(&into_packed) {
        let scratch = Array::on_new_memory(dense, source.dtype(), stream.clone())?;
        between(&scratch, source, stream)?;
        let blocks = CopyBlocks::of(&target.layout, scratch.layout())?;
        // SAFETY: the caller guarantees a valid target. The recursion ends because a dense source is copied directly.
        return unsafe { download_by_driver(direction, target, &scratch, &blocks, stream) };
    }
    let packed = host_host::Packed::new(&dense);
    // SAFETY: this function owns the packed buffer, which is pageable, so it contains the values when this call
    // returns.
    unsafe { download_by_driver(direction, &packed_side(&packed, &dense), source, &into_packed, stream)? };
    // SAFETY: this function owns the packed buffer, which is as large as `dense`; the caller guarantees a valid target.
    unsafe { host_host::copy(side_of_host(target), packed.side(&dense)) }
}

/// Returns whether a single driver copy can move the contiguous blocks of a copy, however narrow their rows are.
const fn is_even(blocks: &CopyBlocks) -> bool {
    matches!(blocks, CopyBlocks::One { .. } | CopyBlocks::Uniform(_))
}

/// Returns an error if the host would have to pack the data of a copy on a stream that is being captured.
fn check_even(blocks: &CopyBlocks) -> Result<()> {
    match is_even(blocks) {
        true => Ok(()),
        false => Err(stream_captures::refusal(
            "a copy of host memory whose elements lie in no even rows, and which the host packs,",
        )),
    }
}

fn packed_side(packed: &host_host::Packed, dense: &Layout) -> HostBuffer {
    HostBuffer { address: packed.address(), layout: dense.clone() }
}

/// Returns whether the driver can transfer the contiguous blocks of a copy directly, so that the host need not pack
/// them.
fn is_direct(blocks: &CopyBlocks) -> bool {
    match blocks {
        CopyBlocks::One { .. } => true,
        CopyBlocks::Uniform(uniform) => uniform.width >= NARROW,
        CopyBlocks::Many(many) => many.block.width >= NARROW && many.count() <= MANY,
    }
}
