"""Run NPBench's channel_flow_cupy.py, which calls NumPy's functions with device arrays, and print the flow."""

import sys

sys.path.insert(0, f"{sys.argv[1]}/npbench/benchmarks/channel_flow")
import cupy
import numpy
from channel_flow import initialize
from channel_flow_cupy import channel_flow

u, v, p, dx, dy, dt = initialize(11, 11)
dt *= 20  # A few steps suffice, because the computation is stable on a grid of so few cells.
fields = [cupy.asarray(values) for values in (u, v, p)]
steps = channel_flow(2, fields[0], fields[1], dt, dx, dy, fields[2], 1.0, 0.1, 1.0)
on_host = channel_flow(2, u, v, dt, dx, dy, p, 1.0, 0.1, 1.0)
assert steps == on_host, (steps, on_host)
for name, field, expected in zip("uvp", fields, (u, v, p), strict=True):
    numpy.testing.assert_allclose(cupy.asnumpy(field), expected, rtol=1e-9, atol=1e-12)
    print(name, "sum", float(field.sum()), "column", *field[:, 3].tolist())
print("steps", steps)
