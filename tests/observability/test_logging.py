"""Test messages of the logger "PyGPU"."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import PyGPU
from PyGPU import _core

SOURCE = 'extern "C" __global__ void told(int *a) { a[0] = 5; }'


@pytest.fixture
def _compiler() -> None:
    try:
        PyGPU.Module('extern "C" __global__ void first() {}')
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")


@pytest.mark.usefixtures("_compiler")
def test_compilation_is_logged_with_source_compiler_and_time(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    from PyGPU.compiler import SourceModule

    with caplog.at_level(logging.DEBUG, "PyGPU"):
        SourceModule(SOURCE, no_extern_c=True, cache_dir=str(tmp_path))
        SourceModule(SOURCE, no_extern_c=True, cache_dir=str(tmp_path))
    messages = [(record.levelname, record.getMessage()) for record in caplog.records if record.name == "PyGPU"]
    missed = [text for level, text in messages if level == "DEBUG" and "not in the cache" in text]
    made = [text for level, text in messages if level == "INFO" and "compiled by" in text]
    found = [text for level, text in messages if level == "DEBUG" and "taken from the cache" in text]
    assert (len(missed), len(made), len(found)) == (1, 1, 1)
    assert made[0].endswith(" s")
    assert caplog.records[0].pathname == __file__


@pytest.mark.usefixtures("_compiler")
def test_warning_level_logs_no_compilation(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    from PyGPU.compiler import SourceModule

    with caplog.at_level(logging.WARNING, "PyGPU"):
        SourceModule(SOURCE, no_extern_c=True, cache_dir=str(tmp_path))
    assert caplog.records == []


@pytest.mark.usefixtures("_compiler")
def test_raising_log_filter_does_not_affect_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from PyGPU.compiler import SourceModule

    class Hostile(logging.Filter):
        def filter(self, record: logging.LogRecord) -> bool:
            raise RuntimeError("of a test")

    raised: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", raised.append)
    logger, hostile = logging.getLogger("PyGPU"), Hostile()
    before = logger.level
    logger.addFilter(hostile)
    logger.setLevel(logging.DEBUG)
    try:
        SourceModule(SOURCE, no_extern_c=True, cache_dir=str(tmp_path))
    finally:
        logger.removeFilter(hostile)
        logger.setLevel(before)
    assert len(raised) >= 1
    assert PyGPU.arange(3).tolist() == [0, 1, 2]


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="arrays of the host go over no bus")
def test_copy_through_host_fallback_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    array = PyGPU.to_gpu(np.arange(6))
    with caplog.at_level(logging.INFO, "PyGPU"), pytest.raises(IndexError):
        array[np.array([7])]
    assert any("over the host" in record.getMessage() for record in caplog.records)


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="arrays of the host never wait")
def test_launches_of_deferred_operations_are_logged_during_fusion_report(caplog: pytest.LogCaptureFixture) -> None:
    x = PyGPU.ones(5)

    def flush_messages() -> list[str]:
        return [text for record in caplog.records if "deferred" in (text := record.getMessage())]

    # Turn the helper thread off, because it might launch the operations first if the driver is slow.
    _core._bound_fusion_age(0)
    with caplog.at_level(logging.DEBUG, "PyGPU"), PyGPU.fusion("auto"):
        assert (x + 1).get().sum() == 10
        assert flush_messages() == []
        with PyGPU.fusion_report():
            assert (2 * (x + 1)).get().sum() == 20
            assert (x + 2).get().sum() == 15
        assert flush_messages() == [
            "launches 2 deferred operations: values",
            "launches 1 deferred operation: values",
        ]
        assert (x + 1).get().sum() == 10
        assert len(flush_messages()) == 2
    _core._bound_fusion_age()


@pytest.mark.enough_on("cpu")
@pytest.mark.starts_processes
def test_program_without_logging_does_not_import_logging() -> None:
    script = (
        "import sys, PyGPU\nhad = 'logging' in sys.modules\n"
        "PyGPU.Module('extern \"C\" __global__ void first() {}')\n"
        "assert ('logging' in sys.modules) == had"
    )
    environment = {**os.environ, "PYGPU_BACKEND": "cpu"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.enough_on("cpu")
@pytest.mark.starts_processes
@pytest.mark.usefixtures("_compiler")
@pytest.mark.parametrize(
    ("variable", "value", "warning"),
    [
        ("PYGPU_CACHE_SIZE", "lots", "PYGPU_CACHE_SIZE=lots is no size such as 256M or 2G; 268435456 bytes are kept\n"),
        ("PYGPU_PROFILE", "all", "PYGPU_PROFILE asks for ranges: 'all' is no kind of ranges"),
    ],
)
def test_warning_is_printed_once_without_logging(variable: str, value: str, warning: str, tmp_path: Path) -> None:
    script = (
        "import PyGPU\n"
        "for name in ('one', 'two'):\n"
        "    PyGPU.Kernel(f'__global__ void {name}(int *a) {{ *a = 1; }}')[1, 1](PyGPU.zeros(1, 'int32'))"
    )
    environment = {**os.environ, "PYGPU_BACKEND": "cpu", "PYGPU_CACHE_DIR": str(tmp_path), variable: value}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(warning)
    assert done.stderr.count(variable) == 1
