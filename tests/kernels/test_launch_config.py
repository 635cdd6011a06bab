"""Test launch attributes: the arguments that the driver receives, rejected values, and results of launches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import PyGPU
import simulated_driver
from PyGPU import LaunchConfig
from PyGPU.driver import Function
from support_kernels import module_or_skip

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// As many blocks as there are add one to all of x, which they may do after all have come only.
extern "C" __global__ void meet(int *x, int *count)
{
    atomicAdd(count, 1);
    cg::this_grid().sync();
    x[blockIdx.x * blockDim.x + threadIdx.x] += *count;
}

extern "C" __global__ void increment(int *x)
{
#ifdef __PYGPU_CPU__
    cudaGridDependencySynchronize();
#endif
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

extern "C" __global__ void alone(int *x)
{
    __shared__ int own;
    auto cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = blockIdx.x;
    cluster.sync();
    x[blockIdx.x * blockDim.x + threadIdx.x] = *cluster.map_shared_rank(&own, 0) + cluster.num_blocks();
}

extern "C" __global__ void shared(int *x)
{
    extern __shared__ int room[];
    for (int i = threadIdx.x; i < 15000; i += blockDim.x) room[i] = i;
    __syncthreads();
    x[threadIdx.x] = room[14999 - threadIdx.x];
}
"""

# Enum values of launch attributes in CUDA's header cuda.h.
COOPERATIVE, CLUSTER, POLICY, PROGRAMMATIC, PRIORITY, CARVEOUT = "2", "4", "5", "6", "8", "14"

HAS_CLUSTERS = PyGPU.backend_name() == "cuda"
DRIVER = simulated_driver.driver()
only_with_clusters = pytest.mark.skipif(not HAS_CLUSTERS, reason="clusters are CUDA's")
only_without_clusters = pytest.mark.skipif(HAS_CLUSTERS, reason="clusters are there")

pytestmark = pytest.mark.skipif(
    PyGPU.backend_name() != "cpu" and DRIVER is None, reason="a real device is tests/gpu/launches's"
)


@pytest.fixture(scope="module")
def module() -> PyGPU.Module:
    return module_or_skip(SOURCE)


@pytest.fixture
def increment(module: PyGPU.Module) -> PyGPU.Kernel:
    return module.get_function("increment")


def launch_attributes() -> dict[str, list[int]]:
    """Return the attributes of the most recent launch with attributes, as the simulated driver received the
    attributes."""
    assert DRIVER is not None
    return DRIVER.launches()[-1]["attributes"]


def count() -> int:
    """Return the number of launches with attributes that the simulated driver has counted."""
    name = "hipDrvLaunchKernelEx" if PyGPU.backend_name() == "hip" else "cuLaunchKernelEx"
    return 0 if DRIVER is None else DRIVER.call_count(name)


