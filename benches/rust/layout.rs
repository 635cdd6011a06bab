//! fn main
#![allow(missing_docs)]
fn main() {}
