//! Implements stream-ordered memory pools. Blocks are allocated and freed in stream order.
//!
//! The driver only counts the bytes of a pool. Addresses come from the device's address space and are reused only after
//! the free has run on its stream. A reuse of an address on another stream is therefore always ordered after the free.

use crate::arena::{FREED, FRESH};
use crate::byte_region::Region;
use crate::device::ALIGNMENT;
use crate::driver::Driver;
use crate::error_codes::{INVALID_VALUE, OUT_OF_MEMORY, Outcome};
use crate::finding::Kind;
use crate::history::Touch;
use crate::memory::{Block, spelled};
use crate::state::State;
use crate::worker::Then;

/// A pool grows to a multiple of this number of bytes, if the device has enough memory.
const PIECE: u64 = 2 << 20;

/// Stream-ordered pool.
#[derive(Clone, Default, Debug)]
pub struct Pool {
    pub(crate) device: usize,
    /// Whether the pool is the device's default pool, which is never destroyed.
    pub(crate) is_default: bool,
    /// Whether the program has destroyed the pool's handle. The pool itself exists as long as it contains blocks.
    pub(crate) destroyed: bool,
    /// Bytes that the pool holds: live blocks and unused memory.
    pub reserved: u64,
    /// Maximum of `reserved` since the program last reset it.
    pub reserved_peak: u64,
    /// Bytes of live blocks.
    pub used: u64,
    /// Maximum of `used` since the program last reset it.
    pub used_peak: u64,
    /// Bytes that the pool keeps when a stream or a device is synchronized.
    pub threshold: u64,
    /// The three policies for the reuse of memory: follow event dependencies, opportunistic reuse, and internal
    /// dependencies.
    pub reuse: [u64; 3],
}

impl Pool {
    /// Releases unused memory of the pool until it holds at most `keep` bytes, or only live blocks.
    pub(crate) fn shrink(&mut self, keep: u64) {
        self.reserved = self.reserved.min(keep.max(self.used.next_multiple_of(PIECE)).max(self.used));
    }
}

impl State {
    fn pool(&mut self, call: &'static str, handle: u64) -> Outcome<&mut Pool> {
        if self.pools.get(&handle).is_none_or(|pool| pool.destroyed) {
            self.note(Kind::BadHandle, call, format!("{handle:#x} is no pool, or was destroyed"));
        }
        self.pools.get_mut(&handle).filter(|pool| !pool.destroyed).ok_or(INVALID_VALUE)
    }

    fn default_pool(&mut self, device: usize) -> u64 {
        if let Some(handle) = self.devices[device].default_pool {
            return handle;
        }
        let handle = self.new_handle();
        self.pools.insert(handle, Pool { device, is_default: true, reuse: [1; 3], ..Pool::default() });
        self.devices[device].default_pool = Some(handle);
        handle
    }

    /// Adds a new block of `space` bytes to the bytes that a pool uses. The pool grows if needed.
    fn charge(&mut self, handle: u64, space: u64) -> Outcome<()> {
        let Some(pool) = self.pools.get(&handle) else { return Err(INVALID_VALUE) };
        let used = pool.used.checked_add(space).ok_or(OUT_OF_MEMORY)?;
        let whole = used.checked_next_multiple_of(PIECE).ok_or(OUT_OF_MEMORY)?;
        if used > pool.reserved && !self.grow(handle, whole) && !self.grow(handle, used) {
            return Err(OUT_OF_MEMORY);
        }
        let Some(pool) = self.pools.get_mut(&handle) else { return Err(INVALID_VALUE) };
        pool.used = used;
        pool.used_peak = pool.used_peak.max(used);
        Ok(())
    }

    /// Grows a pool to `bytes` bytes in total. Returns false if the device has too little memory.
    fn grow(&mut self, handle: u64, bytes: u64) -> bool {
        let Some(pool) = self.pools.get(&handle) else { return false };
        let (device, reserved) = (pool.device, pool.reserved);
        // Read the size of the pool again, because `has_room` may have shrunk this pool.
        let fits = self.has_room(device, bytes.saturating_sub(reserved)) && {
            let reserved = self.pools.get(&handle).map_or(0, |pool| pool.reserved);
            self.has_room(device, bytes.saturating_sub(reserved))
        };
        match self.pools.get_mut(&handle) {
            Some(pool) if fits => {
                pool.reserved = bytes;
                pool.reserved_peak = pool.reserved_peak.max(bytes);
                true
            }
            _ => false,
        }
    }

    /// Subtracts a freed block of `space` bytes from the bytes that a pool uses.
    pub(crate) fn credit(&mut self, handle: u64, space: u64) {
        let Some(pool) = self.pools.get_mut(&handle) else { return };
        pool.used = pool.used.saturating_sub(space);
        if pool.destroyed && pool.used == 0 {
            self.pools.remove(&handle);
        }
    }

    /// Shrinks the pools of a synchronized device to their release thresholds.
    pub(crate) fn settle_pools(&mut self, device: usize) {
        for pool in self.pools.values_mut().filter(|pool| pool.device == device) {
            pool.shrink(pool.threshold);
        }
    }
}

