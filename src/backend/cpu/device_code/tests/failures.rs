//! Tests that errors in a kernel or in its source are reported, and that no failed launch hangs.

use std::sync::OnceLock;

use super::*;

const SOURCE: &str = r#"extern "C" {
__global__ void divergent(int *o) {
    if (threadIdx.x < 16) __syncthreads();
    else o[0] = __shfl_sync(0xffffffffu, 1, 0);
}
__global__ void two_barriers(int *o) {
    if (threadIdx.x < 16) __syncthreads();
    else
        __syncthreads();
}
__global__ void stranger(int *o) { if (threadIdx.x == 9) __syncwarp(1); }
__global__ void asserts(int *o) {
    assert(threadIdx.x != 5);
    o[threadIdx.x] = 1;
}
__global__ void traps(int *o) { __syncthreads(); if (threadIdx.x == 2) __trap(); __syncthreads(); }
__global__ void fine(int *o) { o[threadIdx.x] = threadIdx.x; }
__global__ void missing_barrier(int *o) { __shared__ int s[64]; s[threadIdx.x] = 1; o[threadIdx.x] = s[0]; s[0] = 2; }
}"#;

fn failures() -> &'static Loaded {
    static FAILURES: OnceLock<Loaded> = OnceLock::new();
    FAILURES.get_or_init(|| Loaded::of(SOURCE))
}

#[track_caller]
fn says(error: &DriverError, code: u32, parts: &[&str]) {
    assert_eq!(error.code, code, "{error}");
    for part in parts {
        assert!(error.detail.contains(part), "'{part}' is not in: {error}");
    }
}

#[test]
fn deadlock_error_names_waiting_threads_and_lines() {
    let error = failures().refused("divergent", 32, &mut [0i32; 32]);
    let parts = [
        "kernel divergent, block (0,0,0)",
        "16 threads, from (0,0,0) on, in __syncthreads at kernel.cu:3",
        "16 threads, from (16,0,0) on, in __shfl_sync with mask 0xffffffff at kernel.cu:4",
    ];
    says(&error, error_codes::LAUNCH_TIMEOUT, &parts);
}

#[test]
fn threads_at_different_barriers_are_reported_as_deadlock() {
    let error = failures().refused("two_barriers", 32, &mut [0i32; 32]);
    says(&error, error_codes::LAUNCH_TIMEOUT, &["different barriers", "kernel.cu:7", "kernel.cu:9"]);
}

#[test]
fn warp_operation_rejects_lane_outside_its_own_mask() {
    let error = failures().refused("stranger", 32, &mut [0i32; 32]);
    says(&error, error_codes::LAUNCH_FAILURE, &["lane 9 calls __syncwarp at kernel.cu:11"]);
}

#[test]
fn assertion_error_names_expression_and_thread() {
    let error = failures().refused("asserts", 8, &mut [0i32; 8]);
    says(
        &error,
        error_codes::ASSERT,
        &["assertion `threadIdx.x != 5` failed in asserts at kernel.cu:13", "thread (5,0,0)"],
    );
}

#[test]
fn trap_ends_launch_and_next_launch_runs() {
    let mut out = [0i32; 64];
    says(
        &failures().refused("traps", 64, &mut out),
        error_codes::LAUNCH_FAILURE,
        &["thread (2,0,0)", "__trap() at kernel.cu:16"],
    );
    failures().run("fine", 1, 64, &mut out);
    assert_eq!(out[63], 63);
}

#[test]
fn launch_rejects_block_of_more_than_1024_threads() {
    says(
        &failures().refused("fine", 1025, &mut [0i32; 1]),
        error_codes::INVALID_CONFIGURATION,
        &["more than 1024 threads"],
    );
}

#[test]
fn compile_error_has_line_and_text_of_user_source() {
    let source = "// one\n__global__ void k(int *o) {\n    *o = undeclared_thing;\n}\n";
    let Err(Error::Compile(error)) = try_compile(source, &[], &[]) else { panic!("it compiled") };
    assert!(error.log.contains("kernel.cu:3:"), "{}", error.log);
    assert!(error.log.contains("undeclared_thing;"), "{}", error.log);
    let Err(Error::Compile(error)) = try_compile("#include <no_such_header.h>\n", &[], &[]) else {
        panic!("it compiled")
    };
    assert!(error.log.contains("no_such_header.h"), "{}", error.log);
}

#[test]
fn options_reach_compiler_and_wrong_option_is_reported() {
    let options = [
        CompileOption::Define("N".into(), Some("7".into())),
        CompileOption::Own("-Wall".into()),
        CompileOption::MaxRegisters(32),
    ];
    let source = "__global__ void k(int *o) { int unused; *o = N; }";
    let compiled = try_compile(source, &options, &[]).unwrap();
    // The macro N must not affect the headers, in which N is a template parameter.
    assert!(compiled.log.contains("kernel.cu:1") && compiled.log.contains("unused"), "{}", compiled.log);
    let wrong = [CompileOption::Own("--no-such-option".into())];
    let Err(Error::Compile(error)) = try_compile(source, &wrong, &[]) else { panic!("it compiled") };
    assert!(error.log.contains("--no-such-option"), "{}", error.log);
}

#[test]
fn atomics_without_gpu_support_do_not_compile() {
    let source = "__global__ void k(long long *o) { atomicAdd(o, 1); }";
    let Err(Error::Compile(error)) = try_compile(source, &[], &[]) else { panic!("it compiled") };
    assert!(error.log.contains("atomicAdd takes int, unsigned, unsigned long long, float, double"), "{}", error.log);
}

#[test]
fn load_rejects_invalid_image() {
    let error = cpu().load(0, b".version 8.0\n.target sm_90", &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("no shared library"), "{error}");
    let mut image = try_compile("__global__ void k(int *o) {}", &[], &[]).unwrap().image;
    image.truncate(200);
    assert!(cpu().load(0, &image, &LoadOptions::default()).unwrap_err().to_string().contains("cut short"));
}

#[test]
fn sanitized_kernel_error_names_ld_preload() {
    let options = [CompileOption::Own("-fsanitize=address".into())];
    // The test is skipped if the sanitizer's library, which is optional, is not installed.
    let Ok(compiled) =
        try_compile("__global__ void k(int *o) { __shared__ int s[4]; s[*o] = 1; *o = s[0]; }", &options, &[])
    else {
        return;
    };
    let error = cpu().load(0, &compiled.image, &LoadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("LD_PRELOAD"), "{error}");
}
