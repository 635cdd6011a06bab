"""Test the fusion mode of a thread (`PyGPU.fusion`) and the report of deferred operations (`PyGPU.fusion_report`)."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

import PyGPU
from PyGPU import _core

gpu_only = pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="NumPy computes at once")


@pytest.fixture(autouse=True)
def auto() -> Iterator[None]:
    """Set the fusion mode "auto" and the compile threshold 2, independent of the environment, and restore both after
    the test."""
    before = _core._set_fusion("auto")
    _core._limit_fusion(compile_threshold=2)
    yield
    PyGPU.flush()
    _core._limit_fusion()
    _core._set_fusion(before)


def has_gpu() -> bool:
    return PyGPU.backend_name() != "cpu"


def an_array() -> PyGPU.GPUArray:
    array = PyGPU.to_gpu(np.arange(6, dtype=np.float32))
    PyGPU.flush()
    return array


def test_fusion_mode_is_active_until_end_of_with_block() -> None:
    with PyGPU.fusion("off"):
        assert _core._get_fusion() == "off"
        with PyGPU.fusion("auto"):
            assert _core._get_fusion() == "auto"
        assert _core._get_fusion() == "off"
    assert _core._get_fusion() == "auto"


def test_previous_fusion_mode_is_restored_if_with_block_raises() -> None:
    with pytest.raises(KeyError), PyGPU.fusion("off"):
        raise KeyError
    assert _core._get_fusion() == "auto"


def test_fusion_mode_object_is_reentrant() -> None:
    off, auto = PyGPU.fusion("off"), PyGPU.fusion("auto")
    with off, auto, off:
        with auto:
            assert _core._get_fusion() == "auto"
        assert _core._get_fusion() == "off"
    assert _core._get_fusion() == "auto"
    with off:
        assert _core._get_fusion() == "off"


def test_recursive_function_runs_in_fusion_mode_of_its_decorator() -> None:
    @PyGPU.fusion("off")
    def countdown(left: int) -> list[str]:
        """Count."""
        return [_core._get_fusion(), *(countdown(left - 1) if left else [])]

    assert countdown(2) == ["off"] * 3
    assert _core._get_fusion() == "auto"
    assert (countdown.__name__, countdown.__doc__) == ("countdown", "Count.")


@pytest.mark.parametrize("mode", ["fast", "", "AUTO", None, 1, ["off"]])
def test_unknown_fusion_mode_raises_and_leaves_current_mode_unchanged(mode: object) -> None:
    with PyGPU.fusion("off"):
        with pytest.raises(ValueError, match=r"'auto' or 'off'"):
            PyGPU.fusion(mode)  # type: ignore[arg-type]
        assert _core._get_fusion() == "off"


def test_fusion_mode_decorator_rejects_generators_and_coroutines() -> None:
    def generator() -> Iterator[int]:
        yield 1

    async def coroutine() -> None: ...

    for function in (generator, coroutine):
        with pytest.raises(TypeError, match=r"write `with PyGPU.fusion\('off'\):` in it"):
            PyGPU.fusion("off")(function)


def test_fusion_mode_applies_to_current_thread_only() -> None:
    shared, seen = PyGPU.fusion("off"), []

    def other() -> None:
        with PyGPU.fusion("auto"):
            seen.append(_core._get_fusion())
            with shared:
                seen.append(_core._get_fusion())
            seen.append(_core._get_fusion())

    with shared:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert _core._get_fusion() == "off"
    assert seen == ["auto", "off", "auto"]
    assert _core._get_fusion() == "auto"


def test_fusion_mode_object_has_repr_with_mode_and_usage() -> None:
    assert repr(PyGPU.fusion("off")) == "<PyGPU.fusion('off'), for `with` or as a decorator>"


def test_fusion_mode_off_defers_no_operation() -> None:
    x = an_array()
    with PyGPU.fusion_report() as report, PyGPU.fusion("off"):
        y = 2 * x + 1
    assert report.operations == 0
    assert report.at_once["off"] == (2 if has_gpu() else 0)
    np.testing.assert_array_equal(y.get(), 2 * np.arange(6, dtype=np.float32) + 1)


@gpu_only
def test_entry_into_different_fusion_mode_flushes_but_into_same_does_not() -> None:
    x = an_array()
    y = 2 * x
    before = PyGPU.fusion_report()
    with PyGPU.fusion("auto"):
        assert PyGPU.fusion_report().kernels == before.kernels
        with PyGPU.fusion("off"):
            assert PyGPU.fusion_report().kernels == before.kernels + 1
    np.testing.assert_array_equal(y.get(), 2 * np.arange(6, dtype=np.float32))


@gpu_only
def test_flush_launches_pending_operations() -> None:
    x = an_array()
    with PyGPU.fusion_report() as report:
        y = 2 * x
        assert (report.operations, report.waiting, report.kernels) == (1, 1, 0)
        assert "1 pending when this was counted: PyGPU.flush() launches them." in repr(report)
        PyGPU.flush()
        assert (report.operations, report.waiting, report.kernels) == (1, 0, 1)
    del y


@gpu_only
def test_fusion_report_counts_fused_operations() -> None:
    x = an_array()
    for _ in range(2):  # The expression is compiled at its second use.
        with PyGPU.fusion_report() as report:
            y = 2 * x + 1
    assert (report.operations, report.computed, report.kernels, report.fused) == (2, 2, 1, 1)
    assert (report.outputs, report.dropped, report.failures, report.first_meetings) == (1, 0, 0, 0)
    assert repr(report).startswith(
        "2 operations deferred in the block: 2 computed by 1 kernel (1 fused); 1 result got memory."
    )
    np.testing.assert_array_equal(y.get(), 2 * np.arange(6, dtype=np.float32) + 1)


@gpu_only
def test_fusion_report_counts_first_uses_and_compile_threshold() -> None:
    x = an_array()
    with PyGPU.fusion_report() as report:
        y = (x - 3) * (x + 7) - x
    if report.first_meetings:  # The first use is not counted if an earlier test has already used the expression.
        assert report.kernels == report.operations == 4
        assert "PYGPU_FUSION_COMPILE=first" in repr(report)
    del y


@gpu_only
def test_fusion_report_counts_discarded_operations() -> None:
    x = an_array()
    with PyGPU.fusion_report() as report:
        y = 2 * x
        del y
    assert (report.operations, report.dropped, report.kernels) == (1, 1, 0)
    assert "1 never computed" in repr(report)


@gpu_only
def test_operation_on_escaped_array_is_eager() -> None:
    x = an_array()
    assert x.ptr
    with PyGPU.fusion_report() as report:
        y = 2 * x
    assert (report.operations, report.at_once["exposed"]) == (0, 1)
    assert "the address of an operand was given out" in repr(report)
    np.testing.assert_array_equal(y.get(), 2 * x.get())


@gpu_only
def test_fusion_report_counts_flushes_by_reason() -> None:
    x = an_array()
    with PyGPU.fusion_report() as report:
        (2 * x).get()
        y = 2 * x
    del y
    assert (report.closed["values"], report.closed["asked"]) == (1, 1)
    assert "  values      1  values or an address were asked for" in repr(report)


@gpu_only
def test_fusion_report_counts_in_place_operator_as_deferred() -> None:
    x, y = an_array(), an_array()
    with PyGPU.fusion_report() as report:
        t = 2 * x
        y += t
        del t
    assert (report.operations, report.at_once["form"]) == (2, 0)
    with PyGPU.fusion_report() as report:
        y += x
    assert (report.operations, report.at_once["form"]) == (0, 1)
    np.testing.assert_array_equal(y.get(), 4 * np.arange(6, dtype=np.float32))


def test_fusion_report_is_immutable_mapping() -> None:
    x = an_array()
    with PyGPU.fusion_report() as report:
        y = 2 * x
    known = dict(report)
    assert set(known) == set(_core._fusion_figures())
    assert {name: getattr(report, name) for name in report} == known
    results = [y, 2 * x + 1]
    PyGPU.flush()
    assert len(results) == 2
    assert dict(report) == known


def test_every_reason_in_fusion_report_is_documented() -> None:
    from PyGPU._fusion import report

    figures = _core._fusion_figures()
    assert set(report._AT_ONCE) == set(figures["at_once"])
    assert set(report._CLOSED) == set(figures["closed"])


def test_empty_fusion_report_prints_message() -> None:
    with PyGPU.fusion_report() as report:
        pass
    assert repr(report) == (
        "No operation was deferred in the block. The CPU backend defers none; an ElementwiseKernel is one kernel on "
        "every backend."
    )


def in_a_process(program: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYGPU_FUSION")}
    command = [sys.executable, "-c", f"import PyGPU\nfrom PyGPU import _core\n{program}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment | variables)


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize(("value", "mode"), [("auto", "auto"), ("off", "off"), ("0", "off"), ("", "auto")])
def test_environment_variable_selects_fusion_mode(value: str, mode: str) -> None:
    done = in_a_process("print(_core._get_fusion())", PYGPU_FUSION=value)
    assert done.stdout == f"{mode}\n", done.stderr


@pytest.mark.starts_processes
@pytest.mark.enough_on("cpu", "cuda")
@pytest.mark.parametrize(
    ("variable", "known"),
    [("PYGPU_FUSION", "'auto' or 'off'"), ("PYGPU_FUSION_COMPILE", "'first' or 'second'")],
)
def test_unknown_fusion_mode_in_environment_raises_and_names_variable(variable: str, known: str) -> None:
    done = in_a_process("with PyGPU.fusion('off'): pass", **{variable: "fast"})
    assert done.returncode == 1
    assert f"ValueError: {variable} must be {known}, and is 'fast'" in done.stderr


@gpu_only
@pytest.mark.starts_processes
@pytest.mark.enough_on("cuda")
def test_operation_raises_if_environment_has_unknown_fusion_mode() -> None:
    done = in_a_process("x = PyGPU.zeros(3)\nx + 1", PYGPU_FUSION="fast")
    assert "ValueError: PYGPU_FUSION must be" in done.stderr


@gpu_only
@pytest.mark.starts_processes
@pytest.mark.enough_on("cuda")
@pytest.mark.parametrize(("value", "kernels"), [("first", 1), ("second", 2), ("", 2)])
def test_environment_variable_sets_fusion_compile_threshold(value: str, kernels: int) -> None:
    program = """
_core._bound_fusion_age(10**6)  # the helper thread may look between the operations
x = PyGPU.zeros(3)
with PyGPU.fusion_report() as report:
    y = 2 * x + 1
print(report.kernels)
"""
    # The kernel cache is off, because PyGPU launches a fused kernel with a cached image at its first use.
    done = in_a_process(program, PYGPU_FUSION="auto", PYGPU_FUSION_COMPILE=value, PYGPU_CACHE="0")
    assert done.stdout == f"{kernels}\n", done.stderr
