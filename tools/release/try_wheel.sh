#!/bin/sh
# Installs a wheel into a new environment and runs its self-test on the CPU, without the repository.
#
#     try_wheel.sh PYTHON WHEEL
#
# pip downloads NumPy. In an Alpine container the script runs in its `sh`.
set -eu
python=$1 wheel=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv "$folder/environment"
"$folder/environment/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel"
cd "$folder"
export PYGPU_BACKEND=cpu PYGPU_CACHE_DIR="$folder/cache"
unset PYTHONPATH
"$folder/environment/bin/python" -m PyGPU --version
"$folder/environment/bin/python" -m PyGPU test
