//! Tests which kernels are converted to loops over the threads of a block.

use crate::thread_loops::split;

/// Returns the names of the kernels that are converted, after replacing macros of the engine's header as the
/// preprocessor would.
fn taken(source: &str) -> Vec<String> {
    let macros = [
        ("threadIdx", "pygpu_cpu_thread_index"),
        ("blockIdx", "pygpu_cpu_block_index"),
        ("blockDim", "pygpu_cpu_block_size"),
    ];
    let source = macros.iter().fold(source.to_owned(), |text, (name, value)| text.replace(name, value));
    split(&source).map(|split| split.kernels).unwrap_or_default()
}

#[test]
fn kernels_become_loops_if_barriers_allow_it() {
    let expected = ["addresses", "tree", "product", "kept", "own_parameter", "asked", "histogram", "doubled"];
    assert_eq!(taken(include_str!("loops.cu")), expected);
}

#[test]
fn kernels_with_ambiguous_barriers_keep_a_stack_per_thread() {
    let bodies = [
        "if (n > 1) { __syncthreads(); }",
        "while (n > 1) { __syncthreads(); }",
        "for (int i = 0; i < n; i++) __syncthreads();",
        "for (int i = threadIdx.x; i < n; i++) { __syncthreads(); }",
        "int t = threadIdx.x; for (int i = 0; i < t; i++) { __syncthreads(); }",
        "int i; for (i = 0; i < n; i++) { __syncthreads(); }",
        "for (int i = 0; i < n--; i++) { __syncthreads(); }",
        "for (int i = 0; i < p[0]; i++) { __syncthreads(); }",
        "__shared__ int s; s = 1; for (int i = 0; i < s; i++) { __syncthreads(); }",
        "for (int i = 0; i < n; i++) { if (p[i]) break; __syncthreads(); }",
        "if (threadIdx.x > n) return; __syncthreads();",
        "for (int k = 0; k < n; k++) { int n = threadIdx.x; p[n] = 0; for (int j = 0; j < n; j++) { __syncthreads(); } }",
        "auto x = p[0]; __syncthreads(); p[1] = x;",
        "int &x = p[0]; __syncthreads(); x = 1;",
        "struct S { int a; } s; __syncthreads(); s.a = 1;",
        "typedef int T; __syncthreads(); T x = 1;",
        "p[0] = __shfl_down_sync(~0u, n, 1);",
        "__syncwarp(); p[0] = 1;",
        "p[0] = __syncthreads_count(n);",
        "while (atomicCAS(p, 0, 1)) { }",
        "while (!p[0]) __threadfence();",
        "again: if (p[0]) goto again;",
        "asm(\"nop\");",
    ];
    for body in bodies {
        let source = format!("__global__ void k(int *p, int n) {{ {body} }}");
        assert!(taken(&source).is_empty(), "{body}\n{:?}", split(&source).map(|split| split.source));
    }
}

#[test]
fn overloaded_or_waiting_kernels_are_not_converted() {
    let sources = [
        "__device__ void f() { __syncthreads(); } __global__ void k(int *p) { p[0] = 1; }",
        "__device__ void lock(int *p) { while (atomicExch(p, 1)) { } } __global__ void k(int *p) { p[0] = 1; }",
        "__global__ void k(int *p) { p[0] = 1; } __global__ void k(float *p) { p[0] = 1; }",
        "template <class T> __global__ void k(T *p) { p[0] = 1; } template <> __global__ void k<int>(int *p) { p[0] = 2; }",
    ];
    for source in sources {
        assert!(taken(source).is_empty(), "{source}");
    }
}

#[test]
fn conversion_to_thread_loops_keeps_line_numbers() {
    let source = "__global__ void k(int *p) {\nint a =\n 1,\n b = 2;\n__syncthreads\n();\np[a] = b;\n}\nint last;";
    let text = split(source).unwrap().source;
    assert_eq!(text.matches('\n').count(), source.matches('\n').count());
    assert!(text.ends_with("\nint last;"), "{text}");
}

#[test]
fn conversion_to_thread_loops_keeps_marks_of_two_characters() {
    let source = "__global__ void k(int *p) { const int a = 512 >> 2; __shared__ pygpu::bytes s[1 << 2]; __syncthreads(); p[a] = s[0]; }";
    let text = split(source).unwrap().source;
    for kept in ["512 >> 2", "pygpu::bytes", "[1 << 2]"] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
}
