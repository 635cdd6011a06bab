"""Test status objects, the names and messages of errors, and the last error of a thread."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable

import numpy
import pytest

from PyGPU import _core
from PyGPU._pybindgpu import error_table as _error_table
from PyGPU._pybindgpu.status import (
    StatusError,
    cudaError_t,
    cudaGetErrorName,
    cudaGetErrorString,
    cudaGetLastError,
    cudaPeekAtLastError,
    nvmlReturn_t,
    status_of,
    value_of,
)


@pytest.fixture(autouse=True)
def _no_error_is_left() -> None:
    cudaGetLastError()


def raiser(error: BaseException) -> Callable[[], None]:
    def function() -> None:
        raise error

    return function


def test_status_prints_like_pybindgpu() -> None:
    assert repr(cudaError_t(0)) == "<cudaError: code=0>"
    assert repr(nvmlReturn_t(3)) == "<nvmlReturn: code=3>"


@pytest.mark.parametrize("kind", [cudaError_t, nvmlReturn_t])
def test_status_behaves_like_integer(kind: type[cudaError_t]) -> None:
    status = kind(numpy.int32(7))
    assert status.as_int() == int(status) == 7
    assert type(status.as_int()) is int
    assert f"{int(status)} {['x'] * 7}"[0] == "7"
    assert range(10)[status] == 7


def test_status_equals_integers_and_statuses_of_same_kind() -> None:
    assert cudaError_t(3) == 3
    assert cudaError_t(3) == cudaError_t(3)
    assert cudaError_t(3) == numpy.int64(3)
    assert numpy.int64(3) == cudaError_t(3)
    assert cudaError_t(3) != 4
    assert cudaError_t(3) != "3"
    assert cudaError_t(3) != 3.5
    assert cudaError_t(3) != nvmlReturn_t(3)


def test_status_hashes_like_integer() -> None:
    assert {cudaError_t(3): "three"}[3] == "three"
    assert len({cudaError_t(3), cudaError_t(3), 3}) == 1


def test_status_is_true_only_if_it_is_an_error() -> None:
    assert not cudaError_t(0)
    assert cudaError_t(1)
    assert not nvmlReturn_t(0)
    assert nvmlReturn_t(999)


@pytest.mark.parametrize("wrong", ["1", 1.0, None])
def test_status_constructor_rejects_other_types(wrong: object) -> None:
    with pytest.raises(TypeError):
        cudaError_t(wrong)  # type: ignore[arg-type]


def test_error_names_and_texts_match_cuda_runtime() -> None:
    assert cudaGetErrorName(cudaError_t(0)) == "cudaSuccess"
    assert cudaGetErrorString(cudaError_t(0)) == "no error"
    assert cudaGetErrorName(1) == "cudaErrorInvalidValue"
    assert cudaGetErrorString(1) == "invalid argument"
    assert cudaGetErrorName(numpy.int16(700)) == "cudaErrorIllegalAddress"


@pytest.mark.parametrize("code", [-1, 11, 1052, 98765, 2**70])
def test_error_text_of_unknown_number_is_unrecognized_error_code(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "backend_name", lambda: "cuda")
    assert cudaGetErrorName(code) == "unrecognized error code"
    assert cudaGetErrorString(cudaError_t(code)) == "unrecognized error code"


def test_error_name_rejects_nvml_status() -> None:
    with pytest.raises(TypeError, match="NVML"):
        cudaGetErrorName(nvmlReturn_t(1))
    with pytest.raises(TypeError):
        cudaGetErrorString("1")  # type: ignore[arg-type]


def test_error_names_on_hip_are_names_of_hip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "backend_name", lambda: "hip")
    assert cudaGetErrorName(911) == "hipErrorInvalidChannelDescriptor"
    assert cudaGetErrorName(1055) == "hipErrorTbd"
    assert cudaGetErrorName(1) == "cudaErrorInvalidValue"
    monkeypatch.setattr(_core, "backend_name", lambda: "cuda")
    assert cudaGetErrorName(911) == "cudaErrorExternalDevice"


def test_error_name_call_opens_no_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "backend_name", raiser(AssertionError("opened")))
    assert cudaGetErrorName(719) == "cudaErrorLaunchFailure"


def test_error_name_call_works_without_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "backend_name", raiser(RuntimeError("none")))
    assert cudaGetErrorName(912) == "cudaErrorInvalidClusterSize"


def test_error_table_matches_cuda_bindings() -> None:
    if importlib.util.find_spec("cuda") is None or importlib.util.find_spec("cuda.bindings") is None:
        pytest.skip("cuda-bindings is not installed")
    runtime = importlib.import_module("cuda.bindings.runtime")
    for name, member in runtime.cudaError_t.__members__.items():
        # A newer CUDA release may have further codes, but codes that both releases have must agree.
        if int(member) in _error_table.CUDA_ERRORS:
            assert _error_table.CUDA_ERRORS[int(member)][0] == name


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (StatusError(400), 400),
        (MemoryError(), 2),
        (_core.NotSupportedError("no such thing"), 801),
        (RuntimeError("no backend"), 3),
    ],
)
def test_status_of_pygpu_exception_is_its_error_code(error: Exception, code: int) -> None:
    assert status_of(raiser(error)) == code
    assert cudaGetLastError() == code
    assert value_of(5, raiser(error)) == (5, code)


def test_driver_error_is_converted_to_status_with_drivers_code() -> None:
    with pytest.raises(_core.CudaError) as refused:
        _core.raw_free(0x10)
    assert status_of(_core.raw_free, 0x10) == refused.value.code == 1


def test_status_of_failed_allocation_is_error_2() -> None:
    assert value_of(0, _core.raw_allocate, 1 << 60) == (0, 2)


@pytest.mark.parametrize("error", [TypeError("t"), ValueError("v"), RecursionError("r"), KeyboardInterrupt()])
def test_exception_unrelated_to_device_is_not_converted_to_status(error: BaseException) -> None:
    with pytest.raises(type(error)):
        status_of(raiser(error))
    assert cudaGetLastError() == 0


def test_last_error_is_cleared_by_get_and_not_by_peek() -> None:
    status_of(raiser(StatusError(101)))
    status_of(int)
    assert cudaPeekAtLastError() == 101
    assert cudaPeekAtLastError() == 101
    assert cudaGetLastError() == 101
    assert cudaGetLastError() == 0


def test_last_error_is_separate_for_each_thread() -> None:
    status_of(raiser(StatusError(1)))
    seen: list[cudaError_t] = []

    def other() -> None:
        seen.append(cudaGetLastError())
        status_of(raiser(StatusError(400)))

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [0]
    assert cudaGetLastError() == 1
