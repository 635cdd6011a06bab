"""Test launch attributes on a real GPU: clusters, cooperative grids and programmatic dependent launches.

Clusters and programmatic dependent launches need compute capability 9.0. Most kernels use inline PTX, because NVRTC
compiles inline PTX without the CUDA toolkit's headers. Tests of kernels that include cooperative_groups.h are skipped
if this header is missing.
"""

from __future__ import annotations

import numpy as np
import pytest

import PyGPU
from gpu import kernel_library, support
from PyGPU import LaunchConfig
from PyGPU._core import device_attribute

support.require_gpu()
if support.on_hip() or kernel_library.simulated() is not None:
    pytest.skip("clusters and dependent launches of a real CUDA device", allow_module_level=True)
if device_attribute(120) == 0:  # The constant CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH of the driver API.
    pytest.skip("the device has no clusters of blocks", allow_module_level=True)

SOURCE = r"""
__device__ unsigned rank_in_cluster()
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ unsigned blocks_of_cluster()
{
    unsigned count;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
    return count;
}

__device__ void meet_cluster()
{
    asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

// The value that the same thread of the next block of the cluster has in its shared memory.
__device__ int of_neighbour(int *own)
{
    unsigned here = (unsigned)__cvta_generic_to_shared(own), there;
    unsigned next = (rank_in_cluster() + 1) % blocks_of_cluster();
    int value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(here), "r"(next));
    asm volatile("ld.shared::cluster.s32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
    return value;
}

__device__ void shift(int *out)
{
    __shared__ int own[64];
    own[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    meet_cluster();
    out[blockIdx.x * blockDim.x + threadIdx.x] = of_neighbour(&own[threadIdx.x]);
    meet_cluster();  // nobody's shared memory goes while it is read
}

extern "C" __global__ void neighbour(int *out) { shift(out); }
extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbour_of_four(int *out) { shift(out); }

// Begins the next kernel at once, and then takes its time.
extern "C" __global__ void first(int *x, int turn)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    __nanosleep(20000);
    x[blockIdx.x * blockDim.x + threadIdx.x] += turn;
}

extern "C" __global__ void second(const int *x, int *y)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = 2 * x[i];
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

extern "C" __global__ void much_shared(int *out)
{
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < 50000; i += blockDim.x) room[i] = i;
    __syncthreads();
    out[threadIdx.x] = room[49999 - threadIdx.x];
}
"""

GROUPS = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void neighbour(int *out)
{
    __shared__ int own[64];
    cg::cluster_group cluster = cg::this_cluster();
    own[threadIdx.x] = blockIdx.x * 1000 + threadIdx.x;
    cluster.sync();
    int *other = cluster.map_shared_rank(own, (cluster.block_rank() + 1) % cluster.num_blocks());
    out[blockIdx.x * blockDim.x + threadIdx.x] = other[threadIdx.x];
    cluster.sync();
}

