# sh cudarc/make.sh OUT: libheat_cudarc.so into OUT. CARGO_NET_OFFLINE=true, where cargo has cudarc already.
set -e
cd "$(dirname "$0")"
cargo build --quiet --release --target-dir "$1/cudarc"
cp "$1/cudarc/release/libheat_cudarc.so" "$1"
