"""Test `config()`, `show_config()` and `python -m PyGPU`, which list the backends and why some are unavailable."""

import os
import subprocess
import sys

import pytest

import PyGPU


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    """Run Python in a separate process. The variable `PYGPU_BACKEND` is removed unless an argument sets it."""
    settings = {name: value for name, value in os.environ.items() if name != "PYGPU_BACKEND"}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=settings | environment, check=False
    )


def test_config_contains_backends_in_search_order() -> None:
    config = PyGPU.config()
    assert config["version"] == PyGPU.__version__
    assert config["backend"] == PyGPU.backend_name()
    assert config["backend_error"] is None
    assert config["PYGPU_BACKEND"] == (os.environ.get("PYGPU_BACKEND") or None)
    assert [backend["name"] for backend in config["backends"]] == ["cuda", "hip", "cpu"]


def test_each_backend_entry_has_devices_or_reason_for_their_absence() -> None:
    for backend in PyGPU.config()["backends"]:
        assert set(backend) == {
            "name", "available", "reason", "library", "driver_version", "searched", "devices", "compiler",
        }  # fmt: skip
        assert backend["available"] is (backend["reason"] is None)
        assert backend["available"] is bool(backend["devices"])
        assert backend["available"] is bool(backend["compiler"])
        for name, reason in backend["searched"]:
            assert name
            assert reason
        for device in backend["devices"]:
            assert device["total_memory"] > 0


def test_config_entry_of_active_backend_equals_device_queries() -> None:
    config = PyGPU.config()
    used = next(backend for backend in config["backends"] if backend["name"] == config["backend"])
    assert used["available"]
    assert used["driver_version"] == PyGPU.driver_version()
    assert used["devices"] == [PyGPU.device_properties(index) for index in range(PyGPU.device_count())]


def test_show_config_prints_to_sys_stdout(capsys) -> None:
    assert PyGPU.show_config() is None
    text = capsys.readouterr().out
    assert text.startswith(f"PyGPU {PyGPU.__version__}\nbackend: {PyGPU.backend_name()}\n")
    for name in ("PYGPU_BACKEND", "  cuda: ", "  hip: ", "  cpu: available", PyGPU.device_properties("cpu")["name"]):
        assert name in text


@pytest.mark.enough_on("cpu")
def test_python_m_pygpu_prints_configuration() -> None:
    done = run("-m", "PyGPU", PYGPU_BACKEND="cpu")
    assert (done.returncode, done.stderr) == (0, "")
    assert "backend: cpu\nPYGPU_BACKEND: cpu\n" in done.stdout


@pytest.mark.enough_on("cpu")
def test_configuration_is_shown_without_usable_backend() -> None:
    done = run("-m", "PyGPU", PYGPU_BACKEND="abacus")
    assert (done.returncode, done.stderr) == (0, "")
    assert "backend: none: " in done.stdout
    assert "PYGPU_BACKEND: abacus" in done.stdout
    code = "import PyGPU; config = PyGPU.config(); print(config['backend'], 'abacus' in config['backend_error'])"
    done = run("-c", code, PYGPU_BACKEND="abacus")
    assert (done.stdout, done.stderr) == ("None True\n", "")


FORCED = """
import PyGPU
for call in (PyGPU.Device, PyGPU.device_count, lambda: PyGPU.zeros_pinned(3), PyGPU.current_stream):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
"""


def test_forced_unavailable_backend_raises_error_naming_variable() -> None:
    for value, error in (
        ("abacus", "ValueError"),
        ("hip", "BackendUnavailableError"),
        ("cuda", "BackendUnavailableError"),
    ):
        if value != "abacus" and next(b for b in PyGPU.config()["backends"] if b["name"] == value)["available"]:
            continue
        done = run("-c", FORCED, PYGPU_BACKEND=value)
        assert (done.returncode, done.stderr) == (0, "")
        lines = done.stdout.splitlines()
        assert len(lines) == 4
        for line in lines:
            assert line.startswith(error)
            assert "PYGPU_BACKEND" in line
            assert value in line


CONTEXT = """
import ctypes, PyGPU
assert PyGPU.config() == PyGPU.config()
flags, active = ctypes.c_uint(), ctypes.c_int()
assert ctypes.CDLL("libcuda.so.1").cuDevicePrimaryCtxGetState(0, ctypes.byref(flags), ctypes.byref(active)) == 0
print(active.value)
"""


@pytest.mark.skipif(PyGPU.backend_name() != "cuda", reason="needs CUDA's driver")
def test_config_call_creates_no_driver_context() -> None:
    done = run("-c", CONTEXT, PYGPU_BACKEND="cuda")
    assert (done.stdout, done.stderr) == ("0\n", "")
