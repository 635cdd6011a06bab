"""Measure how frameworks scale to several GPUs and read files, as ratios that are valid on any machine.

    python benches/python/framework_scaling.py [--bytes N] [--data N] [--rounds 5] [--folder DIR] [--json FILE]
        [--quick]

Three workloads are measured:

- `to_gpu` of a memory-mapped file in the operating system's cache, compared with `to_gpu` of an ndarray of the same
  size;
- Dask on one and on two GPUs, with one worker of two threads per GPU: the workers upload a mapped file of `--data`
  bytes, run a kernel and sum its result; a plain loop in one task per worker, without Dask arrays, shows the limit of
  the machine;
- `map_blocks` of Dask in these workers: a kernel that runs for at least 0.1 s on each chunk of an array in device
  memory.

Times are medians. Each worker sees only its device. With PYGPU_CPU_DEVICES=2 the program runs without a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import machine
import numpy as np

import PyGPU
from PyGPU.elementwise import ElementwiseKernel

CHUNKS = 32
# Bytes of each chunk of an array that stays on the device. Few bytes suffice, because the kernel iterates on a chunk
# for a long time.
RESIDENT_CHUNK = 1 << 22
LEAST_SECONDS = 0.1
# Names of the workloads that are timed with Dask.
FILE, PLAIN, RESIDENT = "file to devices, kernel, sum", "the same without Dask", "resident map_blocks"


@functools.cache
def spin() -> ElementwiseKernel:
    """Return the kernel that all workloads run.

    It is loaded once per process, because loading takes as long as a transfer of some MB.
    """
    return ElementwiseKernel(
        "const float *x, float *y, int turns",
        "float v = x[i]; for (int t = 0; t < turns; ++t) v = v * 0.999f + 0.001f; y[i] = v",
        "spin",
    )


def spun(x: Any, turns: int) -> Any:
    """Return the result of a kernel that performs `turns` dependent multiplications for each element."""
    y = PyGPU.empty_like(x)
    spin()(x, y, turns)
    return y


class ThreadStreams(threading.local):
    """Hold a separate stream for each thread.

    Uploads by one thread can therefore overlap with kernels of other threads.
    """

    def __init__(self) -> None:
        self.stream = PyGPU.Stream(non_blocking=True)


@functools.cache
def own() -> ThreadStreams:
    """Return the streams of this process.

    The first call creates the streams, because the process must choose its device before.
    """
    return ThreadStreams()


def part(path: str, start: int, stop: int) -> Any:
    """Upload the elements `start` to `stop` of a mapped file to the device of the calling worker."""
    with own().stream:
        return PyGPU.to_gpu(np.load(path, mmap_mode="r")[start:stop])


def loaded(path: str, block_info: Any = None) -> Any:
    """Upload the part of the file that belongs to a chunk of a Dask array."""
    ((start, stop),) = block_info[None]["array-location"]
    return part(path, start, stop)


def plain(path: str, starts: list[int], step: int, turns: int) -> float:
    """Compute the sum of the kernel's results over all chunks by a plain loop, without Dask arrays."""
    return sum(float(one) for one in [spun(part(path, n, n + step), turns).sum(dtype="f8") for n in starts])


def seconds(call: Callable[[], Any]) -> float:
    """Return the seconds until the work of a call is complete; the result of the call is deleted after the timing."""
    begun = time.perf_counter()
    result = call()
    PyGPU.synchronize()
    took = time.perf_counter() - begun
    del result
    return took


