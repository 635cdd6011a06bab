#!/usr/bin/env bash
# Link the release build of a checkout several times for benches/python/compare_builds.py, each time with the functions in another order.
#
#     tools/link_function_orders.sh CHECKOUT FOLDER [COUNT]
#
# FOLDER/0, FOLDER/1 and so on contain the package as pip would install it; FOLDER/0 is linked like a release. The address of a
# function changes the time of a 50 ns call by up to a tenth in any build. Therefore a difference between two builds is caused by
# their code only if it occurs in all orders. Needs maturin and pip, which `make .venv/.group-build` installs in this checkout.
set -euo pipefail
own=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
checkout=$(cd "$1" && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
count=${3:-6}
rust=$(rustc --print sysroot)/lib/rustlib/x86_64-unknown-linux-gnu
export VIRTUAL_ENV=$own/.venv PYO3_PYTHON=$own/.venv/bin/python

cd "$checkout"
wheels=$(mktemp -d)
trap 'rm -rf "$wheels"' EXIT
rm -f target/release/deps/*.rcgu.*
touch -c src/lib.rs src/python/lib.rs # else cargo finds nothing to do, and leaves no objects
"$own/.venv/bin/maturin" build --quiet --release --locked --out "$wheels" -- -C link-arg=-Wl,--icf=all -C save-temps
objects=(target/release/deps/*.rcgu.o)
echo '{ global: PyInit__core; local: *; };' > "$wheels/exports"

for number in $(seq 0 $((count - 1))); do
    package=$folder/$number
    rm -rf "$package"
    "$PYO3_PYTHON" -m pip install --quiet --no-deps --no-index --target "$package" "$wheels"/*.whl
    order=()
    [ "$number" = 0 ] || order=("-Wl,--shuffle-sections=.text.*=$number")
    gcc -shared -fPIC -B"$rust/bin/gcc-ld" -fuse-ld=lld "${objects[@]}" "$rust"/lib/*.rlib -Wl,--gc-sections -Wl,--icf=all \
        -Wl,--version-script="$wheels/exports" -Wl,-z,relro,-z,now -Wl,-O1 -Wl,--strip-all -Wl,--as-needed "${order[@]}" \
        -nodefaultlibs -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc -o "$package/PyGPU/_core.abi3.so"
done
