#!/bin/sh
# Builds a wheel from the unpacked source distribution, checks the wheel, and runs its self-test.
#
#     try_sdist.sh FOLDER
#
# FOLDER contains one source distribution. The build needs what `make wheel` needs, and not the repository.
set -eu
archive=$(echo "$1"/*.tar.gz)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
tar --extract --gzip --strip-components=1 --directory "$folder" --file "$archive"
make --no-print-directory --directory "$folder" wheel
cd "$folder"
sh tools/release/try_wheel.sh .venv/bin/python "$folder/$(echo dist/*.whl)"
