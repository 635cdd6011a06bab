#!/bin/sh
# Installs PyTorch for the CPU, for tests of torch without a GPU: fetch_torch.sh FOLDER PYTHON. The wheel for the CPU
# has 200 MB; the wheel on PyPI includes CUDA and has more than 2 GB. If the index of the CPU wheel is not reachable,
# and PYTHON has the version of the system's Python, the script unpacks Debian's package (150 MB). A shell sources
# FOLDER/environment before it runs PYTHON. If both fail, FOLDER/why-not contains the reason, and the tests are skipped.
# The script therefore never fails.
version=2.15.0
index=https://download.pytorch.org/whl/cpu
python=$2
# shellcheck source=tests/unpack_debian_packages.sh
. "$(dirname "$0")/unpack_debian_packages.sh"
rm -f "$folder/environment"

# Succeeds if PYTHON can import torch with gloo.
ready() {
    # shellcheck source=/dev/null
    (. "$folder/environment" && "$python" -W ignore -c \
        'import torch.distributed as d; assert d.is_gloo_available(), "torch is built without gloo"') > "$folder/log" 2>&1 \
        && touch "$folder/.ready"
}

: > "$folder/environment"
ready && exit 0
rm -rf "$folder/site"
echo "export PYTHONPATH='$folder/site'\${PYTHONPATH:+:\$PYTHONPATH}" > "$folder/environment"
timeout 180 "$python" -m pip install --quiet --retries 0 --timeout 15 --target "$folder/site" --index-url "$index" \
    "torch==$version" > "$folder/log" 2>&1 && ready && exit 0

version_of() {
    "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null || echo "no Python"
}
[ "$(version_of "$python")" = "$(version_of /usr/bin/python3)" ] \
    || give_up "torch $version is not to be had from $index, and the system's is for Python $(version_of /usr/bin/python3)"

# The pattern excludes Python packages that torch imports, because PYTHON already has them.
unpack python3-torch 'libtorch-test|python3-(attr|astunparse|certifi|chardet|.*-normalizer|dateutil|future|hypothesis|idna|mpmath|numpy|psutil|requests|sortedcontainers|sympy|typing-.*|urllib3)'
rm -rf "$folder/site"
mkdir -p "$folder/site"
unpacked=$folder/root
ln -s "$unpacked/usr/lib/python3/dist-packages/torch" "$folder/site/torch"
libraries=
for path in "$unpacked"/usr/lib "$unpacked"/usr/lib/*-linux-gnu "$unpacked"/lib/*-linux-gnu \
    "$unpacked"/usr/lib/*-linux-gnu/blas "$unpacked"/usr/lib/*-linux-gnu/lapack; do
    [ -d "$path" ] && libraries=$libraries${libraries:+:}$path
done
echo "export LD_LIBRARY_PATH='$libraries'\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}" >> "$folder/environment"
ready || give_up "torch $version is not to be had from $index, and the system's does not work with $python: $(tail -1 "$folder/log")"
