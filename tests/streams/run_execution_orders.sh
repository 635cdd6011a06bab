#!/bin/sh
# Usage: run_execution_orders.sh PYTHON [PYTEST ARGUMENTS]. Runs the tests of execution order on a simulated device with slow
# streams, with other legal orders, and with failing calls.
python=$1
shift
failed=0

# Each copy of pageable host memory goes through the ring of pinned slots, on slow streams. A copy has so many chunks that it
# uses each slot repeatedly, and so few that the delays of the streams do not dominate the test time.
PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=65536 PYGPU_SIM_DELAY_US=0-20 \
    "$python" -m pytest tests/host/test_staging.py tests/streams/test_hazards.py "$@" || failed=1

# Five seeds, by each of which the simulated device chooses another legal order.
for seed in 1 2 3 4 5; do
    PYGPU_SIM_SEED=$seed "$python" -m pytest tests/streams/test_hazards.py tests/streams/test_graph.py tests/streams/test_stream.py \
        "$@" || failed=1
done

# One driver call after another fails, while all copies go through pinned slots.
PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=4096 "$python" -m pytest tests/backend/test_fault_matrix.py "$@" || failed=1
exit $failed
