"""Test that `torch.distributed` without a GPU reduces and broadcasts in the memory of PyGPU's arrays."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import PyGPU
from processes import process_group

pytest.importorskip("torch.distributed")
pytestmark = [
    pytest.mark.skipif(PyGPU.backend_name() != "cpu", reason="tests/gpu/interop has NCCL"),
    pytest.mark.enough_on("cpu"),
    pytest.mark.starts_processes,
]
PAGE = Path(__file__).parents[2] / "docs" / "howto" / "collectives.md"


def test_program_of_collectives_page_sums_over_three_processes() -> None:
    (program,) = re.findall(r"```python\n(.*?init_process_group.*?)```", PAGE.read_text(), re.DOTALL)
    process_group.run(program, processes=3)


def test_gloo_reduces_and_broadcasts_in_memory_of_pygpu_arrays() -> None:
    process_group.run("""
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


def test_all_reduce_raises_if_other_process_exits_and_arrays_stay_usable() -> None:
    said = process_group.run(
        """
        import datetime, os, torch, torch.distributed as dist, PyGPU
        dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=30))
        a = PyGPU.full(1 << 20, dist.get_rank() + 1.0, "float32")
        t = torch.from_dlpack(a)
        dist.all_reduce(t)
        assert (a.get() == 3).all()
        if dist.get_rank() == 1:
            os._exit(0)
        try:
            dist.all_reduce(t)
        except RuntimeError as error:
            print("refused:", error)
        a.fill(7)
        assert (t == 7).all() and (a * 2).get().tolist()[-1] == 14
        os._exit(0)  # the group cannot be ended any more
        """,
        seconds=60,
    )
    assert "refused:" in said[0]
