#!/bin/sh
# Builds a wheel from the source distribution as pip does for a user, and runs the self-test of the wheel.
#
#     try_sdist.sh PYTHON FOLDER
#
# FOLDER contains one source distribution. The wheel stays in FOLDER/from-sdist.
set -eu
python=$1 archive=$(echo "$2"/*.tar.gz) wheels=$2/from-sdist
rm -rf "$wheels"
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$wheels" "$archive"
sh tools/release/try_wheel.sh "$python" "$(echo "$PWD/$wheels"/*.whl)"
