//! Tests the limit of static shared memory: the CPU backend rejects a kernel that exceeds the limit of a device.

use super::*;

#[track_caller]
fn refused(source: &str) -> String {
    match try_compile(source, &[], &[]) {
        Err(Error::Compile(error)) => error.log,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it compiled: {source}"),
    }
}

#[test]
fn kernel_with_excess_static_shared_memory_does_not_compile() {
    let sources = [
        "__global__ void k(char *o) {\n__shared__ char b[1l<<33];\n b[0] = 1; *o = b[0]; }",
        "__global__ void k(char *o) {\n__shared__ float a[96][64], c[6145]; a[0][0] = c[0]; }",
        "template <int N> __device__ void f() {\n__shared__ __align__(16) double x[N]; x[0] = 1; }\n__global__ void k() { f<6145>(); }",
        "__global__ void k() { __shared__ char a[49152]; { \n__shared__ int i; i = a[0]; } }",
    ];
    for source in sources {
        let log = refused(source);
        assert!(log.contains("kernel.cu:2") && log.contains("static shared memory"), "{source}: {log}");
    }
}

#[test]
fn shared_memory_that_fits_exactly_or_in_separate_scopes_compiles() {
    let source = "__shared__ int of_all;\n__global__ void k(int *o) {
                  { __shared__ int a[6000]; a[0] = of_all; }
                  { __shared__ int a[12286] __attribute__((aligned(16))), b; b = 3; a[0] = b; } }
                  __global__ void l() { __shared__ int *p, (*q)[4]; __shared__ struct { int x, y; } s; p = &s.x; }";
    if let Err(error) = try_compile(source, &[], &[]) {
        panic!("{error}");
    }
}
