#!/bin/sh
# Run make for each PART, in the given order, two at a time: every machine has at least two cores, and a part that waits for
# streams or processes leaves its core idle.
#
#   MAKE=make tools/at_once.sh PART...
#
# Each part runs to its end even if another part fails. The logs are written to build/parts, and failures are printed last.
rm -rf build/parts
mkdir -p build/parts
"${MAKE:-make}" --no-print-directory --keep-going -j2 --output-sync=target "$@" && exit
grep -hE '^(FAILED|ERROR|error)' build/parts/*.log
echo "Of these parts some failed, or what they need (*** above): $(cd build/parts && ls | sed -n 's/\.failed$//p' | tr '\n' ' ')"
exit 1
