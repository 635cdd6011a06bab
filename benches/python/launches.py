"""Time launches of kernels and graphs, and the first launch of a process, with PyGPU, the driver and other libraries.

    python benches/python/launches.py [--json FILE] [--rounds 15]

- launch: the host's time of an asynchronous launch with five arguments, measured by `timeit`. All cases alternate in
  each round, and the value is the median over the rounds. The lower bound is the time of cuLaunchKernel in a loop in C.
- graph: the time between launches of a graph of 100 empty kernels, per kernel. The lower bound is the driver's
  cuGraphLaunch of such a graph, captured by driver calls.
- first launch: the time from the source to the end of the first launch. The time is measured in a new process that has
  created its context; the library's cache on disk contains the kernel.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
from driver_calls import PTX, WORD, Driver, Floor

import PyGPU

SOURCE = 'extern "C" __global__ void five(float *x, float *y, float *z, long long n, float a) {}'
LAUNCHES = 200
KERNELS = 100
REPLAYS = 50

FIRST = {
    "PyGPU": """
import PyGPU, numpy
x = PyGPU.zeros(5, "float32"); PyGPU.synchronize()
start = time.perf_counter()
PyGPU.Kernel(SOURCE, "five")[1, 32](x, x, x, 5, 1.0); PyGPU.synchronize()
""",
    "CuPy": """
import cupy
x = cupy.zeros(5, "float32"); cupy.cuda.Device().synchronize()
start = time.perf_counter()
cupy.RawKernel(SOURCE, "five")((1,), (32,), (x, x, x, cupy.int64(5), cupy.float32(1))); cupy.cuda.Device().synchronize()
""",
}


# The timed statement of a launch, and the namespace in which `timeit` runs the statement.
Launch = tuple[str, dict[str, Any]]


def pygpu_launches() -> dict[str, Launch]:
    from PyGPU.compiler import SourceModule
    from PyGPU.elementwise import ElementwiseKernel

    kernel = PyGPU.Kernel(SOURCE, "five")
    function = SourceModule(SOURCE, no_extern_c=True).get_function("five").prepare("PPPqf")
    x, y, z = (PyGPU.zeros(16, np.float32) for _ in range(3))
    n, a = np.int64(5), np.float32(1)
    launcher = kernel[1, 32]
    # Both launches start two blocks of 32 threads. `clustered` also combines the two blocks into a cluster.
    two, clustered = (
        kernel[PyGPU.LaunchConfig(2, 32, cluster=size)] for size in (None, min(2, kernel.max_cluster_size(32)))
    )
    dependent = kernel[PyGPU.LaunchConfig(1, 32, programmatic_dependent_launch=True, priority=0)]
    p, q, r = x.gpudata, y.gpudata, z.gpudata
    axpy = ElementwiseKernel("float a, float *x, float *y, float *z", "z[i] = a * x[i] + y[i]")
    plane, other, target = (PyGPU.zeros((8, 8), np.float32)[:, ::2] for _ in range(3))
    names = locals()
    return {
        "PyGPU, elementwise": ("axpy(2, x, y, z)", names),
        "PyGPU, elementwise, strided": ("axpy(2, plane, other, target)", names),
        "PyGPU, native": ("kernel[1, 32](x, y, z, 5, 1.0)", names),
        "PyGPU, native, shape kept": ("launcher(x, y, z, 5, 1.0)", names),
        "PyGPU, two blocks": ("two(x, y, z, 5, 1.0)", names),
        "PyGPU, two blocks, a cluster": ("clustered(x, y, z, 5, 1.0)", names),
        "PyGPU, dependent, with a priority": ("dependent(x, y, z, 5, 1.0)", names),
        "PyGPU, PyCUDA's spelling": ("function(x, y, z, n, a, block=(32, 1, 1), grid=(1, 1))", names),
        "PyGPU, prepared": ("function.prepared_call((1, 1), (32, 1, 1), p, q, r, 5, 1.0)", names),
    }


def cupy_launches() -> dict[str, Launch]:
    import cupy

    kernel = cupy.RawKernel(SOURCE, "five")
    x, y, z = (cupy.zeros(16, cupy.float32) for _ in range(3))
    n, a = cupy.int64(5), cupy.float32(1)
    return {"CuPy": ("kernel((1,), (32,), (x, y, z, n, a))", locals())}


def cuda_core_launches() -> dict[str, Launch]:
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch  # noqa: F401

    device = Device(0)
    device.set_current()
    stream = device.default_stream
    options = ProgramOptions(arch=f"sm_{''.join(map(str, device.compute_capability))}")
    kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("five")
    config = LaunchConfig(grid=1, block=32)
    block = PyGPU.zeros(16, np.float32)
    n, a, address = np.int64(5), np.float32(1), block.ptr
    return {"cuda.core": ("launch(stream, config, kernel, address, address, address, n, a)", locals())}


def pycuda_launches() -> dict[str, Launch]:
    import pycuda.autoprimaryctx  # noqa: F401
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule

    function = SourceModule(SOURCE, no_extern_c=True).get_function("five").prepare("PPPqf")
    x = gpuarray.zeros(16, np.float32)
    p = q = r = x.gpudata
    n, a = np.int64(5), np.float32(1)
    names = locals()
    return {
        "PyCUDA": ("function(x, x, x, n, a, block=(32, 1, 1), grid=(1, 1))", names),
        "PyCUDA, prepared": ("function.prepared_call((1, 1), (32, 1, 1), p, q, r, 5, 1.0)", names),
    }


def pygpu_graph() -> Callable[[], Any]:
    kernel = PyGPU.Kernel(SOURCE, "five")
    x = PyGPU.zeros(16, np.float32)
    with PyGPU.Graph() as graph:
        for _ in range(KERNELS):
            kernel[1, 32](x, x, x, 5, 1.0)
    stream = PyGPU.Stream(non_blocking=True)
    return lambda: graph.launch(stream)


def floor_graph() -> Callable[[], Any]:
    driver = Driver()
    module = driver.made("cuModuleLoadData", ctypes.c_void_p, ctypes.c_char_p(PTX))
    kernel = driver.made("cuModuleGetFunction", ctypes.c_void_p, module, ctypes.c_char_p(b"nothing"))
    values = [WORD(1), WORD(2), WORD(3), WORD(4), ctypes.c_float(5)]
    pointers = (ctypes.c_void_p * 5)(*(ctypes.addressof(value) for value in values))
    stream = driver.made("cuStreamCreate", ctypes.c_void_p, 1)
    driver.cuStreamBeginCapture_v2(stream, 2)
    for _ in range(KERNELS):
        driver.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, pointers, None)
    graph = ctypes.c_void_p()
    driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    executable = driver.made("cuGraphInstantiateWithFlags", ctypes.c_void_p, graph, ctypes.c_ulonglong(0))
    launch = driver.library.cuGraphLaunch
    return lambda: launch(executable, stream)


def cupy_graph() -> Callable[[], Any]:
    import cupy

    kernel = cupy.RawKernel(SOURCE, "five")
    x = cupy.zeros(16, cupy.float32)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        for _ in range(KERNELS):
            kernel((1,), (32,), (x, x, x, cupy.int64(5), cupy.float32(1)))
        graph = stream.end_capture()
    return lambda: graph.launch(stream)


def found(name: str, make: Callable[[], Any]) -> Any:
    """Return the result of a function that needs another library, or None if the library is missing."""
    try:
        return make()
    except Exception as error:
        print(f"{name}: {type(error).__name__}: {str(error)[:120]}", file=sys.stderr)
        return None


def medians(timers: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Time each case in every round, each round in another order, and return the median of each case."""
    times: dict[str, list[float]] = {name: [] for name in timers}
    for turn in range(rounds):
        names = list(timers) if turn % 2 else list(reversed(timers))
        for name in names:
            times[name].append(timers[name]())
    return {name: statistics.median(own) for name, own in times.items()}


