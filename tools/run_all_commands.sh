#!/bin/sh
# Run each argument as a shell command, even if an earlier command failed. Fail if any command failed.
failed=0
for command in "$@"; do
    sh -c "$command" || failed=1
done
exit $failed
