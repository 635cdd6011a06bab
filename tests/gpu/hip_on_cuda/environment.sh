#!/bin/sh
# Build the libraries that implement HIP's functions by calls of CUDA, and run a command on the HIP backend with them:
#
#   PYTHON=python3 tests/gpu/hip_on_cuda/environment.sh COMMAND...
#
# The Python interpreter PYTHON finds NVIDIA's libraries, including those of wheels, which the loader does not find. NVCC is
# the path of the compiler.
set -e
source=$(dirname "$0")
build=$PWD/build/hip-on-cuda
python=${PYTHON:-python3}
if [ -z "$NVCC" ]; then
    NVCC=nvcc
    for nvcc in "$CUDA_HOME/bin/nvcc" /usr/local/cuda/bin/nvcc; do [ -x "$nvcc" ] && NVCC=$nvcc && break; done
fi
mkdir -p "$build"

# Compile a source into a library if the source or the common header is newer: LIBRARY SOURCE COMPILER AND OPTIONS.
make_library() {
    library=$build/$1 text=$source/$2.c
    shift 2
    if [ ! -e "$library" ] || [ -n "$(find "$text" "$source/library_loader.h" -newer "$library")" ]; then
        # shellcheck disable=SC2086
        "$@" -O2 -shared -o "$library" "$text" $libraries
    fi
}

libraries=-lcuda make_library libamdhip64.so.7 hip_on_cuda "$NVCC" -Xcompiler -fPIC,-Wall
libraries="-lcuda -ldl -lpthread" make_library libhiprtc.so.7 hiprtc_on_nvrtc "$NVCC" -Xcompiler -fPIC,-Wall
# Replacements of AMD's mathematical libraries, which call NVIDIA's libraries.
for names in libhipblas.so.3:hipblas_on_cublas libhipfft.so.0:hipfft_on_cufft libhiprand.so.1:hiprand_on_curand \
    libhipsolver.so.1:hipsolver_on_cusolver; do
    libraries="-ldl -lpthread" make_library "${names%%:*}" "${names##*:}" "${CC:-cc}" -fPIC -Wall
done

files() {
    "$python" -c "from PyGPU._paths import library_files; print(':'.join(library_files.$1))"
}

HIPRTC_ON_NVRTC=$(files 'candidates()')
HIPBLAS_ON_CUBLAS=$(files 'mathematics("cublas")[1]')
HIPFFT_ON_CUFFT=$(files 'mathematics("cufft")[1]')
HIPRAND_ON_CURAND=$(files 'mathematics("curand")[1]')
HIPSOLVER_ON_CUSOLVER=$(files 'mathematics("cusolver")[1]')
LD_LIBRARY_PATH=$build${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PYGPU_BACKEND=hip
export HIPRTC_ON_NVRTC HIPBLAS_ON_CUBLAS HIPFFT_ON_CUFFT HIPRAND_ON_CURAND HIPSOLVER_ON_CUSOLVER LD_LIBRARY_PATH PYGPU_BACKEND
exec "$@"
