"""Select the test cases that `make test` runs; `make test-all` runs all cases.

A parametrized test may have the marker `@pytest.mark.sampled`. `make test` then runs a sample of its cases, which
contains each value of each parameter at least once. With `on="cuda"`, HIP runs only the first `elsewhere` cases of the
test, because CUDA and HIP share the tested code. With `on="cpu"`, both CUDA and HIP run only these cases. All other
cases get the marker `matrix`, which `make test` excludes by `-m "not matrix"`.

Tests in the folders `VALUES` check values that all backends compute by the same code (tests in subfolders are not
included). If such a test has no marker and more than `FEW` cases, the CPU and simulated CUDA run a sample, and
simulated HIP runs the first `FEW` cases. The kernels that the tests in the folders `COMMON` launch have the same source
for both vendors, and these tests call no library of a vendor. Simulated HIP therefore runs only each `STEP`-th test of
a file in these folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pytest

Case = dict[str, Any]

VALUES = {
    "arithmetic", "array", "array_api", "fft", "functions", "fusion", "host", "linalg", "numpy_comparison", "products",
    "pybindgpu", "pycuda", "random", "reductions", "selection", "sorting", "special", "views",
}  # fmt: skip
COMMON = VALUES - {"fft", "linalg", "products", "random", "reductions", "selection", "sorting"} | {
    "commands", "cupy", "frameworks", "fusion/disturbances", "interop_regressions", "observability", "packaging",
    "repository",
}  # fmt: skip
# Folders whose tests the CPU runs with all cases.
WHOLE_ON_CPU = {"numpy_comparison"}
FEW = 2
STEP = 3
# The names of all tests that this process has collected, selected or not.
COLLECTED = pytest.StashKey[list[str]]()


def sample(cases: Sequence[Case]) -> set[int]:
    """Return the positions of a few cases in which each value of each parameter occurs at least once."""
    left = [{(name, repr(value)) for name, value in case.items()} for case in cases]
    chosen: set[int] = set()
    while any(left):
        position = max(range(len(left)), key=lambda position: len(left[position]))
        chosen.add(position)
        new = set(left[position])
        left = [values - new for values in left]
    return chosen


def mark(items: Sequence[pytest.Item], backend: str, is_simulated: bool) -> None:
    """Add the marker `matrix` to the cases that `make test` excludes on the backend in use."""

    def function_of(item: pytest.Item) -> str:
        return item.nodeid.partition("[")[0]

    def file_of(item: pytest.Item) -> str:
        return item.nodeid.partition("::")[0]

    for file, of_file in groupby(items, file_of):
        is_every_test = backend != "hip" or not is_simulated or _folder(file) not in COMMON
        for number, (_, group) in enumerate(groupby(of_file, function_of)):
            cases = list(group)
            chosen = _chosen(cases, backend, is_simulated) if is_every_test or number % STEP == 0 else set()
            for position, item in enumerate(cases):
                if position not in chosen:
                    item.add_marker("matrix")


def _folder(file: str) -> str:
    return file.rpartition("/")[0].removeprefix("tests/")


def _chosen(cases: Sequence[pytest.Item], backend: str, is_simulated: bool) -> set[int]:
    """Return which cases of one test `make test` runs, by their positions."""
    parameters = [item.callspec.params if hasattr(item, "callspec") else {} for item in cases]
    sampled = cases[0].get_closest_marker("sampled")
    if sampled is None:
        folder = _folder(cases[0].nodeid.partition("::")[0])
        is_gpu = backend != "cpu" and not is_simulated
        if is_gpu or folder not in VALUES or len(cases) <= FEW or (backend == "cpu" and folder in WHOLE_ON_CPU):
            return set(range(len(cases)))
        return set(range(FEW)) if backend == "hip" else sample(parameters)
    if backend not in ("cpu", sampled.kwargs.get("on", backend)):
        return set(range(sampled.kwargs.get("elsewhere", 1)))
    return sample(parameters) or {0}
