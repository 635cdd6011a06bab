#!/bin/sh
# Checks wheels before they are published: the description, the platform tag, the limited API and the size.
#
#     check_wheel.sh BIN LIMIT WHEEL...
#
# BIN is the folder with the programs of the groups `check` and `release`, LIMIT the greatest size in bytes.
set -eu
bin=$1 limit=$2
shift 2
"$bin/python" -m twine check --strict "$@"
for wheel in "$@"; do
    size=$(wc -c < "$wheel")
    echo "$wheel: $size of at most $limit bytes"
    [ "$size" -le "$limit" ]
    "$bin/python" -m auditwheel show "$wheel"
    "$bin/abi3audit" --strict "$wheel"
done
