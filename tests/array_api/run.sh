#!/bin/sh
# Run array-api-tests, a copy of https://github.com/data-apis/array-api-tests with its submodule, against PyGPU. The lists of
# skipped and of failing tests apply to commit 55fcc60179ef of that repository.
#
#   tests/array_api/run.sh PYTHON FOLDER EXAMPLES [options of pytest]
python=$1 folder=$2 examples=$3
lists=$(cd "$(dirname "$0")" && pwd)
shift 3
test -f "$folder/array_api_tests/__init__.py" || {
    echo "ARRAY_API_TESTS names a copy of https://github.com/data-apis/array-api-tests with its submodule, not '$folder'"
    exit 1
}
cd "$folder" || exit 1
export PYGPU_STRICT=1 ARRAY_API_TESTS_MODULE=PyGPU ARRAY_API_TESTS_VERSION=2025.12
exec "$python" -m pytest array_api_tests -p no:cacheprovider --disable-deadline --derandomize --max-examples="$examples" \
    --skips-file="$lists/skips.txt" --xfails-file="$lists/xfails.txt" "$@"
