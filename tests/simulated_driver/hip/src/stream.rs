//! Defines HIP's stream functions.

use simulated_core::Outcome;
use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::stream::PER_THREAD;

use crate::entry::{Call, Out, export};

const NON_BLOCKING: u32 = 1;

fn create(on: &Call, stream: Out<u64>, flags: u32, priority: i32) -> Outcome<()> {
    stream.check()?;
    let device = on.device()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(INVALID_VALUE);
    }
    stream.put(on.driver.create_stream(device, flags == NON_BLOCKING, priority)?)
}

/// Returns the device with which the driver looks up a stream handle: the thread's current device for a default stream,
/// and 0 for any other stream, whose handle alone identifies it.
fn device_for(on: &Call, stream: u64) -> Outcome<usize> {
    if stream <= PER_THREAD { on.device() } else { Ok(0) }
}

type HostFunction = Option<unsafe extern "C" fn(usize)>;
type Callback = Option<unsafe extern "C" fn(u64, u32, usize)>;

export! {
    fn hipStreamCreate(on, stream: Out<u64>) {
        create(on, stream, 0, 0)
    }

    fn hipStreamCreateWithFlags(on, stream: Out<u64>, flags: u32) {
        create(on, stream, flags, 0)
    }

    fn hipStreamCreateWithPriority(on, stream: Out<u64>, flags: u32, priority: i32) {
        create(on, stream, flags, priority)
    }

    fn hipStreamDestroy(on, stream: u64) {
        on.driver.destroy_stream(on.name, on.device()?, stream)
    }

    fn hipStreamSynchronize(on, stream: u64) {
        on.driver.synchronize_stream(on.name, on.device()?, stream)
    }

    fn hipStreamQuery(on, stream: u64) {
        on.driver.query_stream(on.name, on.device()?, stream)
    }

    fn hipStreamWaitEvent(on, stream: u64, event: u64, flags: u32) {
        let device = on.device()?;
        if flags > 1 {
            return Err(INVALID_VALUE);
        }
        on.driver.wait_event(on.name, device, stream, event)
    }

    fn hipStreamGetDevice(on, stream: u64, device: Out<i32>) {
        device.put(on.driver.describe_stream(on.name, device_for(on, stream)?, stream)?.0 as i32)
    }

    fn hipStreamGetPriority(on, stream: u64, priority: Out<i32>) {
        priority.put(on.driver.describe_stream(on.name, device_for(on, stream)?, stream)?.2)
    }

    fn hipStreamGetFlags(on, stream: u64, flags: Out<u32>) {
        flags.put(u32::from(on.driver.describe_stream(on.name, device_for(on, stream)?, stream)?.1))
    }

    fn hipLaunchHostFunc(on, stream: u64, function: HostFunction, data: usize) {
        let function = function.ok_or(INVALID_VALUE)?;
        // SAFETY: the caller of the C function guarantees that the host function may be called with this argument.
        on.driver.launch_host(on.name, on.device()?, stream, move || unsafe { function(data) })
    }

    fn hipStreamAddCallback(on, stream: u64, function: Callback, data: usize, flags: u32) {
        let function = function.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        // SAFETY: the caller of the C function guarantees that the host function may be called with this argument.
        on.driver.launch_host(on.name, on.device()?, stream, move || unsafe { function(stream, 0, data) })
    }
}
