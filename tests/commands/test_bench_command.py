"""Test `python -m PyGPU bench`: output, files and rejected arguments."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU.__main__ import main
from PyGPU._cli import bench as figures

WITHOUT_MATPLOTLIB = (
    "import runpy, sys; sys.modules['matplotlib'] = None; runpy.run_module('PyGPU', run_name='__main__')"
)


def bench(*arguments: str, program: tuple[str, ...] = ("-m", "PyGPU")) -> subprocess.CompletedProcess:
    """Run `python -m PyGPU bench` in a separate process."""
    command = [sys.executable, *program, "bench", "--quick", "--size", "64K", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_bench_prints_rates_and_times_without_progress_bar() -> None:
    done = bench("1M")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(PyGPU.device_properties(PyGPU.current_device())["name"])
    lines = {line[:28].strip(): line[28:].split() for line in done.stdout.splitlines()}
    assert lines["GB/s"] == ["64", "KiB", "1", "MiB"]
    assert all(float(rate) > 0 for what in ("to_gpu", "get", "numpy.copyto") for rate in lines[what])
    assert float(lines["a[1:3]"][0]) > 0


@pytest.mark.enough_on("cpu")
def test_bench_saves_times_and_machine_to_file(tmp_path: Path) -> None:
    path = tmp_path / "figures.json"
    assert bench("--save", str(path)).returncode == 0
    content = json.loads(path.read_text())
    assert content["machine"]["PyGPU"] == PyGPU.__version__
    assert {row["nbytes"] for row in content["rows"]} == {65536, None}
    assert all(row["seconds"] > 0 for row in content["rows"])
    known = figures.read(str(path))
    assert known["get", 65536] > 0
    assert known["a.T", None] > 0


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("size", ["3", "0", "much", "1.5M", "4T"])
def test_bench_rejects_invalid_size(
    size: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["PyGPU", "bench", "--size", size])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "64K, 16M, 1G" in capsys.readouterr().err


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("text", [None, "no json", "{}", '{"rows": [1]}'])
def test_bench_rejects_invalid_result_file_before_measuring(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "figures.json"
    if text is not None:
        path.write_text(text)
    monkeypatch.setattr(sys, "argv", ["PyGPU", "bench", "--compare", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "holds no figures that --save wrote" in capsys.readouterr().err


@pytest.mark.enough_on("cpu")
def test_bench_rejects_plot_without_matplotlib_before_measuring(tmp_path: Path) -> None:
    done = bench("--plot", str(tmp_path / "plot.svg"), program=("-c", WITHOUT_MATPLOTLIB))
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install matplotlib" in done.stderr


@pytest.mark.enough_on("cpu")
def test_bench_with_plot_option_writes_svg_file(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    done = bench("--plot", str(tmp_path / "plot.svg"))
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "plot.svg").read_text()
