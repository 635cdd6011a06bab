#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| pygpu_fuzz::description::run(bytes));
