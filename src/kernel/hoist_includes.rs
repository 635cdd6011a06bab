//! Repeats the `#include` lines of C++ headers before the `extern "C" {` that wraps a source, because the templates in
//! these headers must not have C linkage.

use std::fmt::Write;

use pygpu_backend::included_names;

/// Folders that only contain C++ headers, as prefixes of header names.
const FOLDERS: [&str; 5] = ["cooperative_groups/", "cub/", "cuda/", "thrust/", "nv/"];

/// Headers of CUDA and HIP with C++ code that may be moved before the rest of the source without a change of their
/// effect.
const VENDORS: [&str; 9] = [
    "cooperative_groups.h",
    "cuComplex.h",
    "cuda_bf16.h",
    "cuda_fp16.h",
    "cuda_fp8.h",
    "curand_kernel.h",
    "mma.h",
    "hip/hip_bf16.h",
    "hip/hip_fp16.h",
];

fn is_cxx(name: &str) -> bool {
    // A header whose name has neither a suffix nor a folder, such as `<vector>`, belongs to the C++ standard library.
    FOLDERS.iter().any(|folder| name.starts_with(folder)) || VENDORS.contains(&name) || !name.contains(['.', '/'])
}

/// Returns `#include` lines for the C++ headers that a source includes. `__has_include` skips missing headers, so that
/// the compiler's error refers to the line of the user's source.
pub fn hoisted(source: &str) -> String {
    let mut lines = String::new();
    for name in included_names(source) {
        if is_cxx(&name) {
            // Writing to a string cannot fail.
            let _ = write!(lines, "#if __has_include(<{name}>)\n#include <{name}>\n#endif\n");
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
    use super::*;

    #[test]
    fn cxx_headers_are_included_before_extern_c_wrapper() {
        let source = "#include <cuda_fp16.h>\n#include \"own.cuh\"\n#include <math.h>\n#include <thrust/complex.h>\n#include <limits>\n";
        let lines = hoisted(source);
        for name in ["cuda_fp16.h", "thrust/complex.h", "limits"] {
            assert!(lines.contains(&format!("#include <{name}>\n")), "{lines}");
        }
        assert!(!lines.contains("own.cuh") && !lines.contains("math.h"), "{lines}");
        assert_eq!(hoisted("int a;"), "");
    }
}