def write(path: Path, nbytes: int) -> None:
    """Write a file of float32 numbers in pieces; the operating system then keeps the file in its cache."""
    target = np.lib.format.open_memmap(path, "w+", np.float32, (nbytes // 4,))
    piece = np.arange(min(1 << 22, nbytes // 4), dtype=np.float32) % 1000
    for start in range(0, len(target), len(piece)):
        target[start : start + len(piece)] = piece[: len(target) - start]
    target.flush()


def maps(path: Path, nbytes: int, rounds: int) -> dict[str, Any]:
    """Return GB/s of `to_gpu` from three sources: a file mapped at each call, a file mapped once, and an ndarray."""
    count = nbytes // 4
    host = np.array(np.load(path, mmap_mode="r")[:count])
    once = np.load(path, mmap_mode="r")[:count]
    ways = {
        "ndarray": lambda: PyGPU.to_gpu(host),
        "map": lambda: PyGPU.to_gpu(once),
        "new map": lambda: PyGPU.to_gpu(np.load(path, mmap_mode="r")[:count]),
    }
    took: dict[str, list[float]] = {name: [] for name in ways}
    for way in ways.values():
        seconds(way)
    for _ in range(rounds):
        for name, way in ways.items():
            took[name].append(seconds(way))
    speeds = {name: nbytes / statistics.median(times) / 1e9 for name, times in took.items()}
    return {
        "GB/s": speeds,
        "map / ndarray": speeds["map"] / speeds["ndarray"],
        "new map / ndarray": speeds["new map"] / speeds["ndarray"],
    }


@contextlib.contextmanager
def workers(count: int, threads: int = 2) -> Iterator[Any]:
    """Yield a Dask client.

    Each worker has one device and two threads, one of which uploads while the other computes.
    """
    from distributed import Client, Nanny, Scheduler, SpecCluster

    variable = {"cuda": "CUDA_VISIBLE_DEVICES", "hip": "HIP_VISIBLE_DEVICES"}.get(PyGPU.backend_name(), "PYGPU_DEVICE")
    visible = os.environ.get(variable, "").split(",")
    # Each worker gets a subset of the devices that are visible to this process.
    numbers = visible if len(visible) >= count and visible[0] else [str(number) for number in range(count)]
    if variable == "PYGPU_DEVICE":
        numbers = [str(number % PyGPU.device_count()) for number in range(count)]
    here = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    quiet = {"PYTHONPATH": here, "DASK_LOGGING__DISTRIBUTED": "error"}
    spec = {
        number: {
            "cls": Nanny,
            "options": {
                "nthreads": threads,
                "memory_limit": 0,
                "preload": "PyGPU.dask",
                "env": {variable: numbers[number], **quiet},
            },
        }
        for number in range(count)
    }
    scheduler = {"cls": Scheduler, "options": {"port": 0, "dashboard": False}}
    with SpecCluster(scheduler=scheduler, workers=spec, silence_logs=40) as cluster, Client(cluster) as client:
        client.wait_for_workers(count, timeout=60)
        yield client


def finished(client: Any) -> None:
    """Wait until the devices of all workers have completed their work."""
    client.run(PyGPU.synchronize)


def turns_for(chunk: int) -> int:
    """Return the number of kernel iterations with which the computation on a chunk takes at least `LEAST_SECONDS`."""
    x = PyGPU.ones(chunk, np.float32)

    def once(turns: int) -> float:
        return seconds(lambda: spun(x, turns))

    turns = 1000
    once(turns)  # The first call is not timed, because it compiles the kernel.
    while (took := once(turns)) < LEAST_SECONDS:
        turns = int(turns * min(10.0, 1.2 * LEAST_SECONDS / took)) + 1
    return turns


def scaling(path: Path, nbytes: int, rounds: int, chunk: int) -> dict[str, Any]:
    """Return the seconds that a workload takes with one worker and with two workers."""
    import dask.array as da
    import framework_scaling as this_file  # Workers import this file by its name; they have no access to __main__.
    from distributed import wait

    turns = turns_for(chunk)
    meta = PyGPU.empty(0, np.float32)
    seconds: dict[str, dict[int, float]] = {name: {} for name in (FILE, PLAIN, RESIDENT)}
    totals = []
    length = nbytes // 4
    step = -(-length // CHUNKS)
    for count in (1, 2):
        with workers(count) as client:
            where = client.run(lambda: str(PyGPU.Device(PyGPU.current_device()).uuid))
            print(f"{count} workers on {sorted(where.values())}", flush=True)
            parts = da.core.normalize_chunks(step, (length,))
            file = da.map_blocks(this_file.loaded, str(path), chunks=parts, dtype=np.float32, meta=meta)
            took = []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                chunks = file.map_blocks(this_file.spun, 10, dtype=np.float32, meta=meta)
                # `split_every` makes the sum one task, because Dask would wait for the device in each further task.
                total = chunks.sum(dtype="f8", split_every=CHUNKS).compute()
                took.append(time.perf_counter() - begun)
            totals.append(float(total))
            seconds[FILE][count] = statistics.median(took[1:])

            addresses = list(client.scheduler_info()["workers"])
            starts = range(0, length, step)
            took = []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                sums = [
                    client.submit(
                        this_file.plain, str(path), list(starts[n::count]), step, 10, workers=[addresses[n]], pure=False
                    )
                    for n in range(count)
                ]
                total = sum(client.gather(sums))
                took.append(time.perf_counter() - begun)
            totals.append(total)
            seconds[PLAIN][count] = statistics.median(took[1:])

            make = [
                client.submit(PyGPU.ones, chunk, np.float32, workers=[addresses[n % count]], pure=False)
                for n in range(CHUNKS // 2)
            ]
            wait(make)
            resident = da.concatenate([da.from_delayed(one, (chunk,), np.float32, meta=meta) for one in make])
            took = []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                done = resident.map_blocks(this_file.spun, turns, dtype=np.float32, meta=meta).persist()
                wait(done)
                finished(client)
                took.append(time.perf_counter() - begun)
                del done
            seconds[RESIDENT][count] = statistics.median(took[1:])
            del resident, make
    return {
        "seconds": {name: {str(count): one for count, one in row.items()} for name, row in seconds.items()},
        "two / one": {name: row[1] / row[2] for name, row in seconds.items()},
        # The order in which the chunks are summed may vary, so the sums may differ by rounding.
        "the same sum": bool(np.allclose(totals, totals[0], rtol=1e-12, atol=0)),
        "turns": turns,
    }


def main() -> None:
    """Run the workloads that the command line specifies, print the results, and write the JSON file if requested."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=4 << 30, help="of the mapped file beside the ndarray")
    parser.add_argument("--data", type=int, default=16 << 30, help="of the file that Dask reads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the file is made; the system's own by default")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="small: whether it runs")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.bytes, arguments.data, arguments.rounds = 1 << 24, 1 << 24, 1
    results: dict[str, Any] = {"benchmark": "framework_scaling", "bytes": arguments.bytes, "data": arguments.data}
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder) / "values.npy"
        write(path, max(arguments.bytes, arguments.data))
        results["maps"] = maps(path, arguments.bytes, arguments.rounds)
        print(results["maps"], flush=True)
        write(path, arguments.data)
        results["dask"] = scaling(
            path, arguments.data, arguments.rounds, RESIDENT_CHUNK >> (8 if arguments.quick else 0)
        )
        print(results["dask"], flush=True)
    if arguments.json:
        machine.write(arguments.json, results)


if __name__ == "__main__":
    main()
