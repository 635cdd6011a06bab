"""Measure transfers between two devices in GB/s: copies, strided copies and sums, against the driver and torch.

    python benches/python/peer_transfers.py [--bytes 268435456 1073741824] [--json FILE]

Three cases are measured:

- copies: `target[...] = source` and the driver's cuMemcpyPeerAsync (or HIP's) alternate, in both directions;
- copies of every second column: the rate counts only copied bytes, and the driver copies the same number of adjacent
  bytes;
- sums: `all_reduce` of two processes by NCCL, in PyGPU's and in torch's memory; skipped if torch is missing.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import machine

import PyGPU
from PyGPU import _core

ROUNDS = 9
AT_ONCE = 8


def rates(works: dict[str, Callable[[], Any]], nbytes: int, wait: Callable[[], Any]) -> dict[str, float]:
    """Time the copies alternately in several rounds, and return the median GB/s of each copy."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for each in range(ROUNDS + 1):
        for name, work in works.items():
            wait()
            start = time.perf_counter()
            for _ in range(AT_ONCE):
                work()
            wait()
            if each:  # The first round is warm-up.
                times[name].append((time.perf_counter() - start) / AT_ONCE)
    return {name: nbytes / statistics.median(seconds) / 1e9 for name, seconds in times.items()}


class Driver:
    """Call the driver's own function for copies between devices."""

    def __init__(self) -> None:
        self.is_cuda = PyGPU.backend_name() == "cuda"
        backends = {backend["name"]: backend for backend in PyGPU.config()["backends"]}
        library = ctypes.CDLL(backends[PyGPU.backend_name()]["library"])
        self.copy = library.cuMemcpyPeerAsync if self.is_cuda else library.hipMemcpyPeerAsync

    def work(self, target: Any, source: Any) -> Callable[[], None]:
        to, there = target.device.index, source.device.index
        contexts = [to, there]
        if self.is_cuda:
            contexts = [_core.context_handle(to), _core.context_handle(there)]
        first, second = (ctypes.c_void_p(context) if self.is_cuda else ctypes.c_int(context) for context in contexts)
        nbytes, stream = ctypes.c_size_t(target.nbytes), ctypes.c_void_p(PyGPU.default_stream(there).handle)
        arguments = (ctypes.c_void_p(target.ptr), first, ctypes.c_void_p(source.ptr), second, nbytes, stream)

        def run() -> None:
            with PyGPU.Device(there):
                code = self.copy(*arguments)
            assert code == 0, code

        return run


def wait() -> None:
    PyGPU.synchronize(0)
    PyGPU.synchronize(1)


def assign(target: Any, source: Any) -> Callable[[], None]:
    def run() -> None:
        target[...] = source

    return run


def copies(nbytes: int, here: int, there: int) -> list[dict[str, Any]]:
    """Measure copies of adjacent bytes and copies of every second column, from device `there` to device `here`."""
    driver = Driver()
    target, source = (PyGPU.zeros(nbytes // 4, "f4", device=device) for device in (here, there))
    # Each row of the matrix has 4096 elements that are copied; only copied elements count for the rate.
    wide = PyGPU.zeros((max(nbytes >> 14, 1), 8192), "f4", device=there)
    narrow = PyGPU.empty((wide.shape[0], 4096), "f4", device=here)
    plain = rates({"PyGPU": assign(target, source), "driver": driver.work(target, source)}, target.nbytes, wait)
    strided = {
        "PyGPU": assign(narrow, wide[:, ::2]),
        "driver": driver.work(target[: narrow.size], source[: narrow.size]),
    }
    columns = rates(strided, narrow.nbytes, wait)
    common = {"bytes": nbytes, "from": there, "to": here}
    return [
        {"case": name, **common, **figures, "ratio": figures["PyGPU"] / figures["driver"]}
        for name, figures in (("peer copy", plain), ("every second column", columns))
    ]


def sums(nbytes: int, rank: int) -> dict[str, Any] | None:
    """Measure `all_reduce` of two processes, and return the first process's values."""
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(rank)
    PyGPU.set_default_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    array = PyGPU.zeros(nbytes // 4, "f4")
    shown, own = torch.from_dlpack(array), torch.zeros(nbytes // 4, device="cuda")
    assert shown.data_ptr() == array.ptr
    works = {"PyGPU": lambda: dist.all_reduce(shown), "torch": lambda: dist.all_reduce(own)}
    figures = rates(works, nbytes, torch.cuda.synchronize)
    dist.destroy_process_group()
    return {"case": "all_reduce", "bytes": nbytes, **figures, "ratio": figures["PyGPU"] / figures["torch"]}


def in_two_processes(nbytes: int) -> dict[str, Any]:
    environment = os.environ | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29512"}
    # NCCL's NVLS algorithm needs NVLink hardware that virtual machines on a shared host cannot access.
    environment.setdefault("NCCL_NVLS_ENABLE", "0")
    commands = [[sys.executable, __file__, "--rank", str(rank), "--bytes", str(nbytes)] for rank in (0, 1)]
    both = [subprocess.Popen(each, env=environment, stdout=subprocess.PIPE, text=True) for each in commands]
    try:
        outputs = [each.communicate(timeout=240)[0] for each in both]
    except subprocess.TimeoutExpired:
        outputs = ["", ""]
    finally:
        for each in both:
            each.kill()
    if any(each.returncode for each in both) or not outputs[0]:
        return {"case": "all_reduce", "bytes": nbytes, "error": "a process failed or took too long"}
    return json.loads(outputs[0].splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, nargs="+", default=[1 << 28, 1 << 30])
    parser.add_argument("--json")
    parser.add_argument("--rank", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.rank is not None:
        print(json.dumps(sums(arguments.bytes[0], arguments.rank)), flush=True)
        return
    if PyGPU.backend_name() == "cpu" or PyGPU.device_count() < 2:
        raise SystemExit("needs two GPUs")
    results = []
    for nbytes in arguments.bytes:
        entries = [*copies(nbytes, 1, 0), *copies(nbytes, 0, 1)]
        PyGPU.trim_memory()
        entries += [in_two_processes(nbytes)] if PyGPU.backend_name() == "cuda" and has_torch() else []
        results += entries
        for each in entries:
            print(json.dumps(each), flush=True)
    if arguments.json:
        machine.write(arguments.json, {"results": results})


def has_torch() -> bool:
    try:
        import torch.distributed
    except ImportError:
        return False
    return torch.distributed.is_nccl_available()


if __name__ == "__main__":
    main()
