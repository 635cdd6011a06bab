//! Tests the rewriting of preprocessed sources.

use crate::source_rewriter::{RewriteRequest, rewrite};

fn rewritten(source: &str) -> String {
    rewrite(&RewriteRequest { source, expressions: &[], shared_by_process: false, whole: &[] })
}

#[test]
fn device_keywords_are_rewritten_to_cxx() {
    let text = rewritten(
        "__device__ int f(); __global__ void __launch_bounds__(N * (2), 1) k(int *o) { __shared__ int s[2]; }",
    );
    assert!(
        text.starts_with(" int f();  void  k(int *o) { static thread_local int s[2]; static_assert(sizeof(s) <= "),
        "{text}"
    );
    assert!(text.contains("{\"k\", pygpu_cpu_kernel_0"), "{text}");
    assert!(text.contains("unsigned(N * (2))"), "{text}");
    assert!(!text.contains("\"f\""), "{text}");
}

#[test]
fn launch_bounds_keep_operators_of_two_characters() {
    let text = rewritten("__global__ void __launch_bounds__((1 <<\n8) >> N, M) k(int *o) {}");
    assert!(text.contains("unsigned((1 << 8) >> N)"), "{text}");
}

#[test]
fn dynamic_shared_memory_keeps_type_and_following_line_numbers() {
    let text = rewritten("void f() { extern __attribute__((aligned(16))) __shared__ volatile float\n s[][3][N + 1]; }");
    assert!(
        text.starts_with(
            "void f() { volatile float (*s)[3][N + 1] = (volatile float (*)[3][N + 1])pygpu_cpu_dynamic_shared();\n }"
        ),
        "{text}"
    );
}

#[test]
fn rewriter_keeps_strings_comments_and_system_headers_unchanged() {
    let source = "const char *a = \"__global__ void s();\", *b = R\"x(__shared__ \" )x\"; char c = '\"';\n# 1 \"/usr/include/a.h\" 1 3\n__global__ void t();\n# 2 \"kernel.cu\" 2\nint d;";
    assert!(rewritten(source).starts_with(source));
}

#[test]
fn rewriter_distinguishes_variables_from_functions() {
    let text = rewritten(
        "__device__ float a[2] = {1, 2}, *unused; static __constant__ __attribute__((aligned(8))) int b; namespace n { __device__ T<int> c; struct S { __device__ int member; }; } __device__ T<int> f(int x = 1); template <class T> __device__ int g = 1; extern __device__ int h;",
    );
    for name in ["\"a\"", "\"b\"", "\"n::c\""] {
        assert!(text.contains(&format!("{{{name}, (void *)")), "{name}: {text}");
    }
    assert_eq!(text.matches("(void *)&").count(), 3, "{text}");
}

#[test]
fn rewriter_distinguishes_types_from_variables_of_these_types() {
    let text = rewritten(
        "__device__ struct pair { int x, y; }; __device__ struct __attribute__((aligned(8))) base final {}; __device__ enum class kind : int { one }; __device__ struct { int x; } a; __device__ struct pair b{1, 2}; __device__ struct derived : n::base { int f(); } *c; __device__ struct n::pair e = {}; __device__ union both { int x; };",
    );
    let names: Vec<&str> = text.split("{\"").skip(1).filter_map(|row| row.split('"').next()).collect();
    assert_eq!(names, ["a", "b", "c", "e"], "{text}");
}