impl Driver {
    /// Creates a pool.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_pool(&self, device: i32) -> Outcome<u64> {
        let device = self.device(device)?;
        let mut state = self.lock();
        let handle = state.new_handle();
        state.pools.insert(handle, Pool { device, reuse: [1; 3], ..Pool::default() });
        Ok(handle)
    }

    /// Returns the device's default pool.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn default_pool(&self, device: i32) -> Outcome<u64> {
        let device = self.device(device)?;
        Ok(self.lock().default_pool(device))
    }

    /// Destroys the handle of a pool; its blocks stay valid.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn destroy_pool(&self, call: &'static str, handle: u64) -> Outcome<()> {
        let mut state = self.lock();
        let pool = state.pool(call, handle)?;
        if pool.is_default {
            return Err(INVALID_VALUE);
        }
        pool.destroyed = true;
        state.credit(handle, 0);
        Ok(())
    }

    /// Returns a copy of the state of a pool.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn pool(&self, call: &'static str, handle: u64) -> Outcome<Pool> {
        self.lock().pool(call, handle).cloned()
    }

    /// Changes the settings of a pool by the function `change`.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn change_pool(&self, call: &'static str, handle: u64, change: impl FnOnce(&mut Pool)) -> Outcome<()> {
        self.lock().pool(call, handle).map(change)
    }

    /// Releases unused memory of a pool.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn trim_pool(&self, call: &'static str, handle: u64, keep: u64) -> Outcome<()> {
        self.lock().refuse_unsafe()?;
        self.change_pool(call, handle, |pool| pool.shrink(keep))
    }

    /// Allocates a block in stream order. If no pool is specified, the block comes from the pool of the stream's
    /// device.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`, or another error code.
    pub fn allocate_from_pool(
        &self,
        call: &'static str,
        device: usize,
        pool: Option<u64>,
        bytes: u64,
        stream: u64,
    ) -> Outcome<u64> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let stream = state.resolve(call, device, stream)?;
        state.refuse_capturing(stream)?;
        let pool = match (pool, state.streams.get(&stream).map(|stream| stream.device)) {
            (Some(pool), _) => pool,
            (None, Some(device)) => state.default_pool(device),
            (None, None) => return Err(INVALID_VALUE),
        };
        let device = state.pool(call, pool)?.device;
        let space = bytes.checked_next_multiple_of(ALIGNMENT).filter(|_| bytes > 0).ok_or(INVALID_VALUE)?;
        state.charge(pool, space)?;
        let start = match state.place(device, bytes, Some(pool)) {
            Ok(start) => start,
            Err(code) => {
                state.credit(pool, space);
                return Err(code);
            }
        };
        let waits_for = state.order(stream);
        state.note_whole(call, stream, start, bytes);
        let poison = self.shared.arenas[device].poison(start, bytes, FRESH);
        // SAFETY: every use that is ordered after the allocation runs after this fill; any other use is reported as a
        // race.
        state.push(stream, waits_for, Some(Box::new(move || unsafe { poison.run() })), Then::Nothing)?;
        Ok(start)
    }

    /// Frees a block in stream order.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn free_in_order(&self, call: &'static str, device: usize, address: u64, stream: u64) -> Outcome<()> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let stream = state.resolve(call, device, stream)?;
        state.refuse_capturing(stream)?;
        if address == 0 {
            return Ok(());
        }
        state.freeable(call, address)?;
        let waits_for = state.order(stream);
        let Some(block) = state.bury(call, address) else { return Err(INVALID_VALUE) };
        let clock = state.streams.get(&stream).map(|stream| stream.clock.clone()).unwrap_or_default();
        if let Some(late) = block.history.unordered(stream, &clock, |stream| state.known(stream)) {
            let (name, other) = (state.stream_name(stream), state.stream_name(late.stream));
            let text = format!(
                "{call} on {name} frees {address:#x}, whose use by {} on {other} ({}) is not ordered before",
                late.call,
                spelled(&late.region)
            );
            state.note(Kind::UseAfterFree, call, text);
        }
        match block.pool {
            Some(pool) => state.credit(pool, block.space()),
            None => state.devices[block.device].plain -= block.space(),
        }
        let poison = self.shared.arenas[block.device].poison(address, block.bytes, FREED);
        let then = Then::Return { device: block.device, start: address, bytes: block.space() };
        // SAFETY: every use that is ordered before the free has run before this fill; any other use was reported as a
        // race.
        state.push(stream, waits_for, Some(Box::new(move || unsafe { poison.run() })), then).map(drop)
    }
}

impl State {
    /// Records the allocation as a write of the whole block by the stream's next operation.
    fn note_whole(&mut self, call: &'static str, stream: u64, start: u64, bytes: u64) {
        let Some(region) = Region::line(start, bytes) else { return };
        let number = self.streams.get(&stream).map_or(0, |stream| stream.submitted + 1);
        self.touch(Block::Device(start), Touch { region, write: true, stream, number, call });
    }
}
