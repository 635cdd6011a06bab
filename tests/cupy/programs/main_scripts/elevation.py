"""Run the kernels of elevation_mapping_cupy on points that form a slope with a step, and print the map's layers."""

import sys

sys.path.insert(0, f"{sys.argv[1]}/elevation_mapping_cupy/script/elevation_mapping_cupy/kernels")
import cupy as cp

if cp.__name__ == "cupy":  # CuPy 14 defines float16 only for kernels with float16 parameters.
    own_kernel = cp.ElementwiseKernel

    def kernel_with_float16(*args, preamble="", **options):
        """Return an elementwise kernel whose source includes the definition of float16."""
        return own_kernel(*args, preamble=f"#include <cupy/float16.cuh>\n{preamble}", **options)

    cp.ElementwiseKernel = kernel_with_float16
import custom_kernels as kernels
import numpy as np

RESOLUTION, CELLS = 0.125, 32
SENSOR = (0.05, 0.1, 1.0, 0.3, 1.0, 1.0)  # Parameters of the sensor: noise, distances, heights and ramp.
distances = (SENSOR[1], SENSOR[2], SENSOR[3], SENSOR[4], SENSOR[5])
noise, cell = SENSOR[0], (RESOLUTION, CELLS, CELLS)
size = CELLS * CELLS

# Every second cell gets exactly one point, so the result of a cell does not depend on the order of the threads.
at = (np.arange(2, CELLS - 2, 2) - CELLS / 2 + 0.25) * RESOLUTION
x, y = (part.ravel() for part in np.meshgrid(at, at, indexing="ij"))
z = 0.125 * np.round(x) - 1.25 + 0.25 * (y > 0)
points = cp.asarray(np.stack([x, y, z], axis=1), dtype=cp.float32)
rotation, origin = cp.eye(3, dtype=cp.float32), cp.asarray([0, 0, 0.0], dtype=cp.float32)
centre = cp.zeros(2, cp.float32)
layers = cp.zeros((7, CELLS, CELLS), cp.float32)
layers[1] += 10  # Layer 1 of the map stores the variance of each cell, which is 10 until a point falls into the cell.
layers[0] -= 1
new_layers, normals = cp.zeros((5, CELLS, CELLS), cp.float32), cp.zeros((3, CELLS, CELLS), cp.float32)

count = kernels.error_counting_kernel(*cell, noise, 2.0, 0.01, 0.5, *distances)
error, counted = cp.zeros(1, cp.float32), cp.zeros(1, cp.float32)
layers[2], layers[3] = 1, 1
layers[1] *= 0.0004
count(layers, points, centre[:1], centre[1:], rotation, origin, new_layers, error, counted, size=len(points))
print("errors", float(error[0]), float(counted[0]))
layers[1] *= 2500
add = kernels.add_points_kernel(
    *cell, noise, 2.0, 0.01, 100, 10.0, 0.1, *distances[:2], 0.9, *distances[2:], enable_visibility_cleanup=False
)
add(centre[:1], centre[1:], rotation, origin, normals, points, layers, new_layers, size=len(points))
variance = SENSOR[0] * z.astype(np.float32) ** 2
np.testing.assert_allclose(float(new_layers[0].sum()), ((10 * z - variance) / (10 + variance)).sum(), rtol=1e-5)
np.testing.assert_allclose(float(new_layers[1].sum()), (10 * variance / (10 + variance)).sum(), rtol=1e-5)
average = kernels.average_map_kernel(CELLS, CELLS, 100.0, 10.0)
average(new_layers, layers, size=size)
print("points inside", float(points[:, 2].sum()), "valid", float(points[:, 1].sum()))
print("layers", *layers.sum(axis=(1, 2)).tolist())
print("new layers", *new_layers.sum(axis=(1, 2)).tolist())

mask = (new_layers[2] > 0).astype(cp.float32)
dilated, dilated_mask = layers[0].copy(), mask.copy()
kernels.dilation_filter_kernel(CELLS, CELLS, 1)(layers[0], mask, dilated, dilated_mask, size=size)
print("dilated", float(dilated.sum()), float(dilated_mask.sum()))
kernels.normal_filter_kernel(CELLS, CELLS, RESOLUTION)(dilated, dilated_mask, normals, size=size)
print("normals", *normals.sum(axis=(1, 2)).tolist())

corners = cp.asarray([[-1, -1], [1.5, -0.5], [1, 1.25], [-0.5, 1]], dtype=cp.float32)
box = cp.concatenate([corners.min(axis=0), corners.max(axis=0)])
inside = cp.zeros((CELLS, CELLS), cp.float32)
polygon = kernels.polygon_mask_kernel(CELLS, CELLS, RESOLUTION)
polygon(corners, centre[:1], centre[1:], cp.asarray([4], dtype=cp.int16), box, inside, size=size)
assert abs(float(inside.sum()) * RESOLUTION**2 - 3.75) < 0.25  # The area of the polygon is 3.75.
print("polygon", float(inside.sum()), *cp.count_nonzero(inside, axis=1).tolist())
