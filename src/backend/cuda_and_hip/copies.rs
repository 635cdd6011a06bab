//! Copies and fills memory in stream order, through CUDA or HIP.

use super::current_context::CurrentDeviceGuard;
use super::driver::Driver;
use super::memory::VendorMemory;
use super::pitched_copies::{PitchedBox, PitchedCopyKind, plan};
use super::streams::VendorStreams;
use super::symbols::Raw;
use crate::error_codes::SUCCESS;
use crate::{Address, Copies, Direction, Extent, Pattern, Pitched, PointerKind, StreamHandle, Streams};
use pygpu_base::error::{Error, Result};

/// Vendor-specific part of copies. The caller of each function makes the device current, and guarantees the conditions
/// of the corresponding function in [`Copies`]. A returned number is the driver's error code.
pub trait VendorCopies: VendorMemory + VendorStreams {
    const PLANE: &'static str;
    const BOX: &'static str;
    /// Whether the driver may still access pageable host memory after a copy of several rows has returned.
    const BOXES_RETURN_EARLY: bool;
    /// Returns the name of the driver's function that copies a contiguous range.
    fn line_name(direction: Direction) -> &'static str;
    /// Returns the direction of a copy for error messages. The text is empty if the name of the driver's function
    /// contains the direction.
    fn direction_suffix(direction: Direction) -> String;
    /// Copies a contiguous range.
    ///
    /// # Safety
    /// See [`Copies::copy`].
    unsafe fn line(
        driver: &Driver<Self>,
        direction: Direction,
        to: Address,
        from: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> u32;
    /// Copies the rows of one plane.
    ///
    /// # Safety
    /// See [`Copies::copy_pitched`].
    unsafe fn plane(driver: &Driver<Self>, sides: &PitchedBox, direction: Direction, stream: StreamHandle) -> u32;
    /// Copies a 3-D region of several planes.
    ///
    /// # Safety
    /// See [`Copies::copy_pitched`].
    unsafe fn cuboid(driver: &Driver<Self>, sides: &PitchedBox, direction: Direction, stream: StreamHandle) -> u32;
    /// Copies a range on the legacy default stream and waits for the copy, by one driver call. Returns `None` if the
    /// driver has no such call. The call does not depend on the current device.
    ///
    /// # Safety
    /// See [`Copies::copy_and_wait`].
    unsafe fn line_at_once(
        _driver: &Driver<Self>,
        _device: i32,
        _direction: Direction,
        _target: Address,
        _source: Address,
        _bytes: usize,
    ) -> Option<Result<()>> {
        None
    }
    /// Returns the value that identifies a device in the driver's function for copies between two devices.
    ///
    /// # Errors
    /// The driver's error, for a number that no device has.
    fn peer(driver: &Driver<Self>, device: i32, operation: &'static str) -> Result<Self::Peer>;
    /// Returns the name of the driver's function that fills one row or several rows with a pattern.
    fn fill_name(pattern: Pattern, one_row: bool) -> &'static str;
    /// Fills one row with four-byte words.
    ///
    /// # Safety
    /// See [`Copies::fill`].
    unsafe fn fill_32(driver: &Driver<Self>, target: Address, value: u32, count: usize, stream: StreamHandle) -> u32;
    /// Fills several rows; `None` if the driver has no call for them.
    ///
    /// # Safety
    /// See [`Copies::fill`].
    unsafe fn fill_rows(
        driver: &Driver<Self>,
        target: (Address, usize),
        pattern: Pattern,
        extent: (usize, usize),
        stream: StreamHandle,
    ) -> Option<u32>;
}

/// Makes driver calls until one of them fails. The iterator makes one driver call for each of its elements; the element
/// is the code that the call returned. Returns the code of the failed call, or success.
pub fn until_refused(mut codes: impl Iterator<Item = u32>) -> u32 {
    codes.find(|code| *code != SUCCESS).unwrap_or(SUCCESS)
}

/// Returns the size of a pattern in bytes.
pub const fn size(pattern: Pattern) -> usize {
    match pattern {
        Pattern::U8(_) => 1,
        Pattern::U16(_) => 2,
        Pattern::U32(_) => 4,
    }
}

impl<V: VendorCopies> Driver<V> {
    /// Waits for a copy if the driver may still access pageable host memory after the driver's copy function has
    /// returned. On machines whose device reads the host's page tables (Grace, POWER, MI300A) the driver need not copy
    /// such memory to a staging buffer, so the copy may still be in progress at that time.
    #[inline]
    fn settle(
        &self,
        current: &CurrentDeviceGuard<'_, V>,
        device: i32,
        returned_early: bool,
        direction: Direction,
        (target, source): (Address, Address),
        stream: StreamHandle,
    ) -> Result<()> {
        let host_side = match direction {
            Direction::DeviceToDevice => return Ok(()),
            Direction::HostToDevice(_) => source,
            Direction::DeviceToHost(_) => target,
        };
        if !(current.slot.reads_pageable || returned_early) || V::kind_of(self, host_side)? != PointerKind::Unregistered
        {
            return Ok(());
        }
        // SAFETY: the caller that enqueued the copy guarantees that the stream is alive.
        match self.beside_captures(|| unsafe { (self.symbols.stream_synchronize)(Raw::of(stream.0)) }) {
            SUCCESS => Ok(()),
            code => Err(self.refusal(code, V::NAMES.stream_synchronize, Some(device), "after a copy".to_owned())),
        }
    }

    /// Enqueues the driver's copies of a [`PitchedCopyKind`] until one fails. Returns the code of the failed call, or
    /// success.
    ///
    /// # Safety
    /// See [`Copies::copy_pitched`]; the device is current.
    unsafe fn start(&self, plan: PitchedCopyKind, direction: Direction, stream: StreamHandle) -> u32 {
        // SAFETY: every part lies within the copied region, which the caller guarantees to be valid.
        unsafe {
            match plan {
                PitchedCopyKind::Nothing | PitchedCopyKind::Line(_) => SUCCESS,
                PitchedCopyKind::Plane(sides) => V::plane(self, &sides, direction, stream),
                PitchedCopyKind::Box(sides) => V::cuboid(self, &sides, direction, stream),
                PitchedCopyKind::EachPlane(sides) => {
                    let planes = (0..sides.extent.depth).map(|position| sides.plane(position));
                    until_refused(planes.map(|sides| V::plane(self, &sides, direction, stream)))
                }
                PitchedCopyKind::EachRow(sides) => {
                    let Extent { width, height, depth } = sides.extent;
                    let rows = (0..depth).flat_map(|plane| (0..height).map(move |row| (plane, row)));
                    until_refused(rows.map(|(plane, row)| {
                        let (to, from) = sides.row(plane, row);
                        V::line(self, direction, to, from, width, stream)
                    }))
                }
            }
        }
    }

    /// Fills one row with a repeated pattern.
    ///
    /// # Safety
    /// See [`Copies::fill`]; the device is current.
    pub unsafe fn fill_row(&self, target: Address, pattern: Pattern, count: usize, stream: StreamHandle) -> u32 {
        let (to, on) = (Raw::of(target), Raw::of(stream.0));
        // SAFETY: the caller guarantees that the row is valid and aligned for the pattern.
        unsafe {
            match pattern {
                Pattern::U8(value) => (self.symbols.fill_8)(to, value, count, on),
                Pattern::U16(value) => (self.symbols.fill_16)(to, value, count, on),
                Pattern::U32(value) => V::fill_32(self, target, value, count, stream),
            }
        }
    }
}

// For all SAFETY notes in this block: the caller guarantees the conditions of the driver call.
impl<V: VendorCopies> Copies for Driver<V> {
    #[inline]
    unsafe fn copy(
        &self,
        device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let operation = V::line_name(direction);
        let current = self.enter(device, operation)?;
        // SAFETY: the caller guarantees the conditions of the driver call.
        match unsafe { V::line(self, direction, target, source, bytes, stream) } {
            SUCCESS => self.settle(&current, device, false, direction, (target, source), stream),
            code => {
                let suffix = V::direction_suffix(direction);
                let detail = format!("{suffix}{bytes} bytes from {source:#x} to {target:#x}, stream {:#x}", stream.0);
                Err(self.refusal(code, operation, Some(device), detail))
            }
        }
    }

    unsafe fn copy_and_wait(
        &self,
        device: i32,
        direction: Direction,
        target: Address,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        // SAFETY: the caller guarantees the conditions of the driver call.
        unsafe {
            if stream == StreamHandle::DEFAULT
                && bytes != 0
                && let Some(done) = V::line_at_once(self, device, direction, target, source, bytes)
            {
                return done;
            }
            self.copy(device, direction, target, source, bytes, stream)?;
            self.synchronize_stream(device, stream)
        }
    }

    unsafe fn copy_pitched(
        &self,
        device: i32,
        direction: Direction,
        target: Pitched,
        source: Pitched,
        extent: Extent,
        stream: StreamHandle,
    ) -> Result<()> {
        let max_pitch = self.slot(device, V::PLANE)?.max_pitch;
        let suffix = || V::direction_suffix(direction);
        let detail = || format!("{}{extent:?} from {source:?} to {target:?}, stream {:#x}", suffix(), stream.0);
        let Some(plan) = plan(target, source, extent, max_pitch) else {
            return Err(Error::value(format!("the box does not fit the address space: {}", detail())));
        };
        let operation = match plan {
            PitchedCopyKind::Nothing => return Ok(()),
            // SAFETY: the copied region is one contiguous range of this many bytes, which the caller guarantees to be
            // valid.
            PitchedCopyKind::Line(bytes) => unsafe {
                return self.copy(device, direction, target.address, source.address, bytes, stream);
            },
            PitchedCopyKind::EachRow(_) => V::line_name(direction),
            PitchedCopyKind::Plane(_) | PitchedCopyKind::EachPlane(_) => V::PLANE,
            PitchedCopyKind::Box(_) => V::BOX,
        };
        let current = self.enter(device, operation)?;
        let addresses = (target.address, source.address);
        // SAFETY: the caller guarantees the conditions of the driver call.
        match unsafe { self.start(plan, direction, stream) } {
            SUCCESS => self.settle(&current, device, V::BOXES_RETURN_EARLY, direction, addresses, stream),
            code => Err(self.refusal(code, operation, Some(device), detail())),
        }
    }

    unsafe fn copy_peer(
        &self,
        target_device: i32,
        target: Address,
        source_device: i32,
        source: Address,
        bytes: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let operation = V::NAMES.copy_peer;
        let (to, from) = (V::peer(self, target_device, operation)?, V::peer(self, source_device, operation)?);
        // SAFETY: the caller guarantees the conditions of the driver call; both devices exist.
        let copy = |on: &CurrentDeviceGuard<'_, V>| unsafe {
            (on.symbols.copy_peer)(Raw::of(target), to, Raw::of(source), from, bytes, Raw::of(stream.0))
        };
        self.call(source_device, operation, copy, || {
            let ends = format!("from {source:#x} to {target:#x} on device {target_device}");
            format!("{bytes} bytes {ends}, stream {:#x}", stream.0)
        })
    }

    unsafe fn fill(
        &self,
        device: i32,
        target: Address,
        pitch: usize,
        pattern: Pattern,
        count: usize,
        height: usize,
        stream: StreamHandle,
    ) -> Result<()> {
        if count == 0 || height == 0 {
            return Ok(());
        }
        let detail =
            || format!("{pattern:?}, {count} times in each of {height} rows {pitch} bytes apart from {target:#x}");
        let width = count.checked_mul(size(pattern));
        let end = (height - 1).checked_mul(pitch).and_then(|rows| rows.checked_add(width?)?.checked_add(target));
        if end.is_none() {
            return Err(Error::value(format!("the rows do not fit the address space: {}", detail())));
        }
        let gapless = width == Some(pitch);
        let (count, height) = if gapless { (count.saturating_mul(height), 1) } else { (count, height) };
        let operation = V::fill_name(pattern, height == 1);
        let current = self.enter(device, operation)?;
        let within_limit = pitch <= current.slot.max_pitch;
        // SAFETY: the caller guarantees that all rows are valid.
        let code = unsafe {
            let in_one_call = || V::fill_rows(self, (target, pitch), pattern, (count, height), stream);
            if height == 1 {
                self.fill_row(target, pattern, count, stream)
            } else if let Some(code) = within_limit.then(in_one_call).flatten() {
                code
            } else {
                // If the pitch exceeds the driver's limit, each row is filled by a separate call. Such rows are
                // gigabytes apart, so few calls are needed.
                let rows = (0..height).map(|row| target + row * pitch);
                until_refused(rows.map(|row| self.fill_row(row, pattern, count, stream)))
            }
        };
        if code == SUCCESS { Ok(()) } else { Err(self.refusal(code, operation, Some(device), detail())) }
    }
}
