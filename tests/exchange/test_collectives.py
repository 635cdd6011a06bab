"""Sums over processes by torch.distributed, in the memory of PyGPU's arrays, without a GPU."""

from __future__ import annotations

import pytest

import PyGPU
import together

pytest.importorskip("torch.distributed")
pytestmark = [
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="tests/gpu/peers has NCCL"),
    pytest.mark.enough_on("cpu"),
    pytest.mark.starts_processes,
]


def test_gloo_sums_and_sends_in_the_arrays_memory() -> None:
    together.run("""
        import numpy as np, torch, torch.distributed as dist, PyGPU
        dist.init_process_group("gloo")
        rank, size = dist.get_rank(), dist.get_world_size()
        a = PyGPU.full(1000, rank + 1.0, "float32")
        place = a.ptr
        t = torch.from_dlpack(a)
        dist.all_reduce(t)
        assert a.ptr == t.data_ptr() == place and (a.get() == size * (size + 1) / 2).all()
        b = PyGPU.full((3, 4), float(rank))
        dist.broadcast(torch.from_dlpack(b), src=1)
        assert (b.get() == 1).all()
        dist.destroy_process_group()
    """)
