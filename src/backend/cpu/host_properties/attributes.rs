//! Answers queries of CUDA's device attributes for the host.
//!
//! Attributes that can limit a kernel or a program have their true values. Attributes that only describe a GPU's
//! internals (registers, texture sizes, clocks) have the values of a device of the reported compute capability.
//! Therefore a kernel that respects the reported limits also runs on such a device.

use super::{THREADS_PER_BLOCK, WARP_SIZE, cache_bytes, clock_rate, processors};

/// Compute capability of a GPU with the CUDA features that the engine supports: threads of a warp progress
/// independently, blocks of a launch can wait for each other, doubles and halves support atomic addition. Tensor cores
/// are not supported.
pub const COMPUTE_CAPABILITY: (i32, i32) = (7, 0);

/// Maximum size in bytes of a block's static shared memory, and of its dynamic shared memory without opt-in.
pub const SHARED_BYTES: u32 = 48 << 10;
/// Maximum size in bytes of a block's dynamic shared memory with opt-in.
pub const SHARED_BYTES_OPTIN: u32 = 96 << 10;
/// Maximum number of threads in a block along each axis.
pub const BLOCK: [u32; 3] = [THREADS_PER_BLOCK.cast_unsigned(), THREADS_PER_BLOCK.cast_unsigned(), 64];
/// Maximum number of blocks in a grid along each axis.
pub const GRID: [u32; 3] = [i32::MAX as u32, 65535, 65535];

const REGISTERS: i32 = 65536;
const CONSTANT_BYTES: i32 = 64 << 10;
const CACHE_LINE: i32 = 64;

/// Returns the value of an attribute by CUDA's number. `None` for numbers that CUDA does not define, and for attributes
/// without a meaningful value.
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
        // Attribute: maximum pitch of a copy in bytes. The host has no such limit.
        11 => i32::MAX,
        12 | 82 => REGISTERS,
        13 => clock_rate(),
        16 => processors(),
        // Attribute: maximum number of threads on a multiprocessor. The value equals the maximum number of threads in a
        // block, because a processor of the host runs one block at a time.
        39 => THREADS_PER_BLOCK,
        106 => 1,
        38 => cache_bytes(),
        14 | 30 => 512,
        51 => CACHE_LINE,
        75 => COMPUTE_CAPABILITY.0,
        76 => COMPUTE_CAPABILITY.1,
        // Attribute: ratio of float to double performance.
        87 => 2,
        // The device is the host. Therefore it is integrated; its memory is mapped, managed and concurrently
        // accessible, with a unified address space, host atomics and host page tables. It supports cooperative launches
        // and the preemption of kernels.
        18 | 19 | 41 | 79 | 80 | 83 | 86 | 88..=91 | 95 | 99..=101 | 113 => 1,
        // A launch is complete when it returns, so there are no concurrent kernels or copies, no priorities and no time
        // limit. There is also no PCI address, ECC, multi-GPU board, memory pool, or shareable handle.
        15 | 17 | 20 | 31..=37 | 40 | 50 | 78 | 84 | 85 | 92..=94 | 96 | 98 | 102..=105 | 107..=112 | 114..=133 => 0,
        _ => texture(number)?,
    })
}

/// Returns the limits of textures and surfaces by CUDA's attribute number.
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
    fn every_attribute_named_by_pycuda_has_a_value() {
        // The host has no value for attribute 44, a limit for arrays, which CUDA has deprecated.
        let without: Vec<i32> = (1..=115).filter(|&number| attribute(number).is_none()).collect();
        assert_eq!(without, [44]);
        assert_eq!((attribute(0), attribute(-1), attribute(100_000)), (None, None, None));
    }

    #[test]
    fn attributes_used_as_divisors_are_positive() {
        for number in [1, 2, 3, 4, 5, 8, 9, 10, 12, 13, 16, 38, 39, 81, 82, 106] {
            assert!(attribute(number).unwrap() > 0, "{number}");
        }
    }
}
