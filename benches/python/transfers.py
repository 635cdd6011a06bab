"""How fast arrays cross: to_gpu and get by size, from pageable and from pinned memory, beside the peers.

    python benches/python/transfers.py [--peers] [--json FILE] [--most BYTES] [--seconds S]

Each way of each library is timed with the device idle before and after; GB are 1e9 bytes, figures are medians. "to
device" makes a new array from an ndarray, "from device" a new ndarray; "into" fills one that is there already. On the
CPU backend the same calls are copies in host memory, and NumPy's own copy stands beside them.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import machine
import numpy

import PyGPU

SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30]
Ways = dict[str, Callable[[], Any]]


def pygpu(host: numpy.ndarray) -> Ways:
    """PyGPU, also with pinned memory."""
    array, out = PyGPU.to_gpu(host), numpy.empty_like(host)
    pinned = PyGPU.empty_pinned(host.shape, host.dtype)
    pinned[...] = host
    return {
        "to device": lambda: PyGPU.to_gpu(host),
        "from device": lambda: array.get(),
        "into device": lambda: array.set(host),
        "into ndarray": lambda: array.get(out),
        "to device, pinned": lambda: PyGPU.to_gpu(pinned),
        "into pinned": lambda: array.get(pinned),
    }


def plain_numpy(host: numpy.ndarray) -> Ways:
    """Copies in host memory."""
    out = numpy.zeros_like(host)
    return {
        "to device": lambda: host.copy(),
        "from device": lambda: host.copy(),
        "into device": lambda: numpy.copyto(out, host),
        "into ndarray": lambda: numpy.copyto(out, host),
    }


def cupy(host: numpy.ndarray) -> Ways:
    """CuPy."""
    import cupy
    import cupyx

    array, out = cupy.asarray(host), numpy.empty_like(host)
    pinned = cupyx.empty_pinned(host.shape, host.dtype)
    pinned[...] = host
    wait = cupy.cuda.runtime.deviceSynchronize

    def waited(call: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: (call(), wait())[0]

    return {
        "to device": waited(lambda: cupy.asarray(host)),
        "from device": lambda: array.get(),
        "into device": waited(lambda: array.set(host)),
        "into ndarray": lambda: array.get(out=out),
        "to device, pinned": waited(lambda: cupy.asarray(pinned)),
        "into pinned": lambda: array.get(out=pinned),
    }


def torch(host: numpy.ndarray) -> Ways:
    """PyTorch."""
    import torch

    source = torch.from_numpy(host)
    tensor, out = source.cuda(), torch.empty_like(source)
    pinned = source.pin_memory()
    wait = torch.cuda.synchronize
    return {
        "to device": lambda: (source.cuda(), wait())[0],
        "from device": lambda: tensor.cpu(),
        "into device": lambda: (tensor.copy_(source), wait())[0],
        "into ndarray": lambda: out.copy_(tensor),
        "to device, pinned": lambda: (pinned.cuda(), wait())[0],
        "into pinned": lambda: pinned.copy_(tensor),
    }


def numba(host: numpy.ndarray) -> Ways:
    """numba-cuda."""
    from numba import cuda

    array, out = cuda.to_device(host), numpy.empty_like(host)
    return {
        "to device": lambda: (cuda.to_device(host), cuda.synchronize())[0],
        "from device": lambda: array.copy_to_host(),
        "into device": lambda: (array.copy_to_device(host), cuda.synchronize())[0],
        "into ndarray": lambda: array.copy_to_host(out),
    }


def median_seconds(call: Callable[[], Any], budget: float) -> float:
    """The median time of a call, repeated for a while; its result is dropped outside the clock."""
    times: list[float] = []
    end = time.perf_counter() + budget
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 1000):
        start = time.perf_counter()
        result = call()
        times.append(time.perf_counter() - start)
        del result
    return statistics.median(times[1:])


def measure(
    makers: dict[str, Callable[[numpy.ndarray], Ways]], sizes: list[int], budget: float
) -> Iterator[dict[str, Any]]:
    """One row for each size and way."""
    for size in sizes:
        host = numpy.random.default_rng(1).random(size // 4, dtype=numpy.float32)
        seconds: dict[str, dict[str, float]] = {}
        for library, make in makers.items():
            try:
                ways = make(host)
                for way, call in ways.items():
                    seconds.setdefault(way, {})[library] = median_seconds(call, budget)
            except Exception as error:  # a peer that fails, for want of memory say, must not end the measurement
                print(f"not measured: {library} at {size} bytes: {type(error).__name__}: {error}")
            ways = {}
        for way, times in seconds.items():
            rates = {library: round(size / value / 1e9, 3) for library, value in times.items()}
            yield {"way": way, "bytes": size, "seconds": times, "gigabytes_per_second": rates}


def label(size: int) -> str:
    """A size with a binary unit."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size} B"


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the result there")
    parser.add_argument("--peers", action="store_true", help="on CUDA also CuPy, PyTorch and numba-cuda")
    parser.add_argument("--most", type=int, default=SIZES[-1], metavar="BYTES", help="largest size (1 GiB)")
    parser.add_argument("--seconds", type=float, default=0.3, help="how long each call is repeated (0.3)")
    arguments = parser.parse_args()
    makers: dict[str, Callable[[numpy.ndarray], Ways]] = {"PyGPU": pygpu, "NumPy": plain_numpy}
    if arguments.peers and PyGPU.backend_name() == "cuda":
        makers.update({"CuPy": cupy, "torch": torch, "numba-cuda": numba})
    sizes = [size for size in SIZES if size <= arguments.most]
    results = sorted(measure(makers, sizes, arguments.seconds), key=lambda one: (one["way"], one["bytes"]))
    if arguments.json:
        machine.write(arguments.json, {"benchmark": "transfers", "unit": "1e9 bytes per second", "cases": results})
    machine.print_header()
    table = [
        [f"{one['way']}, {label(one['bytes'])}"]
        + [f"{one['gigabytes_per_second'][name]:.2f}" if name in one["seconds"] else "-" for name in makers]
        for one in results
    ]
    machine.print_table(table, ["GB/s", *makers])


if __name__ == "__main__":
    main()
