# sh fortran/make.sh OUT: builds libheat_fortran.so in OUT, which contains libheat.so.
set -e
cd "$(dirname "$0")"
${FC:-gfortran} -O1 -shared -fPIC -J"$1" heat_fortran.f90 -o "$1/libheat_fortran.so" -L"$1" -lheat -Wl,-rpath,'$ORIGIN'
