#!/bin/sh
# Run each argument as a command, whatever became of the others, and fail if one of them failed.
failed=0
for command in "$@"; do
    sh -c "$command" || failed=1
done
exit $failed
