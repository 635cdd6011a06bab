//! Defines CUDA's event functions.

use simulated_core::error_codes::INVALID_VALUE;

use crate::entry::{Out, export};

const DISABLE_TIMING: u32 = 2;
const INTERPROCESS: u32 = 4;

export! {
    fn cuEventCreate(on, event: Out<u64>, flags: u32) {
        event.check()?;
        let device = on.device()?;
        let timing = flags & DISABLE_TIMING == 0;
        if flags > 7 || (timing && flags & INTERPROCESS != 0) {
            return Err(INVALID_VALUE);
        }
        event.put(on.driver.create_event(device, timing)?)
    }

    fn cuEventDestroy_v2(on, event: u64) {
        on.device()?;
        on.driver.destroy_event(on.name, event)
    }

    fn cuEventRecord(on, event: u64, stream: u64) {
        on.driver.record_event(on.name, on.device()?, event, stream)
    }

    fn cuEventRecordWithFlags(on, event: u64, stream: u64, flags: u32) {
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        on.driver.record_event(on.name, on.device()?, event, stream)
    }

    fn cuEventQuery(on, event: u64) {
        on.device()?;
        on.driver.query_event(on.name, event)
    }

    fn cuEventSynchronize(on, event: u64) {
        on.device()?;
        on.driver.synchronize_event(on.name, event)
    }

    fn cuEventElapsedTime(on, milliseconds: Out<f32>, start: u64, end: u64) {
        on.device()?;
        milliseconds.put(on.driver.elapsed(on.name, start, end)?)
    }

    fn cuEventElapsedTime_v2(on, milliseconds: Out<f32>, start: u64, end: u64) {
        on.device()?;
        milliseconds.put(on.driver.elapsed(on.name, start, end)?)
    }
}
