#!/bin/sh
# Install a tool of cargo into .tools, unless the machine has that version.
#
#   CARGO="cargo" PYTHON=.venv/bin/python tools/cargo_tool.sh NAME VERSION
#
# A tool with a file tools/cargo_NAME.txt is a wheel of PyPI, whose checksums the file lists: installing a wheel takes
# a second instead of the 80 seconds of processor time of a build. Where no wheel of the list fits the machine, the tool
# is built from its source: an unoptimised build without debug information takes less than half as long, and suffices
# for a hundred crates.
name=$1 version=$2 wheel=tools/cargo_$1.txt
${CARGO:-cargo} "$name" --version 2> /dev/null | grep -qx "cargo-$name $version" && exit
if grep -qs "==$version " "$wheel" && "${PYTHON:-python3}" -m pip install --quiet --require-hashes --no-deps --only-binary :all: \
    --upgrade --target ".tools/$name" --requirement "$wheel"; then
    mkdir -p .tools/bin && ln -sf "../$name/bin/cargo-$name" .tools/bin/ && exit
fi
CARGO_PROFILE_DEV_DEBUG=false ${CARGO:-cargo} install --quiet --locked --debug --root .tools --version "$version" "cargo-$name"
