#!/bin/sh
# Run make for each PART, in the given order. At most four parts run at a time, and at most one more than the cores: a part that
# waits for streams, processes or the network leaves its core idle, and each part needs up to 2 GB of memory.
#
#   MAKE=make tools/make_in_parallel.sh PART...
#
# Each part runs to its end even if another part fails. The logs are written to build/parts, and failures are printed last.
rm -rf build/parts
mkdir -p build/parts
jobs=$(($(nproc) + 1))
"${MAKE:-make}" --no-print-directory --keep-going -j$((jobs < 4 ? jobs : 4)) --output-sync=target "$@" && exit
grep -hE '^(FAILED|ERROR|error)' build/parts/*.log
echo "Of these parts some failed, or what they need (*** above): $(cd build/parts && ls | sed -n 's/\.failed$//p' | tr '\n' ' ')"
exit 1
