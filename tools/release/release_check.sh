#!/usr/bin/env bash
# Runs every part of .github/workflows/release.yml that needs no hosted runner, in a new clone of the last commit, and prints
# the time of each part. `.ci/run`, the first job of the workflow, is not repeated here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
clone=$(mktemp -d)
trap 'rm -rf "$clone"' EXIT
git clone --quiet . "$clone"
cd "$clone"
# The two builds of the crates share the objects of their dependencies.
export CARGO_TARGET_DIR="$clone/target"

part() {
    local begin=$SECONDS
    echo "== $*"
    "$@"
    echo "== $* passed in $((SECONDS - begin)) s"
}
part make --no-print-directory .venv/.group-build .venv/.group-check .venv/.group-release
part bash tools/release/lint_workflows.sh .venv/bin
part .venv/bin/python tools/release/version.py
part make --no-print-directory sdist bill
part sh tools/release/try_sdist.sh .venv/bin/python dist
part make --no-print-directory wheel
part sh tools/release/try_wheel.sh .venv/bin/python "$clone/$(echo dist/*.whl)"
echo "All parts passed after $SECONDS s. Only a hosted runner can run: the containers of manylinux_2_28 and musllinux_1_2,"
echo "aarch64, attestations, the draft of the release, the upload to an index. See docs/release.md."
