#!/bin/sh
# Unpacks AMD's HIP runtime from a package of Debian or a derived distribution into the folder named by the argument.
# shellcheck source=tests/unpack_debian_packages.sh
. "$(dirname "$0")/unpack_debian_packages.sh"
unpack libamdhip64-5
# `.ready` contains the folder of the libraries, whose name depends on the machine's architecture.
find "$folder/root" -name 'libamdhip64.so.*' -exec dirname {} \; | sort -u | head -1 > "$folder/.ready"
