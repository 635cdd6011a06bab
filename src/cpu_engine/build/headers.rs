//! Contains the headers that are included before every source. They are embedded in the library, so that they need no
//! path at run time.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

macro_rules! header {
    ($name:literal) => {
        ($name, include_str!(concat!("../include/", $name)))
    };
}

macro_rules! portable {
    ($name:literal, $file:literal) => {
        (concat!("pygpu_cpu/forward/", $name), include_str!(concat!("../../../python/PyGPU/include/", $file)))
    };
}

const HEADERS: [(&str, &str); 37] = [
    header!("pygpu_cpu.h"),
    header!("pygpu_cpu/abi.h"),
    header!("pygpu_cpu/atomics.h"),
    header!("pygpu_cpu/conversions.h"),
    header!("pygpu_cpu/kernel_entry.h"),
    header!("pygpu_cpu/faults.h"),
    header!("pygpu_cpu/fault_handling.h"),
    header!("pygpu_cpu/fibers.h"),
    header!("pygpu_cpu/helper_threads.h"),
    header!("pygpu_cpu/integers.h"),
    header!("pygpu_cpu/mathematics.h"),
    header!("pygpu_cpu/block_worker.h"),
    header!("pygpu_cpu/barrier_regions.h"),
    header!("pygpu_cpu/arena.h"),
    header!("pygpu_cpu/runtime.cpp"),
    header!("pygpu_cpu/runtime_calls.h"),
    header!("pygpu_cpu/small_floats.h"),
    header!("pygpu_cpu/textures.h"),
    header!("pygpu_cpu/threads.h"),
    header!("pygpu_cpu/types.h"),
    header!("pygpu_cpu/warps.h"),
    header!("pygpu_cpu/forward/assert.h"),
    header!("pygpu_cpu/forward/cooperative_groups.h"),
    header!("pygpu_cpu/forward/cooperative_groups/reduce.h"),
    header!("pygpu_cpu/forward/cuda.h"),
    header!("pygpu_cpu/forward/cuda/atomic"),
    header!("pygpu_cpu/forward/cuda_bf16.h"),
    header!("pygpu_cpu/forward/cuda_device_runtime_api.h"),
    header!("pygpu_cpu/forward/cuda_fp16.h"),
    header!("pygpu_cpu/forward/cuda_runtime.h"),
    header!("pygpu_cpu/forward/cuda_runtime_api.h"),
    header!("pygpu_cpu/forward/device_launch_parameters.h"),
    header!("pygpu_cpu/forward/vector_types.h"),
    header!("pygpu_cpu/forward/hip/hip_fp16.h"),
    header!("pygpu_cpu/forward/hip/hip_runtime.h"),
    portable!("cuComplex.h", "nvrtc_stubs/cuComplex.h"),
    portable!("thrust/complex.h", "nvrtc_stubs/thrust/complex.h"),
];

/// Name and contents of PyCUDA's complex header, which is derived from thrust's. The header is in a separate folder, so
/// that a folder named by the caller may contain a header of the same name.
const COMPLEX: (&str, &str) = portable!("pycuda-complex.hpp", "user/pycuda-complex.hpp");

/// Headers of the C++ library that CUDA also provides below `cuda/std`.
const STANDARD: [&str; 22] = [
    "algorithm",
    "array",
    "bit",
    "bitset",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "complex",
    "cstddef",
    "cstdint",
    "cstdlib",
    "cstring",
    "functional",
    "initializer_list",
    "limits",
    "numeric",
    "optional",
    "tuple",
    "type_traits",
    "utility",
    "version",
];

/// Headers that cannot be supported on the CPU, each with the remedy that the error shows.
const ABSENT: [(&str, &str); 12] = [
    ("mma.h", TENSOR),
    ("cuda_pipeline.h", PIPELINE),
    ("cuda/pipeline", PIPELINE),
    ("cuda/barrier", PIPELINE),
    ("curand_kernel.h", RANDOM),
    ("curand.h", RANDOM),
    ("cub/cub.cuh", CUB),
    ("cub/block/block_load.cuh", CUB),
    ("cub/block/block_reduce.cuh", CUB),
    ("cub/block/block_scan.cuh", CUB),
    ("cub/warp/warp_reduce.cuh", CUB),
    ("cub/warp/warp_scan.cuh", CUB),
];
const TENSOR: &str = "the cpu backend has no tensor cores: put what needs mma.h behind #ifndef __PYGPU_CPU__";
const PIPELINE: &str = "the cpu backend copies into shared memory by plain assignments only: put cuda::pipeline and cuda::barrier \
                        behind #ifndef __PYGPU_CPU__";
const RANDOM: &str =
    "cuRAND's device functions are not on the cpu backend yet: put what needs them behind #ifndef __PYGPU_CPU__";
const CUB: &str = "CUB is compiled by NVIDIA's compilers only: on the cpu backend use shared memory and shuffles, or put CUB behind \
                   #ifndef __PYGPU_CPU__";

const ATOMIC: &str = "#include <cuda/atomic>\nextern \"C++\" { namespace cuda { namespace std { using namespace ::std; \
                      template <class T> using atomic = ::cuda::atomic<T>; } } }\n";

/// Returns the contents of a header below `cuda/std`, which includes the header of the standard library and exports its
/// names into CUDA's namespace.
fn standard(name: &str) -> String {
    format!(
        "extern \"C++\" {{\n#include <{name}>\nnamespace cuda {{ namespace std {{ using namespace ::std; }} }}\n}}\n"
    )
}

/// Writes all headers to files below a folder.
pub fn write(folder: &Path) -> io::Result<()> {
    for inner in ["hip", "cuda/std", "cooperative_groups", "thrust", "cub/block", "cub/warp"] {
        fs::create_dir_all(folder.join("pygpu_cpu/forward").join(inner))?;
    }
    HEADERS.iter().chain([&COMPLEX]).try_for_each(|(name, text)| fs::write(folder.join(name), text))?;
    let forward = folder.join("pygpu_cpu/forward");
    for name in STANDARD {
        fs::write(forward.join("cuda/std").join(name), standard(name))?;
    }
    fs::write(forward.join("cuda/std/atomic"), ATOMIC)?;
    ABSENT.iter().try_for_each(|(name, why)| fs::write(forward.join(name), format!("#error \"{why}\"\n")))
}

/// Returns the contents of the headers included before a source.
#[allow(dead_code, reason = "the simulated drivers keep nothing")]
pub fn texts() -> Vec<&'static [u8]> {
    HEADERS.iter().map(|(_, text)| text.as_bytes()).collect()
}

/// Returns a hash of all headers, which changes if one of them changes.
pub fn fingerprint() -> u64 {
    hash_of(&(HEADERS, COMPLEX, STANDARD, ABSENT, ATOMIC))
}

/// Returns a short hash of a cache key, because the key is too long for a file name.
pub fn hash_of(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
