#!/bin/sh
# Make parts, two at once and in this order: even a small machine has two cores, and parts wait for streams and processes.
#
#   MAKE=make tools/at_once.sh PART...
#
# Each part runs to its end whatever becomes of the others, and writes into build/parts. Failures are listed last.
rm -rf build/parts
mkdir -p build/parts
"${MAKE:-make}" --no-print-directory --keep-going -j2 --output-sync=target "$@" && exit
grep -hE '^(FAILED|ERROR|error)' build/parts/*.log
echo "Of these parts some failed, or what they need (*** above): $(cd build/parts && ls | sed -n 's/\.failed$//p' | tr '\n' ' ')"
exit 1
