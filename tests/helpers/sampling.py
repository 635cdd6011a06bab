"""Select the sample of a large test matrix that `make test` runs; `make test-all` runs all cases.

The marker `@pytest.mark.sampled` is for parametrized tests. The sample contains each value of each parameter at least
once. With `on="cuda"`, HIP runs only the first `elsewhere` cases of the test, because CUDA and HIP share the tested
code. With `on="cpu"`, CUDA and HIP run only the first `elsewhere` cases. Cases outside the sample get the marker
`matrix`, which `make test` excludes by `-m "not matrix"`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import pytest

Case = dict[str, Any]


def sample(cases: Sequence[Case]) -> set[int]:
    """Return the positions of a small set of cases that contains each value of each parameter."""
    left = [{(name, repr(value)) for name, value in case.items()} for case in cases]
    chosen: set[int] = set()
    while any(left):
        position = max(range(len(left)), key=lambda position: len(left[position]))
        chosen.add(position)
        new = set(left[position])
        left = [values - new for values in left]
    return chosen


def mark(items: Sequence[pytest.Item], backend: str) -> None:
    """Mark the cases that `make test` excludes on a backend."""

    def function_of(item: pytest.Item) -> str:
        return item.nodeid.partition("[")[0]

    for _, group in groupby(items, function_of):
        cases = list(group)
        asked = cases[0].get_closest_marker("sampled")
        if asked is None:
            continue
        is_elsewhere = backend not in ("cpu", asked.kwargs.get("on", backend))
        parameters = [item.callspec.params if hasattr(item, "callspec") else {} for item in cases]
        chosen = set(range(asked.kwargs.get("elsewhere", 1))) if is_elsewhere else sample(parameters) or {0}
        for position, item in enumerate(cases):
            if position not in chosen:
                item.add_marker("matrix")
