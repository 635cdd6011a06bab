#!/bin/sh
# Unpacks AMD's HIP runtime, as Debian and its kin package it, into the folder that is named.
# shellcheck source=tests/unpack_packages.sh
. "$(dirname "$0")/unpack_packages.sh"
unpack libamdhip64-5
# The libraries lie in one folder, that of the machine's kind.
find "$folder/root" -name 'libamdhip64.so.*' -exec dirname {} \; | sort -u | head -1 > "$folder/.ready"
