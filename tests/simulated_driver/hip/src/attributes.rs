//! Contains the enum values of HIP's device attributes, each with an attribute value similar to that of an MI300X.

/// Maximum pitch of a copy or a fill in bytes.
pub const MAX_PITCH: u64 = 0x7fff_ffff;

/// Name of the architecture with its features, as in the device's properties.
pub const ARCHITECTURE: &str = "gfx942:sramecc+:xnack-";

/// Returns the value of an attribute, or `None` for an unknown number.
pub fn attribute(number: u32, device: usize) -> Option<i32> {
    Some(match number {
        0 => 1,                     // whether ECC is enabled
        2 => 2,                     // number of copy engines
        3 => 1,                     // whether host memory can be mapped
        4 => 0,                     // whether the host can access managed memory directly
        5 => 2_100_000,             // clock rate in kHz
        6 => 0,                     // compute mode: default
        8 => 1,                     // whether kernels run concurrently
        9 | 10 => 1,                // whether concurrent managed access and cooperative launches are supported
        16 | 18 => 0,               // whether the GPU is integrated; whether kernels have a time limit
        19 => 4 << 20,              // bytes of the L2 cache
        23 => 9,                    // major compute capability
        24 => 1,                    // whether managed memory is supported
        26..=28 => 1024,            // maximum x, y and z size of a block
        29 => i32::MAX,             // maximum x size of a grid
        30 | 31 => 65_536,          // maximum y and z size of a grid
        56 => 1024,                 // maximum threads per block
        57 => 2048,                 // maximum threads per compute unit
        58 => MAX_PITCH as i32,     // maximum pitch in bytes
        59 => 8192,                 // width of the memory bus in bits
        60 => 1_300_000,            // clock rate of the memory in kHz
        61 => 4,                    // minor compute capability
        63 => 304,                  // number of compute units
        65 | 66 => 0,               // whether kernels can access pageable memory and use the host's page tables
        67 => 0x20 + device as i32, // number of the PCI bus
        68 | 69 => 0,               // numbers of the PCI device and domain
        71 | 72 => 65_536,          // registers per block and per compute unit
        74..=76 => 64 << 10,        // bytes of shared memory
        78 => 1,                    // whether stream priorities are supported
        81 => 256,                  // alignment of textures in bytes
        83 => i32::MAX,             // bytes of constant memory
        85 => 1,                    // whether host and devices share one address space
        87 => 64,                   // threads per wavefront
        88 => 1,                    // whether memory pools are supported
        90 => 1,                    // whether host memory can be registered
        10_000.. => return None,
        _ => 0,
    })
}
