//! Numbers and values of HIP's device attributes, similar to an MI300X.

/// The largest pitch of a copy or a fill.
pub const MAX_PITCH: u64 = 0x7fff_ffff;

/// Architecture with its features, as in the properties.
pub const ARCHITECTURE: &str = "gfx942:sramecc+:xnack-";

/// Returns the value of an attribute; `None` for an unknown number.
pub fn attribute(number: u32, device: usize) -> Option<i32> {
    Some(match number {
        0 => 1,                     // ECC
        2 => 2,                     // copy engines
        3 => 1,                     // maps host memory
        4 => 0,                     // access by the host
        5 => 2_100_000,             // clock, kHz
        6 => 0,                     // compute mode
        8 => 1,                     // concurrent kernels
        9 | 10 => 1,                // concurrent managed access, cooperative launches
        16 | 18 => 0,               // integrated, time limit
        19 => 4 << 20,              // second-level cache
        23 => 9,                    // major
        24 => 1,                    // managed memory
        26..=28 => 1024,            // block
        29 => i32::MAX,             // grid, x
        30 | 31 => 65_536,          // grid, y and z
        56 => 1024,                 // threads of a block
        57 => 2048,                 // threads of a compute unit
        58 => MAX_PITCH as i32,     // pitch
        59 => 8192,                 // memory bus, bits
        60 => 1_300_000,            // memory clock, kHz
        61 => 4,                    // minor
        63 => 304,                  // compute units
        65 | 66 => 0,               // pageable memory, the host's page tables
        67 => 0x20 + device as i32, // PCI bus
        68 | 69 => 0,               // PCI device and domain
        71 | 72 => 65_536,          // registers
        74..=76 => 64 << 10,        // shared memory
        78 => 1,                    // priorities
        81 => 256,                  // alignment of textures
        83 => i32::MAX,             // constant memory
        85 => 1,                    // unified addresses
        87 => 64,                   // threads of a wavefront
        88 => 1,                    // pools
        90 => 1,                    // registering host memory
        10_000.. => return None,
        _ => 0,
    })
}
