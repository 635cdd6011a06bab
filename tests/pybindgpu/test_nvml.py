"""Test NVML through the package nvidia-ml-py, through NVIDIA's library, and without these two."""

from __future__ import annotations

import ctypes
import types
from typing import Any

import pytest

import PyGPU
from PyGPU import _core, nvml
from PyGPU._pybindgpu.nvml import library as _nvml_library

UUID = bytes(range(16))
SPELLED = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f"


@pytest.fixture
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a machine without NVML."""

    def fail(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    monkeypatch.setattr(_nvml_library, "_library", None)
    monkeypatch.setattr(ctypes, "CDLL", fail)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate two CUDA devices, the second with a known UUID."""
    monkeypatch.setattr(_core, "backend_name", lambda: "cuda")
    monkeypatch.setattr(_core, "device_count", lambda: 2)
    monkeypatch.setattr(_core, "device_properties", lambda index: {"uuid": UUID if index == 1 else bytes(16)})


class NVMLError(Exception):
    """Replace the error class of nvidia-ml-py."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value


def package(prefix: str = "GPU-") -> types.SimpleNamespace:
    """Return a replacement of the module pynvml that has one device."""
    opened: list[bool] = []

    def shutdown() -> None:
        if not opened:
            raise NVMLError(1)
        opened.pop()

    def find(uuid: str) -> Any:
        if not opened:
            raise NVMLError(1)
        if uuid != SPELLED.replace("GPU-", prefix):
            raise NVMLError(6)
        return ctypes.c_void_p(0xBEEF)

    def memory(_device: Any) -> Any:
        return types.SimpleNamespace(total=100, free=70, used=30)

    def rates(_device: Any) -> Any:
        if not opened:
            raise NVMLError(1)
        return types.SimpleNamespace(gpu=12, memory=34)

    return types.SimpleNamespace(
        NVMLError=NVMLError,
        nvmlInit=lambda: opened.append(True),
        nvmlShutdown=shutdown,
        nvmlDeviceGetHandleByUUID=find,
        nvmlDeviceGetUtilizationRates=rates,
        nvmlDeviceGetMemoryInfo=memory,
    )


def test_missing_nvml_returns_status_not_supported_and_zeros(absent: None, cuda: None) -> None:
    assert nvml.nvmlInit() == 3
    assert repr(nvml.nvmlShutdown()) == "<nvmlReturn: code=3>"
    device = nvml.nvmlDevice(0)
    assert device.last_status() == 3
    assert device.utilization_rates() == (0, 0)
    assert device.memory_info() == (0, 0, 0)
    assert device.get() == int(device) == 0


@pytest.mark.parametrize("backend", ["cpu", "hip"])
def test_nvml_queries_of_hip_and_cpu_devices_return_not_supported(
    backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "backend_name", lambda: backend)
    monkeypatch.setattr(_nvml_library, "_library", _nvml_library.NvidiaMlPy(package()))
    device = nvml.nvmlDevice(0)
    assert device.last_status() == 3
    assert device.memory_info() == (0, 0, 0)


def test_nvml_query_of_device_without_nvml_returns_not_supported(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> str:
        raise RuntimeError("no backend")

    monkeypatch.setattr(_core, "backend_name", fail)
    assert nvml.nvmlDevice(0).last_status() == 3


@pytest.mark.parametrize("prefix", ["GPU-", "MIG-"])
def test_nvml_device_is_found_by_uuid(prefix: str, cuda: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_nvml_library, "_library", _nvml_library.NvidiaMlPy(package(prefix)))
    assert nvml.nvmlInit() == 0
    device = nvml.nvmlDevice(1)
    assert device.last_status() == 0
    assert device.get() == 0xBEEF
    assert device.utilization_rates() == (12, 34)
    assert device.memory_info() == (70, 100, 30)
    assert nvml.nvmlDevice(0).last_status() == 6
    assert nvml.nvmlShutdown() == 0
    assert device.utilization_rates() == (0, 0)
    assert device.last_status() == 1


def test_nvml_device_query_before_init_returns_uninitialized(cuda: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_nvml_library, "_library", _nvml_library.NvidiaMlPy(package()))
    assert nvml.nvmlShutdown() == 1
    assert nvml.nvmlDevice(1).last_status() == 1


@pytest.mark.parametrize("index", [-1, 2, 2**70])
def test_nvml_device_query_with_missing_index_returns_invalid_argument(index: int, cuda: None) -> None:
    device = nvml.nvmlDevice(index)
    assert device.last_status() == 2
    assert device.utilization_rates() == (0, 0)


def test_nvml_device_query_rejects_index_that_is_no_integer() -> None:
    with pytest.raises(TypeError):
        nvml.nvmlDevice("0")  # type: ignore[arg-type]


class FakeLibrary:
    """Imitate NVIDIA's library, which PyGPU calls by ctypes."""

    def __init__(self, name: str) -> None:
        assert name == "libnvidia-ml.so.1"

    def nvmlInit_v2(self) -> int:
        return 0

    def nvmlShutdown(self) -> int:
        return 0

    def nvmlDeviceGetHandleByUUID(self, uuid: bytes, device: Any) -> int:
        if uuid != SPELLED.encode():
            return 6
        device._obj.value = 0xCAFE
        return 0

    def nvmlDeviceGetMemoryInfo(self, device: Any, info: Any) -> int:
        assert device.value == 0xCAFE
        info._obj.total, info._obj.free, info._obj.used = 1 << 40, 1 << 39, 5
        return 0


def test_nvidia_library_is_used_if_nvml_package_is_missing(cuda: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(_nvml_library, "_library", None)
    monkeypatch.setattr(ctypes, "CDLL", FakeLibrary)
    monkeypatch.setattr(_nvml_library.importlib, "import_module", missing)
    assert nvml.nvmlInit() == 0
    device = nvml.nvmlDevice(1)
    assert device.get() == 0xCAFE
    assert device.memory_info() == (1 << 39, 1 << 40, 5)
    # Like an old NVML, this replacement of the library lacks the function for utilization rates.
    assert device.utilization_rates() == (0, 0)
    assert device.last_status() == 13
    assert nvml.nvmlShutdown() == 0


@pytest.mark.gpu
@pytest.mark.skipif(PyGPU.backend_name() != "cuda", reason="NVML knows NVIDIA's devices")
def test_nvml_memory_info_matches_device() -> None:
    if PyGPU.nvmlInit() != 0:
        pytest.skip("no NVML")
    device = PyGPU.nvmlDevice(0)
    assert device.last_status() == 0
    free, total, used = device.memory_info()
    assert 0 < free <= total
    assert used <= total
    assert PyGPU.nvmlShutdown() == 0
