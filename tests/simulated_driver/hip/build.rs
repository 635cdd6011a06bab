//! Sets the name of the library to that of AMD's HIP runtime, under which programs load it.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so.7");
    println!("cargo::rerun-if-changed=build.rs");
}
