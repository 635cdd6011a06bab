//! Sets the soname of the library to the file name by which programs load AMD's HIP runtime.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so.7");
    println!("cargo::rerun-if-changed=build.rs");
}
