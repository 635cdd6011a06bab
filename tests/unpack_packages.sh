# Read by fetch_amd_runtime.sh, fetch_gfortran.sh and fetch_torch.sh: `unpack PACKAGE [PATTERN]` puts a package of Debian
# and its kin, and what it needs but for names that the pattern describes, into the folder that is named; `give_up REASON`
# ends with the reason in the folder's file `why-not`, with which tests skip; hence no script ever fails. Nothing outside the folder is changed and no rights are needed. That a package is
# what its makers signed, apt holds.
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

# What would have to be installed: what is there already, of whatever age, is used from where it is.
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
        # The machine's own lists of packages are empty or old, as in a container: fetch some for this folder only.
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