def test_repr_of_launch_config_shows_arguments() -> None:
    stream = PyGPU.Stream()
    config = LaunchConfig((4, 2), 64, 128, stream, cluster=(2, 2), priority=-1, cluster_scheduling_policy="spread")
    assert (config.grid, config.block, config.shared, config.stream) == ((4, 2, 1), (64, 1, 1), 128, stream)
    assert (config.cluster, config.priority, config.cluster_scheduling_policy) == ((2, 2, 1), -1, "spread")
    assert (config.cooperative, config.programmatic_dependent_launch) == (False, False)
    assert config.preferred_shared_memory_carveout is None
    changed = config.replace(cooperative=True, cluster=None, shared=0, stream=None, programmatic_dependent_launch=True)
    assert (changed.cooperative, changed.cluster, changed.priority, changed.stream) == (True, None, -1, None)
    assert config.cluster == (2, 2, 1)
    text = repr(changed)
    assert eval(text, {"LaunchConfig": LaunchConfig}).programmatic_dependent_launch
    assert text == (
        "LaunchConfig((4, 2, 1), (64, 1, 1), cluster_scheduling_policy='spread', cooperative=True, "
        "programmatic_dependent_launch=True, priority=-1)"
    )


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"clusters": 2}, TypeError, "LaunchConfig has no clusters"),
        ({"cluster": (1, 1, 1, 1)}, TypeError, "cluster is an int or a tuple of one to three"),
        ({"cluster": -2}, ValueError, "cluster is -2"),
        ({"priority": "high"}, TypeError, "priority is an int"),
        ({"cluster_scheduling_policy": "far"}, ValueError, "'spread', 'load_balancing' or None, not 'far'"),
    ],
)
def test_launch_config_rejects_unknown_attributes(keywords: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        LaunchConfig(1, 1, **keywords)
    with pytest.raises(error, match=text):
        LaunchConfig(1, 1).replace(**keywords)


def test_launch_without_attributes_uses_plain_launch_call(increment: PyGPU.Kernel) -> None:
    before = count()
    x = PyGPU.zeros(64, np.int32)
    increment[LaunchConfig(4, 16)](x)
    increment[4, 16](x)
    increment[4, 16](x, strided=True)
    assert x.tolist() == [3] * 64
    assert count() == before


@pytest.mark.parametrize("spelling", ["config", "keywords", "PyCUDA"])
def test_launch_passes_attributes_to_driver(increment: PyGPU.Kernel, spelling: str) -> None:
    x = PyGPU.zeros(64, np.int32)
    keywords: dict[str, Any] = {
        "priority": -1,
        "preferred_shared_memory_carveout": 50,
        "programmatic_dependent_launch": True,
        "cluster": 2 if HAS_CLUSTERS else 1,
        "cluster_scheduling_policy": "load_balancing",
    }
    config = LaunchConfig(4, 16, **keywords)
    for _ in range(3):
        if spelling == "config":
            increment[config](x)
        elif spelling == "keywords":
            increment[4, 16](x, **keywords)
        else:
            Function(increment)(x, config=config)
    assert x.tolist() == [3] * 64
    if HAS_CLUSTERS:
        assert launch_attributes() == {
            CLUSTER: [2, 1, 1],
            POLICY: [2, 0, 0],
            PROGRAMMATIC: [1, 0, 0],
            PRIORITY: [-1, 0, 0],
            CARVEOUT: [50, 0, 0],
        }
    elif DRIVER is not None:
        assert launch_attributes() == {PRIORITY: [-1, 0, 0]}


def test_cooperative_launch_synchronizes_all_blocks(module: PyGPU.Module) -> None:
    x, arrived = PyGPU.zeros(64, np.int32), PyGPU.zeros(1, np.int32)
    meet = module.get_function("meet")
    meet[LaunchConfig(16, 4, cooperative=True)](x, arrived)
    assert x.tolist() == [64] * 64
    meet[LaunchConfig(16, 4)](x, arrived, cooperative=True, priority=0)
    assert x.tolist() == [192] * 64
    if DRIVER is not None:
        assert launch_attributes() == {COOPERATIVE: [1, 0, 0], PRIORITY: [0, 0, 0]}


def test_cooperative_grid_above_limit_raises_error_with_limit(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(16, np.int32)
    for launch in (
        lambda: increment[LaunchConfig(5000, 1024, cooperative=True)](x),
        lambda: increment[5000, 1024](x, cooperative=True),
        lambda: increment[LaunchConfig(5000, 1024, cooperative=True, priority=-1)](x),
    ):
        with pytest.raises(ValueError, match=r"cooperative grid \(5000, 1, 1\) has 5000 blocks.*(512|264|608)"):
            launch()
    assert x.tolist() == [0] * 16


def test_launch_requests_opt_in_for_shared_memory_above_48_kib(module: PyGPU.Module) -> None:
    x = PyGPU.zeros(32, np.int32)
    kernel = module.get_function("shared")
    kernel[LaunchConfig(1, 32, 60000, priority=0)](x)
    assert x.tolist() == list(range(14999, 14967, -1))
    with pytest.raises(ValueError, match="1000000 bytes of dynamic shared memory were asked for; a block on"):
        kernel[LaunchConfig(1, 32, 1_000_000, priority=0)](x)


def test_cluster_of_one_block_is_supported_on_every_backend(module: PyGPU.Module) -> None:
    x = PyGPU.zeros(64, np.int32)
    alone = module.get_function("alone")
    alone[LaunchConfig(4, 16, cluster=1)](x)
    np.testing.assert_array_equal(x.get(), np.repeat(np.arange(1, 5), 16))
    assert alone.required_cluster is None
    assert alone.max_active_clusters(LaunchConfig(4, 16, cluster=1)) > 0


@only_without_clusters
def test_clusters_of_several_blocks_raise_error_if_unsupported(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(64, np.int32)
    for size in (2, (1, 2), (1, 1, 2)):
        with pytest.raises(PyGPU.NotSupportedError, match=f"{x.device} has no clusters: CUDA devices of"):
            increment[LaunchConfig((4, 4, 4), 1, cluster=size)](x)
    with pytest.raises(PyGPU.NotSupportedError, match="no clusters"):
        increment.non_portable_cluster_size_allowed = True
    increment.non_portable_cluster_size_allowed = False
    assert increment.max_cluster_size(128) == 1
    assert x.tolist() == [0] * 64


@only_with_clusters
def test_cluster_that_device_cannot_run_raises_error_with_limit(module: PyGPU.Module) -> None:
    increment = PyGPU.Module(SOURCE).get_function("increment")
    x = PyGPU.zeros(64, np.int32)
    before = count()
    with pytest.raises(ValueError, match=r"grid \(4, 3, 1\) has 3 blocks along y, .* multiple of the 2 of the cluster"):
        increment[LaunchConfig((4, 3), 1, cluster=(2, 2))](x)
    with pytest.raises(ValueError, match=r"the cluster \(0, 1, 1\) has no blocks"):
        increment[LaunchConfig(4, 1, cluster=0)](x)
    with pytest.raises(ValueError, match=r"has 16 blocks, and 8 is .* kernel.non_portable_cluster_size_allowed = True"):
        increment[LaunchConfig(16, 4, cluster=16)](x)
    with pytest.raises(ValueError, match="0 to 100, or -1 for the driver's choice, not 101"):
        increment[LaunchConfig(16, 4, preferred_shared_memory_carveout=101)](x)
    assert count() == before
    assert increment.max_cluster_size(64) == 8
    increment.non_portable_cluster_size_allowed = True
    assert increment.max_cluster_size(64) == 16
    increment[LaunchConfig(16, 4, cluster=16)](x)
    assert x.tolist() == [1] * 64
    with pytest.raises(ValueError, match=r"the cluster \(32, 1, 1\) cannot be launched .* 16 blocks of 2 threads"):
        increment[LaunchConfig(32, 2, cluster=32)](x)
    assert x.tolist() == [1] * 64


@pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="the text is the CPU's")
def test_cluster_kernel_on_cpu_reports_missing_support() -> None:
    PyGPU.Kernel("__global__ void __cluster_dims__(1, 1, 1) fine(int *x) { *x = 1; }")
    with pytest.raises(PyGPU.CompileError, match="the cpu backend has no clusters of blocks"):
        PyGPU.Kernel("__cluster_dims__(2) __global__ void wide(int *x) { *x = 1; }")


def test_graph_applies_captured_launch_attributes_at_each_launch(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(64, np.int32)
    stream = PyGPU.Stream(non_blocking=True)
    config = LaunchConfig(4, 16, stream=stream, cluster=2 if HAS_CLUSTERS else 1, programmatic_dependent_launch=True)
    stream.begin_capture()
    increment[config](x)
    increment[config.replace(priority=-1)](x)
    graph = stream.end_capture()
    assert x.tolist() == [0] * 64
    for _ in range(3):
        graph.launch(stream)
    assert x.tolist() == [6] * 64


def test_launch_with_attributes_is_ordered_after_earlier_work_on_array(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(64, np.int32)
    streams = [PyGPU.Stream() for _ in range(3)]
    for turn in range(30):
        increment[LaunchConfig(4, 16, stream=streams[turn % 3], priority=-1)](x)
    assert x.tolist() == [30] * 64


def test_launchers_have_attribute_kernel(increment: PyGPU.Kernel) -> None:
    for launcher in (increment[1, 32], increment[PyGPU.LaunchConfig(1, 32)]):
        assert launcher.kernel.name == increment.name
        assert launcher.kernel.handle == increment.handle
        with pytest.raises(AttributeError):
            launcher.kernel = increment


def test_launch_config_with_shape_rejects_second_shape(increment: PyGPU.Kernel) -> None:
    x = PyGPU.zeros(64, np.int32)
    with pytest.raises(TypeError, match="config= says grid, block, shared and stream"):
        Function(increment)(x, config=LaunchConfig(4, 16), block=(16, 1, 1))
    with pytest.raises(ValueError, match="a launch has no keyword"):
        Function(increment)(x, configuration=LaunchConfig(4, 16))
    with pytest.raises(TypeError, match=r"a launch takes the keywords strided, cluster, .* not clusters"):
        increment[4, 16](x, clusters=2)
    with pytest.raises(IndexError, match=r"kernel\[grid, block\].* or kernel\[LaunchConfig"):
        increment[4](x)
    assert x.tolist() == [0] * 64
