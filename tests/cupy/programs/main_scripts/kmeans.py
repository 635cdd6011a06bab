"""Print the centres that CuPy's example kmeans.py finds, first with array operations and then with custom kernels."""

import sys
from types import ModuleType

try:
    import matplotlib.pyplot
except ImportError:  # The example imports matplotlib, but uses it only to draw its result.
    sys.modules["matplotlib"] = matplotlib = ModuleType("matplotlib")
    sys.modules["matplotlib.pyplot"] = matplotlib.pyplot = ModuleType("matplotlib.pyplot")

sys.path.insert(0, f"{sys.argv[1]}/examples/kmeans")
import cupy
import kmeans
import numpy

rng = numpy.random.default_rng(1)
samples = rng.standard_normal((3000, 2))
points = numpy.r_[samples + 3, samples - 3]
on_device = cupy.asarray(points)
numpy.random.seed(1)
for name, fitted in (
    ("numpy", kmeans.fit_xp(points, 2, 20)),
    ("arrays", kmeans.fit_xp(on_device, 2, 20)),
    ("kernels", kmeans.fit_custom(on_device, 2, 20)),
):
    centres, labels = (cupy.asnumpy(part) for part in fitted)
    order = numpy.argsort(centres[:, 0])
    print(name, "centres", *centres[order].ravel(), "sizes", *numpy.bincount(labels.astype(int))[order])
kmeans.run(0, 2, 2000, 10, False, None)
kmeans.run(0, 2, 2000, 10, True, None)
