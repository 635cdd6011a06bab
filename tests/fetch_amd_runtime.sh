#!/bin/sh
# Unpacks AMD's HIP runtime, as Debian and its kin package it, into the folder that is named. Nothing outside the folder
# is changed and no rights are needed. Where it cannot be had, the folder's file `why-not` says why, and the tests that
# want it skip with that reason; hence this never fails.
folder=$1
package=libamdhip64-5

mkdir -p "$folder/packages"
folder=$(cd "$folder" && pwd)
give_up() {
    echo "$1" > "$folder/why-not"
    exit 0
}
rm -f "$folder/why-not"
command -v apt-get > /dev/null && command -v dpkg > /dev/null || give_up "there is no apt-get or dpkg, which unpack the runtime"
quick="-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"

# What would have to be installed: what is there already is used from where it is.
missing() {
    # shellcheck disable=SC2086
    apt-get $options install --simulate --no-install-recommends "$package" 2> /dev/null | awk '/^Inst/ { print $2 }'
}
options=
packages=$(missing)
if [ -z "$packages" ]; then
    # The machine's own lists of packages are empty, as in a fresh container: fetch some for this folder only.
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
    options="-o Dir::State::lists=$folder/apt/lists -o Dir::Cache=$folder/apt -o APT::Sandbox::User= -o Debug::NoLocking=1"
    # shellcheck disable=SC2086
    timeout 120 apt-get $options $quick update > "$folder/log" 2>&1
    packages=$(missing)
fi
[ -n "$packages" ] || give_up "the package $package is not to be had: it is installed already, or this system has none"
cd "$folder/packages" || give_up "$folder/packages cannot be entered"
# shellcheck disable=SC2086
timeout 120 apt-get $options $quick -o APT::Sandbox::User= download $packages > "$folder/log" 2>&1 \
    || give_up "the packages could not be downloaded: $(tail -1 "$folder/log")"
for file in *.deb; do
    dpkg -x "$file" "$folder/root" || give_up "$file could not be unpacked"
done
rm -rf "$folder/packages" "$folder/apt"
# The libraries lie in one folder, that of the machine's kind.
find "$folder/root" -name 'libamdhip64.so.*' -exec dirname {} \; | sort -u | head -1 > "$folder/.ready"
