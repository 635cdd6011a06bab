"""Test `python -m PyGPU warm`, which compiles kernels ahead of time: cached kernels, and rejected arguments."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU.__main__ import main


def warm(cache: Path, *arguments: str) -> subprocess.CompletedProcess:
    """Run `python -m PyGPU warm` in a separate process, with the folder `cache` as the kernel cache."""
    command = [sys.executable, "-m", "PyGPU", "warm", "--threads", "2", *arguments]
    environment = os.environ | {"PYGPU_CACHE_DIR": str(cache)}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.starts_processes
def test_second_warm_command_finds_all_kernels_in_cache(tmp_path: Path) -> None:
    done = warm(tmp_path, "--functions", "add", "--dtypes", "float32")
    assert (done.returncode, done.stderr) == (0, "")
    if PyGPU.backend_name() == "cpu":
        assert "NumPy computes" in done.stdout
        return
    count = len(list((tmp_path / "kernels").glob("*.pgk")))
    assert count >= 8  # The command compiles one kernel for each layout variant, such as contiguous or strided.
    assert done.stdout.startswith(f"{count} kernels compiled; {count} of")
    again = warm(tmp_path, "--functions", "add", "--dtypes", "float32")
    assert again.stdout.startswith(f"0 kernels compiled; {count} of")


@pytest.mark.starts_processes
@pytest.mark.enough_on("cuda")
def test_program_after_warm_command_compiles_no_warmed_kernel(tmp_path: Path) -> None:
    assert warm(tmp_path, "--functions", "less", "--dtypes", "int32", "float32").returncode == 0
    before = sorted((tmp_path / "kernels").glob("*.pgk"))
    program = (
        "import numpy as np, PyGPU; a = PyGPU.ones(1000, 'int32'); b = PyGPU.ones(1000, 'float32')\n"
        "assert not (a < b).get().any() and not (b < 1).get().any() and not (a[:1] < a[:1]).get().any()"
    )
    environment = os.environ | {"PYGPU_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    assert sorted((tmp_path / "kernels").glob("*.pgk")) == before


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--functions", "sun"], "'sun' is no function of elements"),
        (["--functions", "zeros"], "'zeros' is no function of elements"),
        (["--dtypes", "float33"], "'float33' is no dtype that PyGPU computes with"),
        (["--dtypes", "U3"], "'U3' is no dtype that PyGPU computes with"),
    ],
)
def test_warm_command_rejects_unknown_functions_and_dtypes(
    arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["PyGPU", "warm", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
