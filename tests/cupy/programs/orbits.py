"""Simulate two groups of bodies that attract each other, each group by a raw kernel on its own stream."""

import argparse

import cupy as cp
import numpy as np

SOURCE = r"""
extern "C" __global__
void attract(const float4 *bodies, float3 *speeds, float4 *moved, float step, int n) {
    extern __shared__ float4 tile[];
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int first = 0; first < n; first += blockDim.x) {
        int other = first + threadIdx.x;
        tile[threadIdx.x] = other < n ? bodies[other] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < blockDim.x; ++j) {
            float dx = tile[j].x - own.x, dy = tile[j].y - own.y, dz = tile[j].z - own.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float pull = tile[j].w * inverse * inverse * inverse;
            ax += pull * dx; ay += pull * dy; az += pull * dz;
        }
        __syncthreads();
    }
    if (i < n) {
        speeds[i].x += step * ax; speeds[i].y += step * ay; speeds[i].z += step * az;
        moved[i] = make_float4(own.x + step * speeds[i].x, own.y + step * speeds[i].y,
                               own.z + step * speeds[i].z, own.w);
    }
}
"""
attract = cp.RawKernel(SOURCE, "attract", options=("--use_fast_math",))


def simulate(bodies, speeds, steps, step, block):
    """Move one group of bodies by a kernel on the current stream."""
    n = len(bodies)
    now, after = cp.asarray(bodies), cp.empty(bodies.shape, cp.float32)
    moving = cp.asarray(speeds)
    for _ in range(steps):
        attract((-(-n // block),), (block,), (now, moving, after, cp.float32(step), n), shared_mem=16 * block)
        now, after = after, now
    return now, moving


def simulate_on_host(bodies, speeds, steps, step):
    """Move one group of bodies by the same steps with NumPy, for comparison."""
    bodies, speeds = bodies.astype(np.float64), speeds.astype(np.float64)
    for _ in range(steps):
        distance = bodies[None, :, :3] - bodies[:, None, :3]
        cubed = ((distance**2).sum(-1) + 0.01) ** -1.5
        speeds += step * (distance * (cubed * bodies[None, :, 3])[..., None]).sum(1)
        bodies[:, :3] += step * speeds
    return bodies, speeds


def main():
    """Simulate both groups of bodies, and print their momenta and energies."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bodies", type=int, default=192)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    rng = np.random.default_rng(3)
    groups = []
    for _ in range(2):
        bodies = rng.uniform(-1, 1, (options.bodies, 4)).astype(np.float32)
        bodies[:, 3] = np.abs(bodies[:, 3]) / options.bodies
        groups.append((bodies, rng.uniform(-0.1, 0.1, (options.bodies, 3)).astype(np.float32)))

    streams = [cp.cuda.Stream(non_blocking=True) for _ in groups]
    start, ends, results = cp.cuda.Event(), [cp.cuda.Event() for _ in groups], []
    start.record()
    for stream, end, group in zip(streams, ends, groups, strict=True):
        with stream:
            stream.wait_event(start)
            results.append(simulate(*group, options.steps, 0.01, 64))
            end.record(stream)
    main_stream = cp.cuda.get_current_stream()
    for end in ends:
        main_stream.wait_event(end)
    energies = [float((bodies[:, 3] * (speeds**2).sum(axis=1)).sum()) / 2 for bodies, speeds in results]
    main_stream.synchronize()
    assert all(end.done for end in ends)
    assert cp.cuda.get_elapsed_time(start, ends[0]) >= 0
    assert attract.max_threads_per_block >= 64
    for (moved, speeds), group, energy in zip(results, groups, energies, strict=True):
        expected = simulate_on_host(*group, options.steps, 0.01)
        np.testing.assert_allclose(cp.asnumpy(moved), expected[0], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(speeds.get(), expected[1], rtol=1e-3, atol=1e-4)
        print("momentum", *(f"{value:.5f}" for value in (moved[:, 3:] * speeds).sum(axis=0).tolist()))
        print("energy", f"{energy:.5f}")


if __name__ == "__main__":
    main()
