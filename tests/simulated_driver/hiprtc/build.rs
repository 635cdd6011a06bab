//! Gives the library the name by which programs ask for that compiler.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhiprtc.so.7");
    println!("cargo::rerun-if-changed=build.rs");
}
