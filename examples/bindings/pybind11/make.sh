# sh pybind11/make.sh OUT: builds the module in OUT, which contains libheat.so.
set -e
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
SUFFIX=$($PYTHON -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
c++ -O1 -std=c++17 -shared -fPIC -fvisibility=hidden -I../library \
    $($PYTHON -m pybind11 --includes) $($PYTHON -m PyGPU --includes) \
    heat_pybind11.cpp -o "$1/heat_pybind11$SUFFIX" -L"$1" -lheat -Wl,-rpath,'$ORIGIN'
