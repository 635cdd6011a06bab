"""Register the test cases of large arrays by family, such as reductions."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from large_array_support.array_checker import ArrayChecker

Case = Callable[[ArrayChecker], None]
MODULES = (
    "elementwise",
    "reductions",
    "scans",
    "sorting",
    "selection",
    "copies",
    "products",
    "transforms",
    "random_numbers",
    "kernels",
)
CASES: dict[str, dict[str, Case]] = {}


def case(family: str) -> Callable[[Case], Case]:
    """Return a decorator that registers a function as a case, which has the function's name in reports."""

    def enter(function: Case) -> Case:
        CASES.setdefault(family, {})[function.__name__.replace("_", " ")] = function
        return function

    return enter


def load() -> None:
    """Import the modules that register their cases."""
    for module in MODULES:
        importlib.import_module(f"large_array_support.{module}")
