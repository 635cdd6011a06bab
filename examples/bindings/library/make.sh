# sh library/make.sh OUT: libheat.so. On an NVIDIA GPU: HEAT=cuda sh library/make.sh OUT
set -e
cd "$(dirname "$0")"
if [ "$HEAT" = cuda ]; then
    ${NVCC:-nvcc} -arch=native -O2 -shared -Xcompiler -fPIC -o "$1/libheat.so" heat.cu
else
    cc -O1 -shared -fPIC -o "$1/libheat.so" heat.c
fi
