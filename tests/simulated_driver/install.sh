#!/bin/sh
# Copy the simulated libraries from a folder of cargo into the one that the loader searches: FROM TO.
# They are copied, not linked: a driver that a process has open must not change under it.
set -e
from=$1 to=$2
# Images of another compiler are stale.
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
# Each vendor's libraries of mathematics, of which the simulated one has a part.
install mathematics libcublas.so.12 libhipblas.so.3 libcufft.so.11 libhipfft.so.0 libcurand.so.10 libhiprand.so.1 \
    libcusolver.so.11 libhipsolver.so.1
