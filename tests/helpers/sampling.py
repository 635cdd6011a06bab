"""Select the sample of a large test matrix that `make test` runs; `make test-all` runs all cases.

The marker `@pytest.mark.sampled` is for parametrized tests. The sample contains each value of each parameter at least
once. With `on="cuda"`, HIP runs only the first `elsewhere` cases of the test, because CUDA and HIP share the tested
code. With `on="cpu"`, CUDA and HIP run only the first `elsewhere` cases. Cases outside the sample get the marker
`matrix`, which `make test` excludes by `-m "not matrix"`.

Tests without the marker in the folders `VALUES` (not in their subfolders) check values, which all backends compute by
the same code. If such a test has more than `FEW` cases, simulated CUDA runs the sample of them, and simulated HIP the
first `FEW`. In the folders `COMMON`, whose kernels are the same text for both vendors and call no library of a vendor,
simulated HIP runs each `STEP`-th test of a file.
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
COMMON = VALUES - {"fft", "linalg", "products", "random", "reductions", "selection", "sorting"}
FEW = 2
STEP = 3


def sample(cases: Sequence[Case]) -> set[int]:
    """Return the positions of few cases that together contain each value of each parameter."""
    left = [{(name, repr(value)) for name, value in case.items()} for case in cases]
    chosen: set[int] = set()
    while any(left):
        position = max(range(len(left)), key=lambda position: len(left[position]))
        chosen.add(position)
        new = set(left[position])
        left = [values - new for values in left]
    return chosen


def mark(items: Sequence[pytest.Item], backend: str, is_simulated: bool) -> None:
    """Mark the cases that `make test` excludes on the backend in use."""

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
    """Return the positions of the cases of one test that `make test` runs."""
    parameters = [item.callspec.params if hasattr(item, "callspec") else {} for item in cases]
    sampled = cases[0].get_closest_marker("sampled")
    if sampled is None:
        folder = _folder(cases[0].nodeid.partition("::")[0])
        if not is_simulated or folder not in VALUES or len(cases) <= FEW:
            return set(range(len(cases)))
        return sample(parameters) if backend == "cuda" else set(range(FEW))
    if backend not in ("cpu", sampled.kwargs.get("on", backend)):
        return set(range(sampled.kwargs.get("elsewhere", 1)))
    return sample(parameters) or {0}
