"""Test programs that are written for CuPy, whose results match NumPy's, and the comparison of program outputs."""

from __future__ import annotations

import runpy
import sys
import tomllib
from pathlib import Path

import pytest

import PyGPU

FOLDER = Path(__file__).parent
PROGRAMS = FOLDER / "programs"


@pytest.mark.parametrize(("name", "lines"), [("orbits", 4), ("heat", 5), ("image_filters", 9), ("memory", 4)])
def test_cupy_program_runs_unchanged(
    name: str, lines: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(PROGRAMS / f"{name}.py")
    monkeypatch.setattr(sys, "argv", [file])
    PyGPU.as_cupy(force=True)
    try:
        runpy.run_path(file, run_name="__main__")
    finally:
        PyGPU.as_cupy(undo=True)
    assert len(capsys.readouterr().out.splitlines()) == lines


@pytest.mark.enough_on("cpu")
def test_list_of_cupy_programs_has_checksum_of_each_file() -> None:
    programs = tomllib.loads((PROGRAMS / "programs.toml").read_text())["programs"]
    assert len({program["name"] for program in programs}) == len(programs) == 12
    fetched = [program for program in programs if "files" in program]
    assert len(fetched) == 8
    for program in fetched:
        assert len(program["commit"]) == 40
        assert all(len(checksum) == 64 for checksum in program["files"].values())
        assert sum(first.startswith("main_scripts/") for first, *_ in program["run"]) <= 1
    for program in programs:
        own = [first for first, *_ in program["run"] if first not in program.get("files", {})]
        assert all((PROGRAMS / first).exists() for first in own), own


@pytest.mark.enough_on("cpu")
def test_comparison_of_program_outputs_finds_differences() -> None:
    difference = runpy.run_path(str(FOLDER / "run_programs.py"))["difference"]
    program = {"ignore": ["time"], "ranges": {"error": [0, 1]}, "tolerance": 1e-6}
    output = "time 3 s\nsum 1.5 -2e-3 x2\nerror 0.25\n"
    assert difference(program, output, "time 9 ms\nsum 1.5000001 -0.002 x2\nerror 0.75\n") is None
    for other in ("sum 1.6 -2e-3 x2\nerror 0.25\n", "sum 1.5 -2e-3 x3\nerror 0.25\n", "sum 1.5 -2e-3 x2\n", ""):
        assert difference(program, output, other) is not None
    assert difference(program, output.replace("0.25", "1.25"), output) is not None
    assert difference(program, output.replace("1.5", "nan"), output) is not None
