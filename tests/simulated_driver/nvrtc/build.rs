//! Sets the name of the library to that of NVRTC, under which programs load it.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnvrtc.so.12");
    println!("cargo::rerun-if-changed=build.rs");
}
