#!/usr/bin/env bash
# Run the lints of one part of `make check`, each even if an earlier one failed. Fail if any failed.
#
#   BIN=.venv/bin CARGO=cargo LIKE_MATURIN=... SIMULATED=... HAZARD_MODEL=... tools/lint.sh rust|others|python
#
# The Makefile describes the variables.
failed=0
run() {
    "$@" || failed=1
}
# shellcheck disable=SC2086  # The variables contain several words.
case $1 in
    rust)
        run $CARGO fmt --all --check
        run $LIKE_MATURIN $CARGO clippy --locked --workspace --all-targets -- -D warnings
        ;;
    others)
        run $CARGO fmt --check --all --manifest-path tests/simulated_driver/Cargo.toml
        run $CARGO clippy --locked --all-targets $SIMULATED -- -D warnings
        run $CARGO fmt --check --manifest-path tests/hazard_model/Cargo.toml
        run $CARGO clippy --locked --all-targets $HAZARD_MODEL -- -D warnings
        run $CARGO deny --log-level warn check licenses bans sources
        ;;
    python)
        run "$BIN/python" tools/name_index.py --check
        run "$BIN/python" tools/lint_language.py
        run "$BIN/ruff" check
        run "$BIN/ruff" format --check
        run "$BIN/python" -m codespell_lib
        run "$BIN/mypy"
        run bash tools/release/lint_workflows.sh "$BIN"
        run "$BIN/abi3audit" --strict --assume-minimum-abi3 3.11 python/PyGPU/_core.abi3.so
        run "$BIN/python" -m mypy.stubtest --mypy-config-file pyproject.toml --allowlist stubtest-allowlist.txt PyGPU._core
        ;;
    *)
        echo "the part is $1, not rust, others or python" >&2
        failed=1
        ;;
esac
exit $failed
