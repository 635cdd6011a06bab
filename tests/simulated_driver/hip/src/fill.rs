//! Defines HIP's functions that fill memory.

use simulated_core::Outcome;
use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::fill::Fill;

use crate::attributes::MAX_PITCH;
use crate::entry::{Call, export};

fn line(on: &Call, start: u64, (value, size): (u32, u64), count: usize, stream: u64) -> Outcome<()> {
    let fill = Fill { start, pitch: 0, size, value, count: count as u64, height: 1 };
    on.driver.fill(on.name, on.device()?, fill, stream)
}

export! {
    fn hipMemsetD8Async(on, target: u64, value: u8, count: usize, stream: u64) {
        line(on, target, (value.into(), 1), count, stream)
    }

    fn hipMemsetD16Async(on, target: u64, value: u16, count: usize, stream: u64) {
        line(on, target, (value.into(), 2), count, stream)
    }

    fn hipMemsetD32Async(on, target: u64, value: i32, count: usize, stream: u64) {
        line(on, target, (value.cast_unsigned(), 4), count, stream)
    }

    fn hipMemsetAsync(on, target: u64, value: i32, bytes: usize, stream: u64) {
        line(on, target, (u32::from(value as u8), 1), bytes, stream)
    }

    // HIP's two-dimensional fills exist only for values of one byte.
    fn hipMemset2DAsync(on, target: u64, pitch: usize, value: i32, width: usize, height: usize, stream: u64) {
        if pitch as u64 > MAX_PITCH || pitch < width {
            return Err(INVALID_VALUE);
        }
        let (pitch, count, height) = (pitch as u64, width as u64, height as u64);
        let fill = Fill { start: target, pitch, size: 1, value: u32::from(value as u8), count, height };
        on.driver.fill(on.name, on.device()?, fill, stream)
    }
}
