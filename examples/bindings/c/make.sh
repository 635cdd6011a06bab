# sh c/make.sh OUT: builds the module in OUT, which contains libheat.so.
set -e
cd "$(dirname "$0")"
PYTHON=${PYTHON:-python3}
SUFFIX=$($PYTHON -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
cc -O1 -Wall -Wextra -shared -fPIC -I../library -isystem "$($PYTHON -c 'import sysconfig; print(sysconfig.get_path("include"))')" \
    $($PYTHON -m PyGPU --includes) heat_c.c -o "$1/heat_c$SUFFIX" -L"$1" -lheat -Wl,-rpath,'$ORIGIN'
