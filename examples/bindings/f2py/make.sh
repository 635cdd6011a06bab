# sh f2py/make.sh OUT: the module into OUT, where libheat.so is. From Python 3.12 on f2py needs meson and ninja.
set -e
HERE=$(cd "$(dirname "$0")" && pwd)
cd "$1"
# Only the subroutines: of a module that declares functions of C, f2py makes what crashes when it is imported.
LDFLAGS="-L$PWD -Wl,-rpath,$PWD" ${PYTHON:-python3} -m numpy.f2py -c "$HERE/heat_f2py.f90" -m heat_f2py -lheat \
    only: scale step total place create :
