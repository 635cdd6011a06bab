//! Defines HIP's event functions.

use simulated_core::error_codes::INVALID_VALUE;

use crate::entry::{Out, export};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

export! {
    fn hipEventCreateWithFlags(on, event: Out<u64>, flags: u32) {
        event.check()?;
        let device = on.device()?;
        let timing = flags & DISABLE_TIMING == 0;
        if flags > 7 || (timing && flags & INTERPROCESS != 0) {
            return Err(INVALID_VALUE);
        }
        event.put(on.driver.create_event(device, timing)?)
    }

    fn hipEventDestroy(on, event: u64) {
        on.device()?;
        on.driver.destroy_event(on.name, event)
    }

    fn hipEventRecord(on, event: u64, stream: u64) {
        on.driver.record_event(on.name, on.device()?, event, stream)
    }

    fn hipEventQuery(on, event: u64) {
        on.device()?;
        on.driver.query_event(on.name, event)
    }

    fn hipEventSynchronize(on, event: u64) {
        on.device()?;
        on.driver.synchronize_event(on.name, event)
    }

    fn hipEventElapsedTime(on, milliseconds: Out<f32>, start: u64, end: u64) {
        on.device()?;
        milliseconds.put(on.driver.elapsed(on.name, start, end)?)
    }
}
