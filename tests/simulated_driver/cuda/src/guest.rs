//! The kernels of somebody else: not CUDA's functions, but what an `nvcc` library of the user's would offer.

use simulated_core::Outcome;
use simulated_core::code::INVALID_VALUE;
use simulated_core::guest::{Items, delete_in_thread};

use crate::context::top;
use crate::entry::{Call, export};

/// The device that a launch goes to: as with CUDA's runtime, a thread without a context gets that of device 0.
fn device(on: &Call) -> Outcome<usize> {
    if top().is_ok() { on.device() } else { on.driver.usable(on.driver.retain(0)?) }
}

export! {
    fn guest_spin(on, seconds: f64, stream: u64) {
        on.driver.spin(on.name, device(on)?, seconds, stream)
    }

    fn guest_fill(on, out: u64, value: f32, count: i64, stream: u64) {
        on.driver.fill_items(on.name, device(on)?, Items::dense(out, count), value, stream)
    }

    fn guest_axpy(on, y: u64, x: u64, a: f32, count: i64, stream: u64) {
        let (y, x) = (Items::dense(y, count), Items::dense(x, count));
        on.driver.axpy(on.name, device(on)?, (y, a, x), stream)
    }

    fn guest_read_strided(on, out: u64, address: u64, stride: i64, count: i64, stream: u64) {
        let source = Items { address, stride, count };
        on.driver.read_items(on.name, device(on)?, (Items::dense(out, count), source), stream)
    }

    fn guest_fault(on, stream: u64) {
        on.driver.write_nowhere(on.name, device(on)?, stream)
    }

    fn guest_delete_in_thread(_on, tensor: u64) {
        if tensor == 0 {
            return Err(INVALID_VALUE);
        }
        // SAFETY: the caller of the C function promises it.
        unsafe { delete_in_thread(tensor) };
        Ok(())
    }
}
