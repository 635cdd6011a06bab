//! Sets the name of the library to that of CUDA's driver, under which programs load it.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    println!("cargo::rerun-if-changed=build.rs");
}
