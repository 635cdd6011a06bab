//! Implements the calls for devices and their primary contexts.

use std::collections::HashSet;

use crate::arena::Arena;
use crate::config::Config;
use crate::driver::Driver;
use crate::error_codes::{
    CONTEXT_IS_DESTROYED, INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, Outcome, PEER_ACCESS_ALREADY_ENABLED,
    PEER_ACCESS_NOT_ENABLED, PEER_ACCESS_UNSUPPORTED,
};
use crate::ranges::Ranges;
use crate::state::State;
use crate::stream::StreamKind;

/// Alignment of memory blocks in bytes.
pub const ALIGNMENT: u64 = 512;

pub(crate) struct Device {
    /// Handle of the primary context, or `None` while no primary context exists.
    context: Option<u64>,
    retained: u64,
    /// Error code that every call on the device returns after work on the device has failed; `None` if no work has
    /// failed.
    pub(crate) sticky: Option<u32>,
    /// Size of the device's memory. The next two fields contain the number of bytes allocated without a pool, and the
    /// free addresses.
    pub(crate) limit: u64,
    pub(crate) plain: u64,
    pub(crate) ranges: Ranges,
    pub(crate) legacy: u64,
    pub(crate) default_pool: Option<u64>,
    peers: HashSet<usize>,
}

impl Device {
    pub(crate) fn new(state: &mut State, index: usize, arena: &Arena, config: &Config) -> Self {
        let legacy = state.add_stream(index, StreamKind::Legacy, 0, None);
        // The first bytes of the address space are never allocated, so an address before the first block is detected as
        // out of bounds.
        let ranges = Ranges::new(arena.start() + ALIGNMENT, arena.bytes() - ALIGNMENT, config.quarantine);
        Self {
            context: None,
            retained: 0,
            sticky: None,
            limit: config.memory,
            plain: 0,
            ranges,
            legacy,
            default_pool: None,
            peers: HashSet::new(),
        }
    }
}

impl State {
    /// Returns the device's error code if earlier work on the device has failed.
    pub(crate) fn check(&self, device: usize) -> Outcome<()> {
        self.devices[device].sticky.map_or(Ok(()), Err)
    }

    fn has_device(&self, device: i32) -> Outcome<usize> {
        usize::try_from(device).ok().filter(|index| *index < self.devices.len()).ok_or(INVALID_DEVICE)
    }
}

impl Driver {
    /// Returns the number of devices.
    pub fn device_count(&self) -> usize {
        self.lock().devices.len()
    }

    /// Returns the index of a device.
    ///
    /// # Errors
    /// `INVALID_DEVICE`.
    pub fn device(&self, device: i32) -> Outcome<usize> {
        self.lock().has_device(device)
    }