def host_time(launch: Launch) -> Callable[[], float]:
    statement, names = launch
    timer = timeit.Timer(statement, globals=names)

    def seconds() -> float:
        PyGPU.synchronize()
        return timer.timeit(LAUNCHES) / LAUNCHES

    seconds()
    return seconds


def replay_time(call: Callable[[], Any]) -> Callable[[], float]:
    def seconds() -> float:
        PyGPU.synchronize()
        start = time.perf_counter()
        for _ in range(REPLAYS):
            call()
        PyGPU.synchronize()
        return (time.perf_counter() - start) / REPLAYS / KERNELS

    seconds()
    return seconds


def first_launch(library: str) -> float | None:
    program = f"import time\nSOURCE = {SOURCE!r}\n{FIRST[library]}\nprint(time.perf_counter() - start)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    return float(run.stdout) if run.returncode == 0 else None


def main() -> None:
    """Measure all launches, print a table, and write the JSON file if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    calls: dict[str, Launch] = {}
    for make in (pygpu_launches, cupy_launches, cuda_core_launches, pycuda_launches):
        calls |= found(make.__name__, make) or {}
    timers = {name: host_time(launch) for name, launch in calls.items()}
    if loop := found("floor", lambda: Floor().timer("launch, 5 arguments")):
        timers["floor"] = lambda: loop(LAUNCHES) / LAUNCHES
    makers = {"floor": floor_graph, "PyGPU": pygpu_graph, "CuPy": cupy_graph}
    graphs = {name: call for name, make in makers.items() if (call := found(f"graph, {name}", make)) is not None}
    result = {
        "launch_us": {name: 1e6 * t for name, t in medians(timers, arguments.rounds).items()},
        "graph_us_per_kernel": {
            name: 1e6 * t
            for name, t in medians({name: replay_time(call) for name, call in graphs.items()}, arguments.rounds).items()
        },
        "first_launch_ms": {
            name: 1e3 * statistics.median(times)
            for name in FIRST
            if (times := [t for t in [first_launch(name) for _ in range(6)][1:] if t is not None])
        },
    }
    for key in ("launch_us", "graph_us_per_kernel", "first_launch_ms"):
        for name, value in sorted(result[key].items(), key=lambda item: item[1]):
            print(f"{key:22}{name:30}{value:9.3f}")
    if arguments.json:
        machine.write(arguments.json, result)


if __name__ == "__main__":
    main()
