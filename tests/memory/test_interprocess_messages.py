"""Test that PyGPU rejects a changed message from another process, or accesses only the memory that the message
describes."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU

FUZZER = Path(__file__).parents[1] / "fuzz" / "fuzz_interprocess_messages.py"


@pytest.mark.starts_processes
def test_changed_messages_are_rejected_or_access_only_described_memory() -> None:
    """Change each field of shared handles, Dask's messages, pickles and driver handles; another process opens them."""
    whole = PyGPU.zeros((6, 5), "f4", shared=True)
    guard = PyGPU.zeros(30, "f4", shared=True)
    host = np.arange(30, dtype="f4").reshape(6, 5)
    whole[...] = host
    guard[...] = 7
    handles = [array.share() for array in (whole, whole[::-2, 1:4], PyGPU.broadcast_to(whole[2], (3, 5)))]
    result = subprocess.run(
        [sys.executable, str(FUZZER), "20261127"],
        input=pickle.dumps(handles),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stderr.decode()[-4000:]}"
    assert b"'handles': " in result.stdout
    assert guard.tolist() == [7.0] * 30
    np.testing.assert_array_equal(whole.get(), host)
