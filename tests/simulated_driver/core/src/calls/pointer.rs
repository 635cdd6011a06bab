//! Looks up addresses, and checks the memory accesses of an operation before it is enqueued.

use crate::byte_region::Region;
use crate::driver::Driver;
use crate::error_codes::{INVALID_DEVICE, INVALID_VALUE, Outcome};
use crate::finding::Kind;
use crate::host::HostKind;
use crate::memory::{Block, spelled};
use crate::state::State;

/// Describes an address in memory that the driver manages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Known {
    /// Kind of host memory, or `None` if the address is in device memory.
    pub host: Option<HostKind>,
    /// Device that owns the memory, or for which it was pinned.
    pub device: usize,
    /// Address of the first byte of the block.
    pub start: u64,
    /// Size of the block in bytes.
    pub bytes: u64,
}

/// Lowest address at which the operating system maps memory for a program.
const LOWEST: u64 = 4096;

impl Driver {
    /// Returns the properties of an address, or `None` if the address is not in memory that the driver manages.
    pub fn known(&self, address: u64) -> Option<Known> {
        let state = self.lock();
        if let Some((start, block)) = state.block_at(address) {
            return Some(Known { host: None, device: block.device, start, bytes: block.bytes });
        }
        let (start, block) = state.host_at(address)?;
        Some(Known { host: Some(block.kind), device: block.device, start, bytes: block.bytes })
    }

    /// Checks that a range is managed memory and that the location `place` exists; -1 is the host.
    ///
    /// # Errors
    /// `INVALID_VALUE` for memory that is not managed; `INVALID_DEVICE` for a location that does not exist.
    pub fn check_managed(&self, address: u64, bytes: u64, place: i32) -> Outcome<()> {
        let known = self.known(address).filter(|known| known.host == Some(HostKind::Managed)).ok_or(INVALID_VALUE)?;
        if bytes == 0 || bytes > known.bytes - (address - known.start) {
            return Err(INVALID_VALUE);
        }
        if place < -1 || usize::try_from(place).is_ok_and(|place| place >= self.device_count()) {
            return Err(INVALID_DEVICE);
        }
        Ok(())
    }

    fn is_of_a_device(&self, region: &Region) -> bool {
        self.shared.arenas.iter().any(|arena| arena.contains(region.start) || arena.contains(region.end() - 1))
    }

    /// Returns the block that contains a region which the program passed as device memory. Pinned host memory is
    /// allowed too.
    pub(crate) fn locate_device(&self, state: &mut State, call: &'static str, region: &Region) -> Outcome<Block> {
        let (first, last) = (region.start, region.end() - 1);
        if let Some((start, block)) = state.block_at(first) {
            if last - start < block.bytes {
                return Ok(Block::Device(start));
            }
            let text = format!("{} leave the allocation of {} bytes at {start:#x}", spelled(region), block.bytes);
            state.note(Kind::OutOfBounds, call, text);
            return Err(INVALID_VALUE);
        }
        if let Some((start, block)) = state.host_at(first)
            && last - start < block.bytes
        {
            return Ok(Block::Host(start));
        }
        let (kind, text) = if let Some((start, _)) = state.dead_at(first) {
            (Kind::UseAfterFree, format!("{} lie in the allocation at {start:#x}, which was freed", spelled(region)))
        } else if self.is_of_a_device(region) {
            (Kind::OutOfBounds, format!("{} lie in no allocation", spelled(region)))
        } else {
            (Kind::BadAddress, format!("{} are not memory of a device", spelled(region)))
        };
        state.note(kind, call, text);
        Err(INVALID_VALUE)
    }

    /// Returns the block that contains a region which the program passed as host memory.
    pub(crate) fn locate_host(&self, state: &mut State, call: &'static str, region: &Region) -> Outcome<Block> {
        if region.start < LOWEST {
            return Err(INVALID_VALUE);
        }
        if self.is_of_a_device(region) {
            let text = format!("{} are memory of a device where that of the host was asked for", spelled(region));
            state.note(Kind::BadAddress, call, text);
            return Err(INVALID_VALUE);
        }
        let last = region.end() - 1;
        match (state.host_at(region.start), state.host_at(last)) {
            (Some((first, _)), Some((second, _))) if first == second => Ok(Block::Host(first)),
            (None, None) => Ok(Block::Pageable),
            _ => {
                let text = format!("{} are pinned in part", spelled(region));
                state.note(Kind::OutOfBounds, call, text);
                Err(INVALID_VALUE)
            }
        }
    }

    /// Returns the address at which worker threads can access a byte of a block.
    pub(crate) fn reachable(&self, state: &State, block: Block, address: u64) -> u64 {
        match block {
            Block::Device(start) => {
                let device = state.allocations.get(&start).map_or(0, |block| block.device);
                let arena = &self.shared.arenas[device];
                // A variable of a kernel's image is in ordinary host memory, outside of the memory that simulates the
                // device.
                if arena.contains(address) { arena.private(address) } else { address }
            }
            Block::Host(_) | Block::Pageable => address,
        }
    }
}
