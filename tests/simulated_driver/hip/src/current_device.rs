//! Stores the current device of each thread.

use std::cell::Cell;

use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::stream::PRIORITIES;

use crate::entry::{Out, export};

thread_local! {
    static DEVICE: Cell<i32> = const { Cell::new(0) };
}

/// Returns the current device of the calling thread: device 0 if the thread has not set one.
pub fn device() -> i32 {
    DEVICE.try_with(Cell::get).unwrap_or(0)
}

export! {
    fn hipGetDevice(_on, target: Out<i32>) {
        target.put(device())
    }

    fn hipSetDevice(on, device: i32) {
        on.driver.device(device)?;
        // Ignore the error of storing the thread-local value, which occurs only while the thread terminates.
        let _ = DEVICE.try_with(|current| current.set(device));
        Ok(())
    }

    fn hipDeviceSynchronize(on) {
        on.driver.synchronize_device(on.device()?)
    }

    fn hipDeviceReset(on) {
        on.driver.reset(device())
    }

    fn hipDeviceGetStreamPriorityRange(on, least: Out<i32>, greatest: Out<i32>) {
        on.device()?;
        least.put_if_wanted(PRIORITIES.0);
        greatest.put_if_wanted(PRIORITIES.1);
        Ok(())
    }

    fn hipDeviceEnablePeerAccess(on, peer: i32, flags: u32) {
        let device = on.device()?;
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        on.driver.enable_peer(device, on.driver.device(peer)?)
    }

    fn hipDeviceDisablePeerAccess(on, peer: i32) {
        let device = on.device()?;
        on.driver.disable_peer(device, on.driver.device(peer)?)
    }
}
