#!/bin/sh
# Builds and runs the examples of compiled bindings on the GPU of this machine, and times their calls:
#
#     make wheel
#     pip download --dest dist/bindings pybind11==3.1.0 nanobind==3.1.0 cython==3.3.1 cffi==2.1.1  # with a network
#     tests/gpu/run_bindings.sh                                                                   # where the GPU is
#
# The script needs nvcc, a C++ compiler and the headers of PYTHON; the tests skip examples whose other tools are missing.
# An example for which this machine has no compiler is compiled on another machine, with the examples' library for the
# host and a Python of the same version. It then runs here with the library for the GPU. On the other machine (f2py needs
# numpy, meson and ninja; `make build/fortran/.ready` unpacks a gfortran):
#
#     OUT=$PWD/dist/bindings/compiled PATH=$PATH:$PWD/build/fortran/bin PYTHON=python3.12
#     export PATH PYTHON && mkdir -p $OUT && cd examples/bindings
#     for kind in library fortran f2py rust cudarc; do sh $kind/make.sh $OUT || break; done
#     for name in libgfortran.so.5 libquadmath.so.0; do cp -L "$(gfortran -print-file-name=$name)" $OUT; done
#     rm -r $OUT/cudarc
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
compiled=$PWD/dist/bindings/compiled
if [ -d "$compiled" ]; then
    HEAT=cuda sh examples/bindings/library/make.sh "$compiled"
    export LD_LIBRARY_PATH="$compiled${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    for kind in fortran f2py rust cudarc; do
        echo "$kind"
        PYTHONPATH="$compiled:$PYTHONPATH" "$PYTHON" examples/bindings/$kind/use.py "$compiled"
    done
fi
"$PYTHON" benches/python/bindings.py --json "$RESULTS/bindings.json"
