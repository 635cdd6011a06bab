#!/usr/bin/env bash
# Checks the workflows against GitHub's schema, for security problems, and for errors in the scripts of jobs.
#
#     lint_workflows.sh BIN
#
# BIN is the folder with the programs of the group `check`. Nothing is fetched. actionlint runs too where it is installed.
set -euo pipefail
bin=$1
"$bin/check-jsonschema" --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
"$bin/check-jsonschema" --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
"$bin/zizmor" --offline --no-progress --quiet .github
"$bin/shellcheck" tools/release/*.sh
if command -v actionlint > /dev/null; then
    actionlint
else
    echo "actionlint is not installed: the expressions of the workflows are not checked"
fi
