"""Test a Dask cluster of two workers with one device each. All tests share one cluster, because its start is slow."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import PyGPU

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
# The package `distributed` leaves resources open at the end of a process.
# Without this filter, the ResourceWarnings would fail a test.
pytestmark = [
    pytest.mark.enough_on("cpu", "cuda"),
    pytest.mark.starts_processes,
    pytest.mark.filterwarnings("default"),
]

MEGABYTE = 1_000_000
SETTINGS = {
    # A worker spills arrays to disk when the arrays' sizes, as Dask counts them, reach half of the worker's memory
    # limit. Spilling by the memory use of the process is off, because that use depends on the system.
    "distributed.worker.memory.target": 0.5,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
    "distributed.scheduler.allowed-failures": 0,
    "distributed.comm.timeouts.connect": "30s",
}


@pytest.fixture
def client(cluster: Any) -> Any:
    """Return a Dask client with two running workers.

    If the previous test ended a worker, wait until its replacement runs.
    """
    cluster.wait_for_workers(2, timeout=60)
    return cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    from distributed import Client, Nanny, Scheduler, SpecCluster

    workers = {
        number: {
            "cls": Nanny,
            "options": {
                "nthreads": 1,
                "memory_limit": 10 * MEGABYTE,
                "preload": "PyGPU.dask",
                "env": {"PYGPU_DEVICE": str(number % PyGPU.device_count())},
            },
        }
        for number in range(2)
    }
    scheduler = {"cls": Scheduler, "options": {"port": 0, "dashboard": False}}
    with (
        dask.config.set(SETTINGS),
        SpecCluster(scheduler=scheduler, workers=workers, silence_logs=60) as cluster,
        Client(cluster) as connected,
    ):
        yield connected


def doubled(values: np.ndarray) -> PyGPU.GPUArray:
    return PyGPU.to_gpu(values) * 2


def class_device_and_process(array: PyGPU.GPUArray) -> tuple[str, int, int]:
    return type(array).__name__, array.device.index, os.getpid()


def test_each_dask_worker_uses_device_from_its_environment_variable(client: Any) -> None:
    placements = client.run(lambda: (PyGPU.zeros(1).device.index, PyGPU.current_device()))
    expected = {(number % PyGPU.device_count(),) * 2 for number in range(2)}
    assert set(placements.values()) == expected


def test_dask_array_is_computed_by_two_workers_and_returned(client: Any) -> None:
    host = np.arange(36.0).reshape(6, 6)
    x = da.from_array(host, chunks=3).to_backend("pygpu")
    for operation in (lambda x: x.mean(axis=0), lambda x: x[::-1] + 1, lambda x: x @ x.T):
        got = operation(x).rechunk(2).compute()
        assert type(got) is PyGPU.GPUArray
        np.testing.assert_allclose(got.get(), operation(host))


def test_results_of_dask_futures_stay_on_device_until_gathered(client: Any) -> None:
    first, second = client.scheduler_info()["workers"]
    made = client.submit(doubled, np.arange(3.0), workers=[first], pure=False)
    placements = [
        client.submit(class_device_and_process, made, workers=[worker], pure=False).result()
        for worker in (first, second)
    ]
    assert [name for name, *_ in placements] == ["GPUArray"] * 2
    assert len({process for *_, process in placements}) == 2
    assert {device for _, device, _ in placements} == {number % PyGPU.device_count() for number in range(2)}
    assert made.result().get().tolist() == [0, 2, 4]


def test_array_sent_to_dask_worker_arrives_on_device_of_worker(client: Any) -> None:
    for worker in client.scheduler_info()["workers"]:
        sent = client.scatter(PyGPU.arange(6.0), workers=[worker], hash=False)
        _, device, _ = client.submit(class_device_and_process, sent, workers=[worker], pure=False).result()
        assert device == client.run(PyGPU.current_device, workers=[worker])[worker]


def test_kernel_sent_to_dask_workers_is_built_once_per_worker(client: Any) -> None:
    from PyGPU.elementwise import ElementwiseKernel

    halve = ElementwiseKernel("const double *x, double *y", "y[i] = x[i] / 2", "halve")

    def halved(chunk: PyGPU.GPUArray) -> PyGPU.GPUArray:
        result = PyGPU.empty_like(chunk)
        halve(chunk, result)
        return result

    host = np.arange(36.0).reshape(6, 6)
    x = da.from_array(host, chunks=2).to_backend("pygpu")
    np.testing.assert_array_equal(x.map_blocks(halved).compute().get(), host / 2)
    seen = client.gather(client.map(lambda _, kernel: id(kernel), range(6), kernel=halve, pure=False))
    assert len(set(seen)) <= 2


def test_dask_worker_spills_arrays_beyond_memory_target(client: Any) -> None:
    (first, *_) = client.scheduler_info()["workers"]
    futures = client.map(lambda n: PyGPU.full(MEGABYTE // 8, n, "f8"), range(8), workers=[first], pure=False)
    distributed.wait(futures)
    kept = client.run(lambda dask_worker: (len(dask_worker.data.fast), len(dask_worker.data.slow)), workers=[first])
    in_memory, on_disk = kept[first]
    assert on_disk >= 3
    assert in_memory <= 5
    assert [float(array[0]) for array in client.gather(futures)] == list(range(8))


def test_task_that_ends_dask_worker_raises_and_cluster_continues(client: Any) -> None:
    with pytest.raises(distributed.KilledWorker, match="died"):
        client.submit(os._exit, 1, pure=False).result(timeout=60)
    client.wait_for_workers(2, timeout=60)
    results = client.gather(client.map(doubled, [np.ones(2)] * 4, pure=False))
    assert all(array.get().tolist() == [2, 2] for array in results)


def test_dask_cluster_recomputes_only_results_of_killed_worker(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # The task is retried, because Dask may send it to a worker that is being killed.
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 3)
    client.wait_for_workers(2, timeout=60)
    first, second = client.scheduler_info()["workers"]
    kept = client.submit(doubled, np.arange(3.0), workers=[second], pure=False)
    host = np.arange(64.0).reshape(8, 8)
    held = da.from_array(host, chunks=4).to_backend("pygpu").persist()
    distributed.wait([kept, held])
    (before,) = client.run(os.getpid, workers=[second]).values()
    (killed,) = client.run(os.getpid, workers=[first]).values()
    os.kill(killed, signal.SIGKILL)
    np.testing.assert_array_equal(client.compute(held + 1).result(timeout=60).get(), host + 1)
    assert client.submit(os.getpid, workers=[second], pure=False).result(timeout=60) == before
    assert kept.result(timeout=60).get().tolist() == [0, 2, 4]
    client.wait_for_workers(2, timeout=60)
    assert killed not in client.run(os.getpid).values()
