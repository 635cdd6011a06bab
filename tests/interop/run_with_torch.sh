#!/bin/sh
# Usage: run_with_torch.sh PYTHON [PYTEST ARGUMENTS]. Runs the tests that need torch and no GPU, with the torch that
# tests/fetch_torch.sh made in build/torch. Without it these tests skip.
python=$1
shift
if [ -f build/torch/why-not ]; then
    echo "no torch: $(cat build/torch/why-not)"
else
    # shellcheck source=/dev/null
    . build/torch/environment
fi
# A torch that was built for an older NumPy warns of it, and shares memory as well.
warnings="ignore:Failed to initialize NumPy:UserWarning"
PYGPU_STRICT=1 exec "$python" -W "$warnings" -m pytest -W "$warnings" tests/interop/test_collectives.py tests/interop/test_torch.py \
    docs/howto/collectives.md docs/howto/torch.md README.md "$@"
