"""What engines make of more than one GPU, and of files: ratios, so that each machine judges itself.

    python benches/python/engines.py [--bytes N] [--data N] [--rounds 5] [--folder DIR] [--json FILE] [--quick]

- `to_gpu` of a file that is mapped and in the system's cache, beside `to_gpu` of an ndarray of the same size;
- Dask, a worker with two threads for each of one and two GPUs: a mapped file of `--data` bytes to devices, a kernel,
  the sum; beside it the same as a loop in one task for each worker, which shows what the machine has;
- the same workers: `map_blocks` of a kernel of at least 0.1 s over chunks that lie on the devices.

Times are medians. A device's worker sees only that device. PYGPU_CPU_DEVICES=2 shows without a GPU that it runs.
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
# Of the resident chunks; long work on few bytes.
RESIDENT_CHUNK = 1 << 22
LEAST_SECONDS = 0.1
# What is timed with Dask.
FILE, PLAIN, RESIDENT = "file to devices, kernel, sum", "the same without Dask", "resident map_blocks"


@functools.cache
def spin() -> ElementwiseKernel:
    """Make the kernel, once for a process: to load one takes as long as some MB on the bus."""
    return ElementwiseKernel(
        "const float *x, float *y, int turns",
        "float v = x[i]; for (int t = 0; t < turns; ++t) v = v * 0.999f + 0.001f; y[i] = v",
        "spin",
    )


def spun(x: Any, turns: int) -> Any:
    """Run a kernel of one's own: so many dependent multiplications for each element."""
    y = PyGPU.empty_like(x)
    spin()(x, y, turns)
    return y


class Own(threading.local):
    """What each thread has: a stream, so that its uploads pass the kernels of the others."""

    def __init__(self) -> None:
        self.stream = PyGPU.Stream(non_blocking=True)


@functools.cache
def own() -> Own:
    """Return it; not made before a process has chosen its device."""
    return Own()


def part(path: str, start: int, stop: int) -> Any:
    """Bring a part of a file to the device; who computes maps the file."""
    with own().stream:
        return PyGPU.to_gpu(np.load(path, mmap_mode="r")[start:stop])


def loaded(path: str, block_info: Any = None) -> Any:
    """The part of a file that a chunk is."""
    ((start, stop),) = block_info[None]["array-location"]
    return part(path, start, stop)


def plain(path: str, starts: list[int], step: int, turns: int) -> float:
    """Do without Dask what its chunks do."""
    return sum(float(one) for one in [spun(part(path, n, n + step), turns).sum(dtype="f8") for n in starts])


def seconds(call: Callable[[], Any]) -> float:
    """Seconds until a call's work has ended; its result is dropped behind the clock."""
    begun = time.perf_counter()
    result = call()
    PyGPU.synchronize()
    took = time.perf_counter() - begun
    del result
    return took


