#!/usr/bin/env bash
# Runs the Python tests under compute-sanitizer's memcheck and prints its findings.
#
#   PYTHON=python3 RESULTS=folder tests/gpu/run_sanitizer.sh          (or: make gpu-sanitize RESULTS=folder)
#
# Only tests that import no other GPU library run, because memory that PyTorch or CuPy release only at process exit would be
# counted as leaks. The tests run in three processes:
#   gpu    tests/gpu without peers, without tests that start processes and without tests that cause driver errors. Every failed
#          driver call is a finding. The tool's tracking of stream-ordered races is off: it reports work on the legacy default
#          stream and on blocking streams as a race, although these streams wait for each other.
#   kernels  tests/gpu/test_kernels.py. Failed calls are no findings, because PyGPU queries the parameters of a kernel until
#          the driver rejects the first number that the kernel does not have.
#   suite  all other tests, on CUDA. Failed calls are no findings, because many of these tests make calls fail on purpose.
# At the end of each process the plugin gpu.leave_nothing frees the remaining objects and destroys the context. Leaks are
# counted when the context is destroyed.
#
# Host backtraces are off: to report lines of Python, the tool would keep Python's frames, and all arrays in them, alive.
#
# If each log contains "ERROR SUMMARY: 0 errors" and "LEAK SUMMARY: 0 bytes leaked in 0 allocations", there are no findings, and
# the script returns 0. A finding in a log contains the call or kernel and the address. To find the caller, run the test alone
# with SANITIZER_OPTIONS='--show-backtrace host'. Failed tests are reported too, but a test that fails only here, because it
# exceeds its time limit, is no finding.

set -u
cd "$(dirname "$0")/../.." || exit 2
python=${PYTHON:-python3}
results=${RESULTS:-build/gpu-sanitize}
seconds=${SANITIZER_SECONDS:-270}
sanitizer=${SANITIZER:-$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)}
mkdir -p "$results"
if ! "$sanitizer" --version > "$results/sanitizer-version.txt" 2>&1; then
    echo "compute-sanitizer was not found; name it: SANITIZER=/path/to/compute-sanitizer $0"
    exit 2
fi
export PYGPU_BACKEND=cuda
export PYTHONPATH="$PWD/tests/helpers${PYTHONPATH:+:$PYTHONPATH}"
found=0

check() { # name, whether failed driver calls are findings (explicit|no), options of the sanitizer, --, arguments of pytest
    local name=$1 refused=$2
    shift 2
    local extra=()
    while [ "$1" != -- ]; do extra+=("$1"); shift; done
    shift
    timeout --kill-after=20 "$seconds" "$sanitizer" --tool memcheck --leak-check full --report-api-errors "$refused" \
        --show-backtrace device --target-processes application-only --error-exitcode 99 --print-limit 100 --log-file "$results/$name.log" \
        ${SANITIZER_OPTIONS:-} "${extra[@]}" "$python" -m pytest -p gpu.leave_nothing -p no:cacheprovider -W default -q -o timeout=240 \
        --junitxml="$results/$name.xml" "$@" > "$results/$name.out" 2>&1
    local status=$?
    echo "== $name: exit $status"
    grep -E "passed|failed|error|at the end PyGPU" "$results/$name.out" | tail -4
    grep -E "ERROR SUMMARY|LEAK SUMMARY" "$results/$name.log"
    if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
        echo "   it did not end in $seconds s (SANITIZER_SECONDS): nothing is shown"
        found=1
    elif [ "$status" -ne 0 ] && [ "$status" -ne 1 ] && [ "$status" -ne 99 ]; then
        echo "   no tests ran, or the process crashed: nothing is shown; see $results/$name.out"
        found=1
    elif ! grep -q "ERROR SUMMARY: 0 errors" "$results/$name.log" \
        || grep -E "LEAK SUMMARY" "$results/$name.log" | grep -qv "LEAK SUMMARY: 0 bytes"; then
        echo "   findings, first of each kind:"
        grep -E "^========= (Invalid|Leaked|Program hit|Race|Error|Fatal|Internal|Possible|Host)" "$results/$name.log" \
            | sed 's/0x[0-9a-f]*/0x../g' | sort | uniq -c | sort -rn | head -20
        found=1
    fi
}

check gpu explicit -- -m "not starts_processes and not provokes_errors" \
    tests/gpu/peers/test_ctypes_nvcc.py tests/gpu/test_streams.py tests/gpu/test_memory.py tests/gpu/test_strided_copies.py \
    --deselect tests/gpu/test_strided_copies.py::test_copies_of_large_view_in_every_direction_match_numpy
check kernels no -- -m "not starts_processes and not provokes_errors" tests/gpu/test_kernels.py -k "not torch"
# The deselected test uses CuPy, whose memory pool would be reported as a leak.
check suite no -- tests --ignore=tests/gpu \
    --deselect tests/pybindgpu/test_pybindgpu.py::test_allocator_import_program_shares_memory_of_cupy_array ${SUITE_ARGS:-}

echo "== logs are in $results"
exit "$found"