// The sum of all of x, in out[0]: each block its part, then the first block those of all.
extern "C" __global__ void total(const float *x, float *parts, float *out, int n)
{
    __shared__ float room[256];
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
    room[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) room[threadIdx.x] += room[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) parts[blockIdx.x] = room[0];
    cg::this_grid().sync();
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        float all = 0;
        for (int i = 0; i < gridDim.x; i++) all += parts[i];
        *out = all;
    }
}
"""


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return PyGPU.Module(SOURCE)


@pytest.fixture(scope="module")
def groups() -> PyGPU.Module:
    try:
        return PyGPU.Module(GROUPS)
    except PyGPU.CompileError as error:
        if "cooperative_groups.h" in error.log and ("open" in error.log or "not found" in error.log):
            pytest.skip(f"the toolkit's headers are not installed: {error.log.splitlines()[0]}")
        raise


def shifted(blocks: int, cluster: int) -> np.ndarray:
    """Return the expected output of the kernel `neighbour`, in which each block reads values of the next block of its
    cluster."""
    ranks = np.arange(blocks)
    of = ranks // cluster * cluster + (ranks + 1) % cluster
    return (of[:, None] * 1000 + np.arange(64)).reshape(-1).astype(np.int32)


@pytest.mark.parametrize("cluster", [1, 2, 4, 8])
def test_blocks_in_cluster_read_shared_memory_of_next_block(module: PyGPU.Module, cluster: int) -> None:
    out = PyGPU.zeros(16 * 64, np.int32)
    module.get_function("neighbour")[LaunchConfig(16, 64, cluster=cluster)](out)
    np.testing.assert_array_equal(out.get(), shifted(16, cluster))


@pytest.mark.parametrize("policy", ["spread", "load_balancing"])
def test_cluster_scheduling_policy_does_not_change_results(module: PyGPU.Module, policy: str) -> None:
    out = PyGPU.zeros(16 * 64, np.int32)
    config = LaunchConfig(16, 64, cluster=4, cluster_scheduling_policy=policy, preferred_shared_memory_carveout=50)
    module.get_function("neighbour")[config.replace(priority=-1)](out)
    np.testing.assert_array_equal(out.get(), shifted(16, 4))


def test_cluster_of_16_blocks_is_rejected_unless_kernel_permits_this_size() -> None:
    kernel = PyGPU.Module(SOURCE).get_function("neighbour")
    out = PyGPU.zeros(32 * 64, np.int32)
    with pytest.raises(ValueError, match=r"has 16 blocks, and 8 is what every device with clusters takes"):
        kernel[LaunchConfig(32, 64, cluster=16)](out)
    assert out.get().sum() == 0
    assert kernel.max_cluster_size(64) == 8
    kernel.non_portable_cluster_size_allowed = True
    most = kernel.max_cluster_size(64)
    assert most >= 8
    print("the largest cluster:", most)
    if most >= 16:
        kernel[LaunchConfig(32, 64, cluster=16)](out)
        np.testing.assert_array_equal(out.get(), shifted(32, 16))
    with pytest.raises(ValueError, match=r"the cluster \(32, 1, 1\) cannot be launched"):
        kernel[LaunchConfig(32, 64, cluster=32)](out)


def test_kernel_with_cluster_size_in_source_needs_no_launch_attribute(module: PyGPU.Module) -> None:
    kernel = module.get_function("neighbour_of_four")
    assert kernel.required_cluster == (4, 1, 1)
    assert module.get_function("neighbour").required_cluster is None
    for launch in (kernel[16, 64], kernel[LaunchConfig(16, 64)], kernel[LaunchConfig(16, 64, cluster=4)]):
        out = PyGPU.zeros(16 * 64, np.int32)
        launch(out)
        np.testing.assert_array_equal(out.get(), shifted(16, 4))
    with pytest.raises(ValueError, match=r"\(2, 1, 1\) blocks were asked for.*compiled for clusters of \(4, 1, 1\)"):
        kernel[LaunchConfig(16, 64, cluster=2)](out)
    with pytest.raises(ValueError, match="18 blocks along x, which is no multiple of the 4"):
        kernel[LaunchConfig(18, 64)](out)
    with pytest.raises((ValueError, PyGPU.CudaError)) as refused:
        kernel[18, 64](out)
    print("a plain launch of an uneven grid:", type(refused.value).__name__, refused.value)
    np.testing.assert_array_equal(out.get(), shifted(16, 4))


def test_number_of_simultaneous_clusters_decreases_with_cluster_size(module: PyGPU.Module) -> None:
    kernel = module.get_function("neighbour")
    clusters = {size: kernel.max_active_clusters(LaunchConfig(16, 64, cluster=size)) for size in (1, 2, 4, 8)}
    print("clusters at once:", clusters)
    assert clusters[1] >= clusters[2] >= clusters[4] >= clusters[8] > 0


def test_cooperative_groups_read_shared_memory_of_next_block(groups: PyGPU.Module) -> None:
    out = PyGPU.zeros(16 * 64, np.int32)
    groups.get_function("neighbour")[LaunchConfig(16, 64, cluster=8)](out)
    np.testing.assert_array_equal(out.get(), shifted(16, 8))


def test_cooperative_grid_synchronizes_and_reduces_in_one_launch(groups: PyGPU.Module) -> None:
    total = groups.get_function("total")
    n = 1_000_003
    x = np.arange(n, dtype=np.float32) % 17
    blocks = PyGPU.device_properties(0)["multiprocessor_count"]
    parts, out = PyGPU.zeros(blocks, np.float32), PyGPU.zeros(1, np.float32)
    for _ in range(20):
        out.fill(0)
        total[LaunchConfig(blocks, 256, cooperative=True)](PyGPU.asarray(x), parts, out, n)
        assert out.get()[0] == x.sum(dtype=np.float64)
    with pytest.raises(ValueError, match=r"cooperative grid \(100000, 1, 1\) has 100000 blocks of 256 threads"):
        total[LaunchConfig(100_000, 256, cooperative=True)](PyGPU.asarray(x), parts, out, n)


@pytest.mark.parametrize("on", ["default", "own"])
def test_programmatic_dependent_launches_match_plain_launches(module: PyGPU.Module, on: str) -> None:
    first, second = module.get_function("first"), module.get_function("second")
    stream = PyGPU.Stream(non_blocking=True) if on == "own" else None
    config = LaunchConfig(64, 128, stream=stream, programmatic_dependent_launch=True)
    x, y = PyGPU.zeros(64 * 128, np.int32), PyGPU.zeros(64 * 128, np.int32)
    expected = 0
    for turn in range(1, 201):
        first[config](x, turn)
        second[config](x, y)
        expected += turn
    np.testing.assert_array_equal(y.get(), np.full(64 * 128, 2 * expected))
    np.testing.assert_array_equal(x.get(), np.full(64 * 128, expected))


def test_launch_on_other_stream_waits_for_chain_of_dependent_launches(module: PyGPU.Module) -> None:
    first, second = module.get_function("first"), module.get_function("second")
    one, other = PyGPU.Stream(non_blocking=True), PyGPU.Stream(non_blocking=True)
    config = LaunchConfig(64, 128, stream=one, programmatic_dependent_launch=True)
    x, y, z = (PyGPU.zeros(64 * 128, np.int32) for _ in range(3))
    for turn in range(1, 51):
        first[config](x, turn)
        second[config](x, y)
        second[config.replace(stream=other)](y, z)
    np.testing.assert_array_equal(z.get(), np.full(64 * 128, 4 * 50 * 51 // 2))


def test_launch_with_200000_bytes_of_dynamic_shared_memory_is_correct(module: PyGPU.Module) -> None:
    kernel = module.get_function("much_shared")
    out = PyGPU.zeros(128, np.int32)
    kernel[LaunchConfig(1, 128, 200_000, preferred_shared_memory_carveout=100)](out)
    np.testing.assert_array_equal(out.get(), 49999 - np.arange(128))
    with pytest.raises(ValueError, match="1000000 bytes of dynamic shared memory were asked for"):
        kernel[LaunchConfig(1, 128, 1_000_000, cluster=1)](out)


def test_graph_launches_kernels_with_captured_launch_attributes(module: PyGPU.Module, groups: PyGPU.Module) -> None:
    stream = PyGPU.Stream(non_blocking=True)
    out, x, y = (PyGPU.zeros(16 * 64, np.int32) for _ in range(3))
    n = 10_000
    values = PyGPU.asarray(np.ones(n, np.float32))
    parts, total = PyGPU.zeros(32, np.float32), PyGPU.zeros(1, np.float32)
    chain = LaunchConfig(16, 64, stream=stream, programmatic_dependent_launch=True)
    stream.begin_capture()
    module.get_function("neighbour")[chain.replace(cluster=8, programmatic_dependent_launch=False, priority=-1)](out)
    module.get_function("first")[chain](x, 3)
    module.get_function("second")[chain](x, y)
    groups.get_function("total")[LaunchConfig(32, 256, stream=stream, cooperative=True)](values, parts, total, n)
    graph = stream.end_capture()
    assert (out.get().sum(), x.get().sum(), total.get()[0]) == (0, 0, 0)
    for _ in range(5):
        graph.launch(stream)
    np.testing.assert_array_equal(out.get(), shifted(16, 8))
    np.testing.assert_array_equal(y.get(), np.full(16 * 64, 30))
    assert total.get()[0] == n


def test_kernel_reads_requested_cluster_shape_with_one_to_three_axes() -> None:
    kernel = PyGPU.Kernel(
        r"""
extern "C" __global__ void axes(int *out)
{
    unsigned x, y, z;
    asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
    asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(y));
    asm volatile("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(z));
    if (blockIdx.x + blockIdx.y + blockIdx.z == 0) { out[0] = x; out[1] = y; out[2] = z; }
}""",
        "axes",
    )
    out = PyGPU.zeros(3, np.int32)
    for cluster in [(2, 2, 2), (1, 4), (1, 1, 2), 3]:
        kernel[LaunchConfig((6, 4, 2), 32, cluster=cluster)](out)
        expected = (cluster if isinstance(cluster, tuple) else (cluster,)) + (1, 1)
        assert tuple(out.tolist()) == expected[:3]