def write(path: Path, nbytes: int) -> None:
    """Make a file of float32, piece by piece, and leave it in the system's cache."""
    target = np.lib.format.open_memmap(path, "w+", np.float32, (nbytes // 4,))
    piece = np.arange(min(1 << 22, nbytes // 4), dtype=np.float32) % 1000
    for start in range(0, len(target), len(piece)):
        target[start : start + len(piece)] = piece[: len(target) - start]
    target.flush()


def maps(path: Path, nbytes: int, rounds: int) -> dict[str, Any]:
    """GB/s of `to_gpu` of the first bytes of the file, mapped anew each time, mapped once, and of an ndarray."""
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
    """A client of so many workers, each with a device of its own: while one thread computes, another one uploads."""
    from distributed import Client, Nanny, Scheduler, SpecCluster

    variable = {"cuda": "CUDA_VISIBLE_DEVICES", "hip": "HIP_VISIBLE_DEVICES"}.get(PyGPU.backend_name(), "PYGPU_DEVICE")
    given = os.environ.get(variable, "").split(",")
    # What is to be seen of those that this process sees.
    numbers = given if len(given) >= count and given[0] else [str(number) for number in range(count)]
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
    """Wait for all devices."""
    client.run(PyGPU.synchronize)


def turns_for(chunk: int) -> int:
    """How many turns of the kernel take long enough for a chunk."""
    x = PyGPU.ones(chunk, np.float32)

    def once(turns: int) -> float:
        return seconds(lambda: spun(x, turns))

    turns = 1000
    once(turns)  # which compiles it
    while (took := once(turns)) < LEAST_SECONDS:
        turns = int(turns * min(10.0, 1.2 * LEAST_SECONDS / took)) + 1
    return turns


def scaling(path: Path, nbytes: int, rounds: int, chunk: int) -> dict[str, Any]:
    """Seconds by one and by two workers."""
    import dask.array as da
    import engines  # by its name, as workers import it: what __main__ has is not theirs
    from distributed import wait

    turns = turns_for(chunk)
    meta = PyGPU.empty(0, np.float32)
    found: dict[str, dict[int, float]] = {name: {} for name in (FILE, PLAIN, RESIDENT)}
    totals = []
    length = nbytes // 4
    step = -(-length // CHUNKS)
    for count in (1, 2):
        with workers(count) as client:
            where = client.run(lambda: str(PyGPU.Device(PyGPU.current_device()).uuid))
            print(f"{count} workers on {sorted(where.values())}", flush=True)
            parts = da.core.normalize_chunks(step, (length,))
            file = da.map_blocks(engines.loaded, str(path), chunks=parts, dtype=np.float32, meta=meta)
            took = []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                chunks = file.map_blocks(engines.spun, 10, dtype=np.float32, meta=meta)
                # In one step: each further one is a message between workers, which waits for the device.
                total = chunks.sum(dtype="f8", split_every=CHUNKS).compute()
                took.append(time.perf_counter() - begun)
            totals.append(float(total))
            found[FILE][count] = statistics.median(took[1:])

            addresses = list(client.scheduler_info()["workers"])
            starts = range(0, length, step)
            took = []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                sums = [
                    client.submit(
                        engines.plain, str(path), list(starts[n::count]), step, 10, workers=[addresses[n]], pure=False
                    )
                    for n in range(count)
                ]
                total = sum(client.gather(sums))
                took.append(time.perf_counter() - begun)
            totals.append(total)
            found[PLAIN][count] = statistics.median(took[1:])

            make = [
                client.submit(PyGPU.ones, chunk, np.float32, workers=[addresses[n % count]], pure=False)
                for n in range(CHUNKS // 2)
            ]
            wait(make)
            resident = da.concatenate([da.from_delayed(one, (chunk,), np.float32, meta=meta) for one in make])
            took = []
            for _ in range(rounds + 1):
                begun = time.perf_counter()
                done = resident.map_blocks(engines.spun, turns, dtype=np.float32, meta=meta).persist()
                wait(done)
                finished(client)
                took.append(time.perf_counter() - begun)
                del done
            found[RESIDENT][count] = statistics.median(took[1:])
            del resident, make
    return {
        "seconds": {name: {str(count): one for count, one in row.items()} for name, row in found.items()},
        "two / one": {name: row[1] / row[2] for name, row in found.items()},
        "the same sum": bool(np.allclose(totals, totals[0], rtol=1e-12, atol=0)),  # added up in another order
        "turns": turns,
    }


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, default=4 << 30, help="of the mapped file beside the ndarray")
    parser.add_argument("--data", type=int, default=16 << 30, help="of the file that Dask reads")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the file is made; the system's own by default")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--quick", action="store_true", help="small: whether it runs")
    given = parser.parse_args()
    if given.quick:
        given.bytes, given.data, given.rounds = 1 << 24, 1 << 24, 1
    results: dict[str, Any] = {"benchmark": "engines", "bytes": given.bytes, "data": given.data}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "values.npy"
        write(path, max(given.bytes, given.data))
        results["maps"] = maps(path, given.bytes, given.rounds)
        print(results["maps"], flush=True)
        write(path, given.data)
        results["dask"] = scaling(path, given.data, given.rounds, RESIDENT_CHUNK >> (8 if given.quick else 0))
        print(results["dask"], flush=True)
    if given.json:
        machine.write(given.json, results)


if __name__ == "__main__":
    main()
