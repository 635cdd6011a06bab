//! Sets the name of the library to that of AMD's hiprtc, under which programs load it.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libhiprtc.so.7");
    println!("cargo::rerun-if-changed=build.rs");
}
