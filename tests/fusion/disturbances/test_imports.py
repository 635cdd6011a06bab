"""Test that PyGPU imports no module during a flush, so that a user's import hooks cannot use or drop arrays then."""

from __future__ import annotations

import pytest

from gpu import support

SCRIPT = """
import sys
import numpy as np
import PyGPU
from PyGPU import _core

_core._bound_fusion_age(0)
_core._set_fusion("auto")
HOST = (np.arange(12.0).reshape(3, 4) - 5) / 8
acts, seen, wrong = {}, [], []
state = {"kept": [], "is_within": False}


def check(got, expected):
    if not np.array_equal(got, expected):
        wrong.append((got, expected))


class Finder:
    # Tried for each import; runs the program's code, and finds nothing.
    def find_spec(self, name, path=None, target=None):
        if state["is_within"] or "x" not in state:
            return None
        state["is_within"] = True
        try:
            seen.append(name)
            state["act"]()
        finally:
            state["is_within"] = False
        return None


def flush():
    PyGPU.flush()


def drop():
    state["kept"].clear()


def compute():
    check((state["x"] * 3 - 1).get(), HOST * 3 - 1)


def defer():
    state["kept"].append(state["x"] - 7)


def read():
    for array, expected in list(state["pending"]):
        check(array.get(), expected)


def show():
    for array, _ in list(state["pending"]):
        assert array.ptr


def write():
    state["x"][...] = HOST



def all_acts():
    for act in (compute, defer, flush, read, drop, write, show):
        act()


act = globals()[sys.argv[1]]
state["act"] = act
sys.meta_path.insert(0, Finder())
x = state["x"] = PyGPU.to_gpu(HOST)
state["pending"] = []
for number in range(4):
    y = x * 2 + number
    state["pending"].append((y, HOST * 2 + number))
    state["kept"].append(x + number)
    z = (y * x).sum(axis=0)
    state["pending"].append((z, ((HOST * 2 + number) * HOST).sum(axis=0)))
    # Calls that import: other modules of the library, and the files of compilers.
    if number == 1:
        PyGPU.linalg.norm(y)
    if number == 2:
        PyGPU.fft.fft(x)
        PyGPU.random.default_rng(3).normal(size=5)
    if number == 3:
        PyGPU.Kernel('extern "C" __global__ void imported(float *x) {}', "imported")
        repr(x), y.get()
for array, expected in state["pending"]:
    check(array.get(), expected)
PyGPU.flush()
check(x.get(), HOST)
assert seen, "nothing was imported"
assert not wrong, wrong
assert _core._count_waiting() == 0
"""


@pytest.mark.starts_processes
@pytest.mark.parametrize("act", ["all_acts", "flush", "drop"])
@pytest.mark.sampled(on="cuda")
def test_pending_results_are_correct_if_import_hook_uses_arrays(act: str) -> None:
    support.ended_well(support.run_script(SCRIPT, act))
