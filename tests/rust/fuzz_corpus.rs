//! Runs the fuzz targets, with any Rust compiler, on their corpus and on random bytes. `make fuzz` searches for further
//! inputs.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)]

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

#[path = "../../fuzz/src/lib.rs"]
mod targets;

/// Runs a fuzz target on each file of its corpus, in the order of names. The name of the file is printed before the
/// run, so the last printed name is that of the failing input.
fn run_over_the_corpus(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut inputs: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{} is empty", folder.display());
    for input in inputs {
        println!("{}", input.display());
        target(&std::fs::read(&input).unwrap());
    }
}

#[test]
fn layout_target_passes_its_corpus() {
    run_over_the_corpus("layout", targets::layout::run);
}

#[test]
fn dlpack_target_passes_its_corpus() {
    run_over_the_corpus("dlpack", targets::dlpack::run);
}

#[test]
fn description_target_passes_its_corpus() {
    run_over_the_corpus("description", targets::description::run);
}

/// Returns the configuration of proptest. After a failure, proptest prints the seed and stores it in a folder that git
/// ignores. The next run tests stored seeds first.
fn config() -> ProptestConfig {
    let kept = FileFailurePersistence::Direct("proptest-regressions/fuzz_corpus.txt");
    ProptestConfig { cases: 3000, failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_bytes_pass_every_target(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        targets::layout::run(&bytes);
        targets::dlpack::run(&bytes);
        targets::description::run(&bytes);
    }
}
