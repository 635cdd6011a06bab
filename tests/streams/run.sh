#!/bin/sh
# Run the tests of execution order under the conditions that a simulated device may choose: PYTHON [PYTEST ARGUMENTS].
python=$1
shift
failed=0

# Each copy of ordinary host memory goes through the ring of pinned slots, on slow streams. The chunks are enough to use each
# slot many times, and few enough that the delays of the streams do not take all of the time.
PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=65536 PYGPU_SIM_DELAY_US=0-20 \
    "$python" -m pytest tests/host/test_staging.py tests/streams/test_hazards.py "$@" || failed=1

# Some of the orders that a device may choose.
for seed in 1 2 3 4 5; do
    PYGPU_SIM_SEED=$seed "$python" -m pytest tests/streams/test_hazards.py tests/streams/test_graph.py tests/streams/test_stream.py \
        "$@" || failed=1
done

# Each call of the driver fails in turn, with all copies staged.
PYGPU_STAGING_THRESHOLD=1 PYGPU_STAGING_CHUNK=4096 "$python" -m pytest tests/backend/test_fault_matrix.py "$@" || failed=1
exit $failed
