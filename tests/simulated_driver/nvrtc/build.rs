//! Sets the library name under which programs load this compiler.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libnvrtc.so.12");
    println!("cargo::rerun-if-changed=build.rs");
}
