# Functions for fetch_amd_runtime.sh, fetch_gfortran.sh and fetch_torch.sh. `unpack PACKAGE [PATTERN]` unpacks a package of
# Debian or a derived distribution, with its dependencies except those that match the pattern, into the folder of the first
# argument. `give_up REASON` writes the reason to the folder's file `why-not`, with which the tests are skipped, and ends the
# script successfully. No file outside the folder is changed, and no privileges are needed. apt checks the signatures.
folder=$1
mkdir -p "$folder/packages"
folder=$(cd "$folder" && pwd)
rm -f "$folder/why-not"
quick="-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o APT::Sandbox::User="

give_up() {
    rm -rf "$folder/packages" "$folder/apt"
    echo "$1" > "$folder/why-not"
    exit 0
}

# Print the packages that would have to be installed. Installed packages of any version are used and not downloaded.
missing() {
    # shellcheck disable=SC2086
    apt-get $options install --simulate --no-install-recommends "$1" 2> /dev/null \
        | awk '/^Inst/ && $3 !~ /^\[/ { print $2 }' | grep -vE "^(${2:-})\$"
}

download() {
    packages=$(missing "$@")
    [ -n "$packages" ] || return 1
    # shellcheck disable=SC2086
    (cd "$folder/packages" && timeout 120 apt-get $options $quick download $packages) >> "$folder/log" 2>&1
}

unpack() {
    command -v apt-get > /dev/null && command -v dpkg > /dev/null \
        || give_up "there is no apt-get or dpkg, which unpack $1"
    : > "$folder/log"
    options=
    if ! download "$@"; then
        # The machine's package lists are empty or outdated, as in a container: fetch lists into this folder only.
        mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
        options="-o Dir::State::lists=$folder/apt/lists -o Dir::Cache=$folder/apt -o Debug::NoLocking=1"
        # shellcheck disable=SC2086
        timeout 120 apt-get $options $quick update >> "$folder/log" 2>&1
        rm -f "$folder"/packages/*
        download "$@" || {
            why=$(grep -m 1 -E 'Failed|^E:' "$folder/log" || echo "it is installed already, or this system has none")
            give_up "the package $1 is not to be had: $why"
        }
    fi
    rm -rf "$folder/root"
    for file in "$folder"/packages/*.deb; do
        dpkg -x "$file" "$folder/root" || give_up "$file could not be unpacked"
    done
    rm -rf "$folder/packages" "$folder/apt"
}
