# sh rust/make.sh OUT: builds libheat_rust.so in OUT, which contains libheat.so.
set -e
cd "$(dirname "$0")"
rustc --edition 2024 --crate-type cdylib -C opt-level=1 -C strip=symbols -L "$1" -C link-arg=-Wl,-rpath,'$ORIGIN' \
    heat_rust.rs -o "$1/libheat_rust.so"
