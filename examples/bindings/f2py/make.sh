# sh f2py/make.sh OUT: builds the module in OUT, which contains libheat.so. From Python 3.12 on f2py needs meson and ninja.
set -e
HERE=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# Only the subroutines: for a module that declares C functions, the extension module of f2py crashes at its import.
LDFLAGS="-L$PWD -Wl,-rpath,$PWD" ${PYTHON:-python3} -m numpy.f2py -c "$HERE/heat_f2py.f90" -m heat_f2py -lheat \
    only: scale step total place create :
