#!/bin/sh
# Builds and runs the examples of compiled bindings on the GPU of this machine, and times their calls:
#
#     make wheel
#     pip download --dest dist/bindings pybind11==3.1.0 nanobind==3.1.0 cython==3.3.1 cffi==2.1.1   # where there is a network
#     tests/gpu/run_bindings.sh                                                                     # where the GPU is
#
# Needs nvcc, a C++ compiler and the headers of PYTHON; what else is missing is left out by the tests.
set -e
PYTHON=${PYTHON:-python3}
RESULTS=${RESULTS:-build/results}
make .gpu-package PYTHON="$PYTHON"
if [ -d dist/bindings ]; then
    "$PYTHON" -m pip install --quiet --no-index --find-links dist/bindings --target build/gpu-package --upgrade \
        pybind11 nanobind cython cffi
fi
mkdir -p "$RESULTS"
export PYGPU_BACKEND=cuda PYTHONPATH="$PWD/build/gpu-package${PYTHONPATH:+:$PYTHONPATH}"
export NVCC="${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}"
"$PYTHON" -m pytest -W default tests/bindings -rs
"$PYTHON" benches/python/bindings.py --json "$RESULTS/bindings.json"
