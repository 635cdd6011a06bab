//! Defines CUDA's functions that fill memory.

use simulated_core::Outcome;
use simulated_core::error_codes::INVALID_VALUE;
use simulated_core::fill::Fill;
use simulated_core::stream::LEGACY;

use crate::attributes::MAX_PITCH;
use crate::entry::{Call, export};

fn line(on: &Call, start: u64, (value, size): (u32, u64), count: usize, stream: u64) -> Outcome<()> {
    let fill = Fill { start, pitch: 0, size, value, count: count as u64, height: 1 };
    on.driver.fill(on.name, on.device()?, fill, stream)
}

fn rows(
    on: &Call,
    (start, pitch): (u64, usize),
    (value, size): (u32, u64),
    (count, height): (usize, usize),
    stream: u64,
) -> Outcome<()> {
    if pitch as u64 > MAX_PITCH {
        return Err(INVALID_VALUE);
    }
    let fill = Fill { start, pitch: pitch as u64, size, value, count: count as u64, height: height as u64 };
    on.driver.fill(on.name, on.device()?, fill, stream)
}

export! {
    fn cuMemsetD8Async(on, target: u64, value: u8, count: usize, stream: u64) {
        line(on, target, (value.into(), 1), count, stream)
    }

    fn cuMemsetD16Async(on, target: u64, value: u16, count: usize, stream: u64) {
        line(on, target, (value.into(), 2), count, stream)
    }

    fn cuMemsetD32Async(on, target: u64, value: u32, count: usize, stream: u64) {
        line(on, target, (value, 4), count, stream)
    }

    fn cuMemsetD8_v2(on, target: u64, value: u8, count: usize) {
        line(on, target, (value.into(), 1), count, LEGACY)
    }

    fn cuMemsetD16_v2(on, target: u64, value: u16, count: usize) {
        line(on, target, (value.into(), 2), count, LEGACY)
    }

    fn cuMemsetD32_v2(on, target: u64, value: u32, count: usize) {
        line(on, target, (value, 4), count, LEGACY)
    }

    fn cuMemsetD2D8Async(on, target: u64, pitch: usize, value: u8, width: usize, height: usize, stream: u64) {
        rows(on, (target, pitch), (value.into(), 1), (width, height), stream)
    }

    fn cuMemsetD2D16Async(on, target: u64, pitch: usize, value: u16, width: usize, height: usize, stream: u64) {
        rows(on, (target, pitch), (value.into(), 2), (width, height), stream)
    }

    fn cuMemsetD2D32Async(on, target: u64, pitch: usize, value: u32, width: usize, height: usize, stream: u64) {
        rows(on, (target, pitch), (value, 4), (width, height), stream)
    }
}
