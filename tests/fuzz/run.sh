#!/bin/sh
# Usage, from the top of the repository: tests/fuzz/run.sh PYTHON SECONDS. Runs each fuzzer for SECONDS. Inputs that reach
# new code are stored in build/fuzz. A failing input is printed at the end and stored in fuzz/artifacts or build/fuzz.
set -e
python=$1
limits="-max_total_time=$2 -timeout=10 -rss_limit_mb=2048 -verbosity=0"
for target in layout dlpack description; do
    mkdir -p build/fuzz/$target
    # shellcheck disable=SC2086
    cargo +nightly fuzz run $target build/fuzz/$target fuzz/corpus/$target -- $limits
done
if "$python" -c 'import atheris' 2> /dev/null; then
    mkdir -p build/fuzz/interfaces
    # shellcheck disable=SC2086
    PYGPU_BACKEND=cpu "$python" tests/fuzz/fuzz_interfaces.py build/fuzz/interfaces tests/fuzz/corpus \
        -artifact_prefix=build/fuzz/ $limits
else
    echo "no atheris for this Python: the Python side is left to make test"
fi