    /// Retains the primary context of a device, creating it if needed.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn retain(&self, device: i32) -> Outcome<u64> {
        let mut state = self.lock();
        let device = state.has_device(device)?;
        state.check(device)?;
        let context = match state.devices[device].context {
            Some(context) => context,
            None => state.new_handle(),
        };
        state.contexts.insert(context, device);
        state.devices[device].context = Some(context);
        state.devices[device].retained += 1;
        Ok(context)
    }

    /// Releases the primary context; the last release destroys it.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn release(&self, device: i32) -> Outcome<()> {
        let mut state = self.lock();
        let index = state.has_device(device)?;
        match state.devices[index].retained {
            0 => return Err(INVALID_CONTEXT),
            1 => {
                drop(state);
                return self.reset(device);
            }
            retained => state.devices[index].retained = retained - 1,
        }
        Ok(())
    }

    /// Returns whether a device has a primary context.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn is_active(&self, device: i32) -> Outcome<bool> {
        let state = self.lock();
        Ok(state.devices[state.has_device(device)?].context.is_some())
    }

    /// Destroys the primary context of a device with all its objects.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn reset(&self, device: i32) -> Outcome<()> {
        let device = self.device(device)?;
        let mut state = self.drain(device);
        let index = device;
        if let Some(context) = state.devices[index].context.take() {
            state.contexts.remove(&context);
            state.dead_contexts.insert(context);
        }
        state.end_events(index);
        state.pools.retain(|_, pool| pool.device != index);
        state.per_thread.retain(|key, _| key.1 != index);
        let made = state.streams.iter().filter(|(_, one)| one.device == index && one.kind != StreamKind::Legacy);
        let ended: Vec<u64> = made.map(|(serial, _)| *serial).collect();
        ended.into_iter().for_each(|serial| state.end_stream(serial));
        state.learn(&crate::vector_clock::Clock::default());
        let gone: Vec<u64> = state.allocations.iter().filter(|entry| entry.1.device == index).map(|e| *e.0).collect();
        for start in gone {
            let Some(block) = state.bury("a reset of the device", start) else { continue };
            state.devices[index].ranges.give(start, block.space());
        }
        state.forget_host(index);
        state.forget_captures();
        let device = &mut state.devices[index];
        (device.retained, device.plain, device.sticky, device.default_pool) = (0, 0, None, None);
        device.peers.clear();
        Ok(())
    }

    /// Returns the device of a context.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for an unknown context, `CONTEXT_IS_DESTROYED` for a destroyed context.
    pub fn device_of_context(&self, context: u64) -> Outcome<usize> {
        let state = self.lock();
        match state.contexts.get(&context) {
            Some(device) => Ok(*device),
            None if state.dead_contexts.contains(&context) => Err(CONTEXT_IS_DESTROYED),
            None => Err(INVALID_CONTEXT),
        }
    }

    /// Returns the device of a context, on which no earlier work has failed.
    ///
    /// # Errors
    /// As [`Self::device_of_context`], or the code of earlier work that failed on the device.
    pub fn usable(&self, context: u64) -> Outcome<usize> {
        let device = self.device_of_context(context)?;
        self.lock().check(device)?;
        Ok(device)
    }

    /// Returns the handle of a new context of the device, for programs that create a context in addition to the primary
    /// context.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn create_context(&self, device: i32) -> Outcome<u64> {
        let mut state = self.lock();
        let device = state.has_device(device)?;
        state.check(device)?;
        let context = state.handles.take();
        state.contexts.insert(context, device);
        Ok(context)
    }

    /// Destroys a context that `create_context` returned.
    ///
    /// # Errors
    /// `INVALID_CONTEXT` for a value that `create_context` did not return.
    pub fn destroy_context(&self, context: u64) -> Outcome<()> {
        let device = self.device_of_context(context)?;
        let mut state = self.drain(device);
        if state.devices[device].context == Some(context) {
            return Err(INVALID_CONTEXT);
        }
        state.contexts.remove(&context);
        state.dead_contexts.insert(context);
        Ok(())
    }

    /// Returns the primary context of a device, if it exists.
    pub fn context(&self, device: usize) -> Option<u64> {
        self.lock().devices[device].context
    }

    /// Checks that no work on a device has failed.
    ///
    /// # Errors
    /// The code of the work that failed.
    pub fn check_device(&self, device: usize) -> Outcome<()> {
        self.lock().check(device)
    }

    /// Marks a device as failed: every later call that needs its context returns `code`.
    pub fn break_device(&self, device: usize, code: u32) {
        if let Some(device) = self.lock().devices.get_mut(device) {
            device.sticky = Some(code);
        }
    }

    /// Clears all injected faults, delays and failures of devices. With a real driver, a program can use a failed
    /// device again only in a new process.
    pub fn revive(&self) {
        self.faults.clear();
        let mut state = self.lock();
        state.delays.clear();
        state.delay = self.config.delay;
        for index in 0..state.devices.len() {
            if state.devices[index].sticky.take().is_some() {
                state.forget_registered(index);
                state.forget_captures();
            }
            state.devices[index].limit = self.config.memory;
        }
    }

    /// Returns whether two devices can access each other's memory. In the simulation every pair of devices can.
    ///
    /// # Errors
    /// `INVALID_DEVICE`.
    pub fn can_access_peer(&self, device: i32, peer: i32) -> Outcome<bool> {
        let state = self.lock();
        Ok(state.has_device(device)? != state.has_device(peer)?)
    }

    /// Enables the access of a device to the memory of another device.
    pub fn enable_peer(&self, device: usize, peer: usize) -> Outcome<()> {
        if device == peer {
            return Err(PEER_ACCESS_UNSUPPORTED);
        }
        let mut state = self.lock();
        if state.devices[device].peers.insert(peer) { Ok(()) } else { Err(PEER_ACCESS_ALREADY_ENABLED) }
    }

    /// Disables the access of a device to the memory of another device.
    pub fn disable_peer(&self, device: usize, peer: usize) -> Outcome<()> {
        let mut state = self.lock();
        if state.devices[device].peers.remove(&peer) { Ok(()) } else { Err(PEER_ACCESS_NOT_ENABLED) }
    }

    /// Returns the free and the total bytes of a device's memory.
    pub fn memory_info(&self, device: usize) -> (u64, u64) {
        let state = self.lock();
        let limit = state.devices[device].limit;
        (limit.saturating_sub(state.held(device)), limit)
    }

    /// Sets the size of a device's memory.
    ///
    /// # Errors
    /// `INVALID_VALUE` if the size exceeds the device's address space.
    pub fn set_memory_limit(&self, device: i32, bytes: u64) -> Outcome<()> {
        let mut state = self.lock();
        let device = state.has_device(device)?;
        if bytes > self.shared.arenas[device].bytes() {
            return Err(INVALID_VALUE);
        }
        state.devices[device].limit = bytes;
        Ok(())
    }

    /// Allows or forbids host code to access a device's memory at the addresses that programs use.
    ///
    /// # Errors
    /// The error code that the vendor's driver returns for an invalid argument or state.
    pub fn unseal(&self, device: i32, open: bool) -> Outcome<()> {
        let device = self.device(device)?;
        self.shared.arenas[device].unseal(open).map_err(|_| crate::error_codes::OPERATING_SYSTEM)
    }
}
