# sh nanobind/make.sh OUT: builds the module in OUT, which contains libheat.so. nanobind's CMake functions do the same.
set -e
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
SUFFIX=$($PYTHON -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
NANOBIND=$($PYTHON -c 'import nanobind; print(nanobind.include_dir())')
c++ -O1 -std=c++17 -shared -fPIC -fvisibility=hidden -I../library -I"$NANOBIND" -I"$NANOBIND/../ext/robin_map/include" \
    -I"$($PYTHON -c 'import sysconfig; print(sysconfig.get_path("include"))')" $($PYTHON -m PyGPU --includes) \
    heat_nanobind.cpp "$NANOBIND/../src/nb_combined.cpp" -o "$1/heat_nanobind$SUFFIX" -L"$1" -lheat -Wl,-rpath,'$ORIGIN'
