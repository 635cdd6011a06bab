//! The headers that stand before every source, as part of the library: no path to them has to be known at run time.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

macro_rules! header {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../../python/PyGPU/include/cpu_engine/", $name)))
    };
}

const HEADERS: [(&str, &str); 28] = [
    header!("pygpu_cpu.h"),
    header!("pygpu_cpu/abi.h"),
    header!("pygpu_cpu/atomics.h"),
    header!("pygpu_cpu/conversions.h"),
    header!("pygpu_cpu/entry.h"),
    header!("pygpu_cpu/faults.h"),
    header!("pygpu_cpu/faults_calls.h"),
    header!("pygpu_cpu/fibers.h"),
    header!("pygpu_cpu/helpers.h"),
    header!("pygpu_cpu/integers.h"),
    header!("pygpu_cpu/mathematics.h"),
    header!("pygpu_cpu/processor.h"),
    header!("pygpu_cpu/regions.h"),
    header!("pygpu_cpu/rooms.h"),
    header!("pygpu_cpu/runtime.cpp"),
    header!("pygpu_cpu/runtime_calls.h"),
    header!("pygpu_cpu/threads.h"),
    header!("pygpu_cpu/types.h"),
    header!("pygpu_cpu/warps.h"),
    header!("pygpu_cpu/forward/assert.h"),
    header!("pygpu_cpu/forward/cuda.h"),
    header!("pygpu_cpu/forward/cuda_fp16.h"),
    header!("pygpu_cpu/forward/cuda_runtime.h"),
    header!("pygpu_cpu/forward/cuda_runtime_api.h"),
    header!("pygpu_cpu/forward/device_launch_parameters.h"),
    header!("pygpu_cpu/forward/vector_types.h"),
    header!("pygpu_cpu/forward/hip/hip_fp16.h"),
    header!("pygpu_cpu/forward/hip/hip_runtime.h"),
];

/// Writes them below a folder.
pub fn write(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join("pygpu_cpu/forward/hip"))?;
    HEADERS.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
}

/// Their texts, of the files that stand before a source.
#[allow(dead_code, reason = "the simulated drivers keep nothing")]
pub fn texts() -> Vec<&'static [u8]> {
    HEADERS.iter().map(|(_, text)| text.as_bytes()).collect()
}

/// Changes when one of them does.
pub fn fingerprint() -> u64 {
    let mut hasher = DefaultHasher::new();
    HEADERS.hash(&mut hasher);
    hasher.finish()
}
