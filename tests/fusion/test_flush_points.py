"""Test methods of streams, events, graphs and devices, and functions of `driver`, `cuda*` and `nvml*`.

Each method or function launches all pending operations, or helpers/fusion_support/entry_points.py lists it as exempt,
because it needs no flush.
"""

from __future__ import annotations

import types

import numpy as np
import pytest

import PyGPU
from fusion_support import entry_points
from fusion_support.operation_counts import waiting
from PyGPU import driver

HOST = np.arange(4.0)


def check_call_flushes(call: entry_points.Call) -> None:
    place = entry_points.CallObjects()
    x = PyGPU.to_gpu(HOST)
    kept = x + 1
    assert waiting() == 1
    try:
        call(place)
        assert waiting() == 0
    finally:
        place.leave()
    np.testing.assert_array_equal(kept.get(), HOST + 1)


@pytest.mark.parametrize("name", entry_points.CLASSES)
def test_every_class_attribute_is_flush_point_or_listed_as_exempt(name: str) -> None:
    of, closing, quiet = entry_points.CLASSES[name]
    own = {attribute for attribute in dir(of) if not attribute.startswith("__")}
    assert own - set(closing) - quiet == set()
    assert set(closing) & quiet == set()
    assert (set(closing) | quiet) - set(dir(of)) == set()


@pytest.mark.parametrize(
    ("of", "name"), [(of, name) for of, (_, closing, _) in entry_points.CLASSES.items() for name in closing]
)
def test_class_attribute_listed_as_flush_point_launches_pending_operations(of: str, name: str) -> None:
    check_call_flushes(entry_points.CLASSES[of][1][name])


def test_every_cuda_or_nvml_function_is_flush_point_or_listed_as_exempt() -> None:
    raw = {name for name in PyGPU.__all__ if name.startswith(("cuda", "nvml"))}
    functions = {name for name in raw if isinstance(getattr(PyGPU, name), types.FunctionType)}
    assert functions == set(entry_points.RAW) | entry_points.RAW_QUIET


@pytest.mark.parametrize("name", entry_points.RAW)
def test_cuda_or_nvml_function_launches_pending_operations(name: str) -> None:
    check_call_flushes(lambda place: entry_points.status(entry_points.RAW[name](place)))


def test_every_driver_function_is_flush_point_or_listed_as_exempt() -> None:
    names = {name for name in dir(driver) if not name.startswith("_")}
    plain = {
        name for name in names if isinstance(getattr(driver, name), (types.FunctionType, types.BuiltinFunctionType))
    }
    assert plain == set(entry_points.DRIVER) | entry_points.DRIVER_QUIET


@pytest.mark.parametrize("name", entry_points.DRIVER)
def test_driver_function_launches_pending_operations(name: str) -> None:
    check_call_flushes(entry_points.DRIVER[name])
