#!/bin/sh
# Usage: install.sh FROM TO. Copies the simulated libraries from cargo's target folder FROM to the folder TO, which the
# loader searches. The files are copied, not linked, because the file of a driver that a process has open must not change.
set -e
from=$1 to=$2
# Images that another version of the simulated compiler produced are removed.
cmp -s "$from/libsimulated_nvrtc.so" "$to/libnvrtc.so.12" || rm -rf "$to/images"

install() {
    library=$1
    shift
    for name in "$@"; do cp --remove-destination "$from/libsimulated_$library.so" "$to/$name"; done
}

install cuda libcuda.so.1
install hip libamdhip64.so.7
install nvrtc libnvrtc.so.12
install hiprtc libhiprtc.so.7
# Names of each vendor's mathematical libraries that the simulated one replaces in part.
install libraries libcublas.so.12 libhipblas.so.3 libcufft.so.11 libhipfft.so.0 libcurand.so.10 libhiprand.so.1 \
    libcusolver.so.11 libhipsolver.so.1
