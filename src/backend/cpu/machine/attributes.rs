//! What the host answers to the numbers of CUDA's device attributes.
//!
//! What a kernel or a program can run into is what is so here. What only describes a GPU's insides (registers, textures' sizes,
//! clocks) is as on a device of the compute capability that the host says it has, so that what fits here fits there.

use super::{THREADS_PER_BLOCK, WARP_SIZE, cache_bytes, clock_rate, processors};

/// That of the language which the engine runs: threads of a warp go on by themselves, blocks of a launch can wait for one another,
/// doubles and halves can be added atomically. Tensor cores are not part of it.
pub const COMPUTE_CAPABILITY: (i32, i32) = (7, 0);

/// Bytes of static shared memory, and of dynamic where nobody asks for more.
pub const SHARED_BYTES: u32 = 48 << 10;
/// The most of dynamic shared memory that may be asked for.
pub const SHARED_BYTES_OPTIN: u32 = 96 << 10;
/// Threads of a block along each axis.
pub const BLOCK: [u32; 3] = [THREADS_PER_BLOCK.cast_unsigned(), THREADS_PER_BLOCK.cast_unsigned(), 64];
/// Blocks of a grid along each axis.
pub const GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

const REGISTERS: i32 = 65536;
const CONSTANT_BYTES: i32 = 64 << 10;
const CACHE_LINE: i32 = 64;

/// The value under a number; `None` for one that CUDA does not have either, or that nobody could answer.
pub fn attribute(number: i32) -> Option<i32> {
    let index = usize::try_from(number).ok()?;
    Some(match number {
        1 => THREADS_PER_BLOCK,
        2..=4 => BLOCK[index - 2].cast_signed(),
        5..=7 => GRID[index - 5].cast_signed(),
        8 | 81 => SHARED_BYTES.cast_signed(),
        97 => SHARED_BYTES_OPTIN.cast_signed(),
        9 => CONSTANT_BYTES,
        10 => WARP_SIZE,
        // Pitches are sizes, and those of the host have no end here.
        11 => i32::MAX,
        12 | 82 => REGISTERS,
        13 => clock_rate(),
        16 => processors(),
        // One block at a time runs on a processor.
        39 => THREADS_PER_BLOCK,
        106 => 1,
        38 => cache_bytes(),
        14 | 30 => 512,
        51 => CACHE_LINE,
        75 => COMPUTE_CAPABILITY.0,
        76 => COMPUTE_CAPABILITY.1,
        // Of doubles to floats.
        87 => 2,
        // The device is the host: integrated, its memory mapped, with one space of addresses, managed, touched by both at once,
        // with the host's own atomics and pages; launches of all blocks at once; kernels can be stopped.
        18 | 19 | 41 | 79 | 80 | 83 | 86 | 88..=91 | 95 | 99..=101 | 113 => 1,
        // A launch returns when it is done: one after the other, without copies or priorities beside it, no time limit.
        // Nor is there a PCI address, corrected memory that one could ask about, another board, a pool, or a handle for others.
        15 | 17 | 20 | 31..=37 | 40 | 50 | 78 | 84 | 85 | 92..=94 | 96 | 98 | 102..=105 | 107..=112 | 114..=133 => 0,
        _ => texture(number)?,
    })
}

/// Sizes of textures and surfaces.
fn texture(number: i32) -> Option<i32> {
    Some(match number {
        21 | 22 | 69 | 70 => 131_072,
        23 | 71 | 56 | 57 => 65_536,
        24..=26 | 58..=60 => 16_384,
        27 | 28 | 42 | 45 | 46 | 52 | 53 | 55 | 61 | 63 | 64 | 66 | 67 | 73 | 74 | 77 => 32_768,
        29 | 43 | 62 | 65 => 2048,
        54 | 68 => 2046,
        47 | 48 => 8192,
        49 => 32_768,
        72 => 2_097_120,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn every_number_that_pycuda_names_has_an_answer() {
        // 44 is an array's, which CUDA has given up.
        let without: Vec<i32> = (1..=115).filter(|&number| attribute(number).is_none()).collect();
        assert_eq!(without, [44]);
        assert_eq!((attribute(0), attribute(-1), attribute(100_000)), (None, None, None));
    }

    #[test]
    fn what_a_program_divides_by_is_not_zero() {
        for number in [1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 16, 38, 39, 81, 82, 106] {
            assert!(attribute(number).unwrap() > 0, "{number}");
        }
    }
}
