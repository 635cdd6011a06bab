#!/bin/sh
# Install a tool of cargo into .tools, unless the machine has that version.
#
#   CARGO="cargo" tools/cargo_tool.sh NAME VERSION
#
# An unoptimised build without debug information takes less than half as long, and suffices for a hundred crates.
name=$1 version=$2
${CARGO:-cargo} "$name" --version 2> /dev/null | grep -qx "cargo-$name $version" && exit
CARGO_PROFILE_DEV_DEBUG=false ${CARGO:-cargo} install --quiet --locked --debug --root .tools --version "$version" "cargo-$name"
