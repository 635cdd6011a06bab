//! Implements device memory: blocks with checked bounds, which are filled with poison values when they are allocated
//! and when they are freed.

use crate::arena::{FREED, FRESH};
use crate::byte_region::Region;
use crate::device::ALIGNMENT;
use crate::driver::Driver;
use crate::error_codes::{INVALID_VALUE, OUT_OF_MEMORY, Outcome};
use crate::finding::Kind;
use crate::history::{History, Touch};
use crate::ipc;
use crate::state::State;

/// Describes a block that is allocated and not yet freed.
pub(crate) struct Allocation {
    pub(crate) device: usize,
    /// Requested size in bytes; accesses beyond this size are out of bounds.
    pub(crate) bytes: u64,
    pub(crate) pool: Option<u64>,
    pub(crate) history: History,
}

impl Allocation {
    /// Returns the number of bytes that the block occupies in the address space, which is the rounded size.
    pub(crate) fn space(&self) -> u64 {
        self.bytes.next_multiple_of(ALIGNMENT)
    }
}

/// Describes a freed block whose addresses are not reused yet.
pub(crate) struct Dead {
    bytes: u64,
    /// Name of the call that freed the block.
    call: &'static str,
}

impl State {
    /// Returns the live block that contains an address.
    pub(crate) fn block_at(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (start, block) = self.allocations.range(..=address).next_back()?;
        (address - start < block.bytes).then_some((*start, block))
    }

    /// Returns the freed block that contained an address.
    pub(crate) fn dead_at(&self, address: u64) -> Option<(u64, &Dead)> {
        let (start, dead) = self.dead.range(..=address).next_back()?;
        (address - start < dead.bytes).then_some((*start, dead))
    }

    /// Assigns addresses to a new block.
    pub(crate) fn place(&mut self, device: usize, bytes: u64, pool: Option<u64>) -> Outcome<u64> {
        let block = Allocation { device, bytes, pool, history: History::default() };
        let space = block.space();
        let start = self.devices[device].ranges.take(space).ok_or(OUT_OF_MEMORY)?;
        let gone: Vec<u64> = self
            .dead
            .range(..start + space)
            .rev()
            .map_while(|(old, dead)| (old + dead.bytes.next_multiple_of(ALIGNMENT) > start).then_some(*old))
            .collect();
        for old in gone {
            self.dead.remove(&old);
        }
        self.allocations.insert(start, block);
        Ok(start)
    }

    /// Marks a block as freed. The addresses of the block are not reused at once.
    pub(crate) fn bury(&mut self, call: &'static str, start: u64) -> Option<Allocation> {
        let block = self.allocations.remove(&start)?;
        ipc::end(start);
        self.dead.insert(start, Dead { bytes: block.bytes, call });
        Some(block)
    }

    /// Returns the live block that begins at an address which the program passes to a free.
    pub(crate) fn freeable(&mut self, call: &'static str, address: u64) -> Outcome<&Allocation> {
        if !self.allocations.contains_key(&address) {
            let (kind, text) = match self.dead.get(&address) {
                Some(dead) => (Kind::DoubleFree, format!("{address:#x} was freed before, by {}", dead.call)),
                None => (Kind::BadAddress, format!("{address:#x} is not the first byte of an allocation")),
            };
            self.note(kind, call, text);
        }
        self.allocations.get(&address).ok_or(INVALID_VALUE)
    }

    /// Returns the number of bytes of a device that are in plain allocations or held by pools.
    pub(crate) fn held(&self, device: usize) -> u64 {
        let pools: u64 = self.pools.values().filter(|pool| pool.device == device).map(|pool| pool.reserved).sum();
        self.devices[device].plain + pools
    }

    /// Returns whether `bytes` more bytes of a device are available. If needed, the device's pools release their unused
    /// memory.
    pub(crate) fn has_room(&mut self, device: usize, bytes: u64) -> bool {
        let limit = self.devices[device].limit;
        let fits = |held: u64| held.checked_add(bytes).is_some_and(|sum| sum <= limit);
        if !fits(self.held(device)) {
            self.pools.values_mut().filter(|pool| pool.device == device).for_each(|pool| pool.shrink(0));
        }
        fits(self.held(device))
    }

