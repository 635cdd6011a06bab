# sh cython/make.sh OUT: builds the module in OUT, which contains libheat.so. In a setup.py: docs/bindings/cython.md.
set -e
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
SUFFIX=$($PYTHON -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
$PYTHON -m cython $($PYTHON -m PyGPU --includes) heat_cython.pyx -o "$1/heat_cython.c"
cc -O1 -shared -fPIC -I../library -I"$($PYTHON -c 'import sysconfig; print(sysconfig.get_path("include"))')" \
    $($PYTHON -m PyGPU --includes) "$1/heat_cython.c" -o "$1/heat_cython$SUFFIX" -L"$1" -lheat -Wl,-rpath,'$ORIGIN'
