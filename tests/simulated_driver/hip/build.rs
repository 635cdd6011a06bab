//! Sets the library name under which programs load the runtime.
#![allow(clippy::print_stdout)]

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so.7");
    println!("cargo::rerun-if-changed=build.rs");
}