    /// Records that an operation accesses bytes of a block, and reports a race with an earlier access.
    pub(crate) fn touch(&mut self, block: Block, touch: Touch) {
        let (stream, region, call) = (touch.stream, touch.region, touch.call);
        let does = if touch.write { "writes" } else { "reads" };
        let clock = self.streams.get(&stream).map(|stream| stream.clock.clone()).unwrap_or_default();
        // Take the access history of the block out of its map during this call, because recording an access also
        // borrows the streams in `self`.
        let mut history = match self.history(block) {
            Some(history) => std::mem::take(history),
            None => return,
        };
        let race = history.note(touch, &clock, |stream| self.known(stream));
        if let Some(place) = self.history(block) {
            *place = history;
        }
        let Some(old) = race else { return };
        let did = if old.write { "writes" } else { "reads" };
        let (name, other) = (self.stream_name(stream), self.stream_name(old.stream));
        let text = format!(
            "{call} on {name} {does} {}; {} on {other} {did} {}; nothing orders the two",
            spelled(&region),
            old.call,
            spelled(&old.region),
        );
        self.note(Kind::Race, call, text);
    }

    fn history(&mut self, block: Block) -> Option<&mut History> {
        match block {
            Block::Device(start) => self.allocations.get_mut(&start).map(|block| &mut block.history),
            Block::Host(start) => self.host.get_mut(&start).map(|block| &mut block.history),
            Block::Pageable => None,
        }
    }
}

/// Kind of a memory block. Blocks that the driver manages are identified by the address of their first byte.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Block {
    /// Device memory.
    Device(u64),
    /// Host memory that the driver allocated or pinned.
    Host(u64),
    /// Any other host memory.
    Pageable,
}

/// Formats a region.
pub(crate) fn spelled(region: &Region) -> String {
    let extent = region.extent;
    if region.is_line() {
        format!("{} bytes at {:#x}", extent.width, region.start)
    } else {
        format!("{}x{} rows of {} bytes from {:#x}", extent.depth, extent.height, extent.width, region.start)
    }
}

impl Driver {
    /// Allocates a block that belongs to no pool.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`, or another error code.
    pub fn allocate(&self, device: usize, bytes: u64) -> Outcome<u64> {
        let mut state = self.lock();
        state.refuse_unsafe()?;
        let space = bytes.checked_next_multiple_of(ALIGNMENT).filter(|_| bytes > 0).ok_or(INVALID_VALUE)?;
        if !state.has_room(device, space) {
            return Err(OUT_OF_MEMORY);
        }
        let start = state.place(device, bytes, None)?;
        state.devices[device].plain += space;
        drop(state);
        // SAFETY: the block is new, so no other code has its address yet.
        unsafe { self.shared.arenas[device].poison(start, bytes, FRESH).run() };
        Ok(start)
    }

    /// Frees a block, after waiting for its device.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn free(&self, call: &'static str, address: u64) -> Outcome<()> {
        if address == 0 {
            return Ok(());
        }
        self.lock().refuse_unsafe()?;
        let device = self.lock().freeable(call, address)?.device;
        let mut state = self.drain(device);
        state.check(device)?;
        // While this thread waited for the device, another thread may have freed the block.
        state.freeable(call, address)?;
        let Some(block) = state.bury(call, address) else { return Err(INVALID_VALUE) };
        match block.pool {
            Some(pool) => state.credit(pool, block.space()),
            None => state.devices[device].plain -= block.space(),
        }
        // SAFETY: the device is idle and the block is freed. This thread holds the lock, so no other thread can reuse
        // the addresses of the block.
        unsafe { self.shared.arenas[device].poison(address, block.bytes, FREED).run() };
        state.devices[device].ranges.give(address, block.space());
        Ok(())
    }
}
