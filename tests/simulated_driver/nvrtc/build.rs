//! Sets the soname of the library to the file name by which programs load NVRTC.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnvrtc.so.12");
    println!("cargo::rerun-if-changed=build.rs");
}
