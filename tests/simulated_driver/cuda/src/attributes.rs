//! Contains the enum values of CUDA's device attributes, each with an attribute value similar to that of an H100.

/// Maximum pitch of a copy or a fill in bytes.
pub const MAX_PITCH: u64 = 0x7fff_ffff;

/// Returns the value of an attribute, or `None` for an unknown number.
pub fn attribute(number: u32, device: usize) -> Option<i32> {
    Some(match number {
        1 => 1024,                  // maximum threads per block
        2 | 3 => 1024,              // maximum x and y size of a block
        4 => 64,                    // maximum z size of a block
        5 => i32::MAX,              // maximum x size of a grid
        6 | 7 => 65_535,            // maximum y and z size of a grid
        8 => 48 << 10,              // bytes of shared memory per block
        9 => 64 << 10,              // bytes of constant memory
        10 => 32,                   // threads per warp
        11 => MAX_PITCH as i32,     // maximum pitch in bytes
        12 => 65_536,               // registers per block
        13 => 1_980_000,            // clock rate in kHz
        14 => 512,                  // alignment of textures in bytes
        15 => 1,                    // whether copies overlap kernels
        16 => 132,                  // number of multiprocessors
        17 | 18 => 0,               // whether kernels have a time limit; whether the GPU is integrated
        19 => 1,                    // whether host memory can be mapped
        20 => 0,                    // compute mode: default
        30 => 512,                  // alignment of surfaces in bytes
        31 | 32 => 1,               // whether kernels run concurrently; whether ECC is enabled
        33 => 0x10 + device as i32, // number of the PCI bus
        34 | 50 | 35 => 0,          // numbers of the PCI device and domain; whether the TCC driver is used
        36 => 2_619_000,            // clock rate of the memory in kHz
        37 => 5120,                 // width of the memory bus in bits
        38 => 50 << 20,             // bytes of the L2 cache
        39 => 2048,                 // maximum threads per multiprocessor
        40 => 3,                    // number of copy engines
        41 => 1,                    // whether host and devices share one address space
        51 => 32,                   // alignment of texture pitches in bytes
        75 => 9,                    // major compute capability
        76 => 0,                    // minor compute capability
        // Whether stream priorities, L1 caching of globals and L1 caching of locals are supported.
        78..=80 => 1,
        81 => 228 << 10, // bytes of shared memory per multiprocessor
        82 => 65_536,    // registers per multiprocessor
        83 => 1,         // whether managed memory is supported
        84..=86 => 0,    // multi-GPU board; group of the board; native atomics between host and device
        87 => 2,         // ratio of single- to double-precision speed
        88 => 0,         // whether kernels can access pageable memory
        // Whether concurrent managed access, preemption, registered host pointers and stream memory operations are
        // supported.
        89..=92 => 1,
        95 | 96 => 1,    // whether cooperative launches are supported
        97 => 227 << 10, // bytes of shared memory per block on request
        98 | 99 => 1,    // whether remote writes can be flushed and host memory can be registered
        // Whether kernels use the host's page tables, and whether the host can access managed memory directly.
        100 | 101 => 0,
        102 => 0,       // whether virtual memory management is supported
        106 => 32,      // maximum blocks per multiprocessor
        115 => 1,       // whether memory pools are supported
        116..=119 => 0, // whether GPUDirect RDMA and shared pools are supported
        120 => 1,       // whether clusters are supported
        0 | 1000.. => return None,
        _ => 0,
    })
}
