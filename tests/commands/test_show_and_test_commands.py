"""Test `python -m PyGPU show` and `python -m PyGPU test`: output and exit status."""

import json
import re
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU._cli import bench, environment_variables
from PyGPU._cli import main as commands
from PyGPU._cli import test as testing
from PyGPU._cli.main import main


def said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int | str | None, str]:
    """Run `python -m PyGPU` in this process, and return its exit status and output."""
    monkeypatch.setattr(sys, "argv", ["PyGPU", *arguments])
    status: int | str | None = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    return status, capsys.readouterr().out


@pytest.mark.enough_on("cpu", "cuda")
def test_command_without_arguments_prints_output_of_show_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = said(monkeypatch, capsys)
    assert said(monkeypatch, capsys, "show") == plain
    assert f"backend: {PyGPU.backend_name()}" in plain[1]


@pytest.mark.parametrize("arguments", [["--json"], ["show", "--json"]])
def test_json_output_of_command_equals_config(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, text = said(monkeypatch, capsys, *arguments)
    shown, known = json.loads(text), PyGPU.config()
    assert status == 0
    assert set(shown) == set(known)
    assert shown["backend"] == known["backend"]
    assert [entry["name"] for entry in shown["backends"]] == ["cuda", "hip", "cpu"]


def test_every_check_of_self_test_passes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    device = str(PyGPU.Device())
    status, text = said(monkeypatch, capsys, "test", "--no-neighbours", "--device", device, "--seconds", "100")
    lines = text.splitlines()
    assert status == 0, text
    assert lines[0].endswith(f"backend {PyGPU.backend_name()}")
    verdicts = {line[9:].split(": ")[1]: line.split()[0] for line in lines[2:-1]}
    assert set(verdicts) == {check.what for check in testing.CHECKS}
    assert set(verdicts.values()) <= {"ok", "skipped"}


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize("command", ["bench", "test", "warm"])
def test_command_without_backend_prints_reason_without_traceback(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> str:
        raise PyGPU.BackendUnavailableError("PYGPU_BACKEND=cuda asks for the cuda backend")

    monkeypatch.setattr(commands, "backend_name", none)
    monkeypatch.setattr(sys, "argv", ["PyGPU", command])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    errors = capsys.readouterr().err
    assert errors.startswith(f"python -m PyGPU {command}: PYGPU_BACKEND=cuda asks for the cuda backend\n")
    assert "usage" not in errors


def test_known_variables_equal_variables_of_environment_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "environment.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(PYGPU_\w+)`", page, re.MULTILINE)) == environment_variables.KNOWN


def test_environment_lines_suggest_name_for_misspelt_variable() -> None:
    lines = [
        *environment_variables.environment_lines(
            {"PYGPU_BACKNED": "cpu", "PYGPU_STRICT": "1", "PYGPU_BACKEND": "cpu", "HOME": "/"}
        )
    ]
    assert lines == ["PYGPU_BACKNED: no variable of PyGPU; PYGPU_BACKEND is one", "PYGPU_STRICT: 1"]


def test_missing_compiler_message_names_package_to_install() -> None:
    error = PyGPU.BackendUnavailableError("none was found; install g++ or clang++; looked for:\n  c++: not on PATH")
    message = testing.without_a_compiler(error)
    assert message == "no compiler of kernels: none was found; install g++ or clang++"


@pytest.mark.enough_on("cpu")
def test_failed_check_of_self_test_is_printed_and_sets_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(device: PyGPU.Device) -> None:
        testing.same([1, 2, 4], [1, 2, 3])

    def skipped(device: PyGPU.Device) -> None:
        raise testing.Skipped("not here")

    monkeypatch.setattr(testing, "CHECKS", [testing.Check("bad", wrong), testing.Check("absent", skipped)])
    status, text = said(monkeypatch, capsys, "test", "--no-neighbours")
    assert status == 1
    assert ": bad: Wrong: values: 1 of 3 are wrong, at (2,) 4 in the place of 3" in text
    devices = PyGPU.device_count()
    assert f"skipped  {PyGPU.Device(0)}: absent: not here" in text
    assert f"{devices} skipped, {devices} FAILED" in text


@pytest.mark.enough_on("cpu")
def test_self_test_checks_only_installed_libraries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(testing, "CHECKS", [])
    monkeypatch.setattr(testing, "NEIGHBOURS", {"numpy": lambda device: "met", "no_such_module": lambda device: "met"})
    status, text = said(monkeypatch, capsys, "test")
    assert status == 0
    assert ": numpy: met" in text
    assert "no_such_module" not in text


@pytest.mark.enough_on("cpu")
def test_self_test_of_unknown_device_exits_with_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(monkeypatch, capsys, "test", "--device", "cpu:77")[0] == 2


@pytest.mark.enough_on("cpu")
def test_self_test_stops_after_time_limit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = said(monkeypatch, capsys, "test", "--no-neighbours", "--seconds", "0")
    assert (status, text.count("no time left")) == (0, PyGPU.device_count() * len(testing.CHECKS))


@pytest.mark.enough_on("cpu")
def test_benchmark_comparison_shows_ratios_to_saved_results() -> None:
    rows = [bench.Row("get", 65536, 2e-6), bench.Row("a.T", None, 3e-8), bench.Row("new", None, 1e-8)]
    text = bench.comparison(rows, {("get", 65536): 1e-6, ("a.T", None): 6e-8}, "old.json")
    assert [line.split()[-1] for line in text.splitlines()] == ["old.json", "2.00", "0.50"]
