//! Numbers and values of CUDA's device attributes, similar to an H100.

/// The largest pitch of a copy or a fill.
pub const MAX_PITCH: u64 = 0x7fff_ffff;

/// Returns the value of an attribute; `None` for an unknown number.
pub fn attribute(number: u32, device: usize) -> Option<i32> {
    Some(match number {
        1 => 1024,                  // threads of a block
        2 | 3 => 1024,              // block, x and y
        4 => 64,                    // block, z
        5 => i32::MAX,              // grid, x
        6 | 7 => 65_535,            // grid, y and z
        8 => 48 << 10,              // shared memory of a block
        9 => 64 << 10,              // constant memory
        10 => 32,                   // threads of a warp
        11 => MAX_PITCH as i32,     // pitch
        12 => 65_536,               // registers of a block
        13 => 1_980_000,            // clock, kHz
        14 => 512,                  // alignment of textures
        15 => 1,                    // overlap
        16 => 132,                  // multiprocessors
        17 | 18 => 0,               // time limit, integrated
        19 => 1,                    // maps host memory
        20 => 0,                    // compute mode
        30 => 512,                  // alignment of surfaces
        31 | 32 => 1,               // concurrent kernels, ECC
        33 => 0x10 + device as i32, // PCI bus
        34 | 50 | 35 => 0,          // PCI device and domain, TCC
        36 => 2_619_000,            // memory clock, kHz
        37 => 5120,                 // memory bus, bits
        38 => 50 << 20,             // second-level cache
        39 => 2048,                 // threads of a multiprocessor
        40 => 3,                    // copy engines
        41 => 1,                    // unified addresses
        51 => 32,                   // alignment of texture pitches
        75 => 9,                    // compute capability, major
        76 => 0,                    // minor
        78..=80 => 1,               // priorities, caches
        81 => 228 << 10,            // shared memory of a multiprocessor
        82 => 65_536,               // registers of a multiprocessor
        83 => 1,                    // managed memory
        84..=86 => 0,               // board, host atomics
        87 => 2,                    // ratio of precisions
        88 => 0,                    // pageable memory
        89..=92 => 1, // concurrent managed access, preemption, registered host pointers, memory operations
        95 | 96 => 1, // cooperative launches
        97 => 227 << 10, // shared memory of a block, on request
        98 | 99 => 1, // flushing, registering host memory
        100 | 101 => 0, // the host's page tables, access by the host
        102 => 0,     // virtual memory management
        106 => 32,    // blocks of a multiprocessor
        115 => 1,     // pools
        116..=119 => 0, // direct RDMA, shared pools
        120 => 1,     // clusters
        0 | 1000.. => return None,
        _ => 0,
    })
}
