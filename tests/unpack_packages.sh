# For scripts that unpack packages of Debian and its kin into a folder, without rights and without a change elsewhere:
# they set `folder`, an absolute path, and source this. `why_not` leaves a reason in the folder's file `why-not`; tests that
# want what is missing skip with it, hence no script fails.
quick="-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20"
options=

why_not() {
    echo "$1" > "$folder/why-not"
    exit 0
}

# What would have to be installed: what is there already is used from where it is.
missing() {
    # shellcheck disable=SC2086
    apt-get $options install --simulate --no-install-recommends "$1" 2> /dev/null | awk '/^Inst/ { print $2 }'
}

# unpack PACKAGE [PATTERN]: it and what it needs, but for names that the pattern describes, into the folder's `root`.
unpack() {
    command -v apt-get > /dev/null && command -v dpkg > /dev/null \
        || why_not "there is no apt-get or dpkg, which unpack $1"
    packages=$(missing "$1")
    if [ -z "$packages" ]; then
        # The machine's own lists of packages are empty, as in a fresh container: fetch some for this folder only.
        mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
        options="-o Dir::State::lists=$folder/apt/lists -o Dir::Cache=$folder/apt -o APT::Sandbox::User= -o Debug::NoLocking=1"
        # shellcheck disable=SC2086
        timeout 120 apt-get $options $quick update > "$folder/log" 2>&1
        packages=$(missing "$1")
    fi
    [ -n "$packages" ] || why_not "the package $1 is not to be had: it is installed already, or this system has none"
    packages=$(echo "$packages" | grep -vE "^(${2:-})$")
    rm -rf "$folder/packages" "$folder/root"
    mkdir -p "$folder/packages"
    # shellcheck disable=SC2086
    (cd "$folder/packages" && timeout 120 apt-get $options $quick -o APT::Sandbox::User= download $packages) > "$folder/log" 2>&1 \
        || why_not "the packages could not be downloaded: $(tail -1 "$folder/log")"
    for file in "$folder"/packages/*.deb; do
        dpkg -x "$file" "$folder/root" || why_not "$file could not be unpacked"
    done
    rm -rf "$folder/packages" "$folder/apt"
}
