"""Compute the energies of NPBench's nbody_cupy.py, compare them with those of nbody_numpy.py, and print them."""

import sys

sys.path.insert(0, f"{sys.argv[1]}/npbench/benchmarks/nbody")
import cupy
import numpy
from nbody import initialize
from nbody_cupy import nbody
from nbody_numpy import nbody as nbody_on_host

mass, positions, velocities, steps = initialize(25, 0.3, 0.02)
device = [cupy.asarray(values) for values in (mass, positions, velocities)]
kinetic, potential = nbody(*device, 25, steps, 0.02, 1.0, 0.1)
expected = nbody_on_host(mass, positions, velocities, 25, steps, 0.02, 1.0, 0.1)
numpy.testing.assert_allclose(cupy.asnumpy(kinetic), expected[0])
numpy.testing.assert_allclose(cupy.asnumpy(potential), expected[1])
print("kinetic", *kinetic.tolist())
print("potential", *potential.tolist())
print("last", *device[1][-1].tolist(), *device[2][-1].tolist())
