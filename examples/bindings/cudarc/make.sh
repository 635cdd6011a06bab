# sh cudarc/make.sh OUT: builds libheat_cudarc.so in OUT. Use CARGO_NET_OFFLINE=true if cargo has cached cudarc.
set -e
cd "$(dirname "$0")"
cargo build --quiet --release --target-dir "$1/cudarc"
cp "$1/cudarc/release/libheat_cudarc.so" "$1"
