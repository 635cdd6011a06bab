//! Sets the soname of the library to the file name by which programs load AMD's hiprtc.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhiprtc.so.7");
    println!("cargo::rerun-if-changed=build.rs");
}
