#!/bin/sh
# Make parts, three at once and in this order. On two cores two of them leave a seventh of the time unused, because parts
# wait for streams and processes.
#
#   MAKE=make tools/at_once.sh PART...
#
# Each part runs to its end whatever becomes of the others, and writes into build/parts. Failures are listed last.
rm -rf build/parts
mkdir -p build/parts
"${MAKE:-make}" --no-print-directory --keep-going -j3 --output-sync=target "$@" && exit
grep -hE '^(FAILED|ERROR|error)' build/parts/*.log
echo "Of these parts some failed, or what they need (*** above): $(cd build/parts && ls | sed -n 's/\.failed$//p' | tr '\n' ' ')"
exit 1
