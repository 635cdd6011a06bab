"""Test the command line as a whole: examples in the help, JSON output of the self-test, and a closed output pipe."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU
from PyGPU._cli import test as testing
from PyGPU._cli.broken_pipe import quiet_end
from PyGPU._cli.main import main, parsers

pytestmark = pytest.mark.enough_on("cpu")

COMMANDS = ["show", "test", "bench", "warm", "check", "run"]

PROGRAM = "print('x' * 100_000)\n"


def run_with_closed_output(arguments: list[str], folder: Path, *, is_buffered: bool = True) -> tuple[int, str]:
    """Run a command in a folder with a closed pipe as its output; return the exit status and the error output."""
    (folder / "program.py").write_text(PROGRAM)
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if is_buffered else "1"}
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "PyGPU", *arguments], stdout=write_end, stderr=subprocess.PIPE, text=True,
            cwd=folder, env=environment, check=False,
        )  # fmt: skip
    finally:
        os.close(write_end)
    return done.returncode, done.stderr


def check_ends_quietly(status: int, errors: str) -> None:
    """Check that the error output has no traceback, and that the exit status is the status of a process that SIGPIPE
    ended."""
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors
    assert status == 128 + signal.SIGPIPE, errors


@pytest.mark.parametrize(
    "arguments",
    [
        *([], ["--json"], ["--version"], ["--includes"], ["--help"], ["show"], ["show", "--json"]),
        *(["test", "--no-neighbours", "--seconds", "0"], ["test", "--no-neighbours", "--seconds", "0", "--json"]),
        *(["bench", "--quick", "--size", "4K"], ["warm", "--functions", "add", "--dtypes", "int32"]),
        *(["check", "--no-sanitizer", "--shuffles", "0", "program.py"],),
        *(["run", "--as-pycuda", "program.py"], ["run", "--as-pycuda", "-m", "program"]),
        *([command, "--help"] for command in COMMANDS),
    ],
    ids=" ".join,
)
def test_command_with_closed_output_prints_no_traceback(arguments: list[str], tmp_path: Path) -> None:
    check_ends_quietly(*run_with_closed_output(arguments, tmp_path))


def test_command_with_closed_unbuffered_output_prints_no_traceback(tmp_path: Path) -> None:
    check_ends_quietly(*run_with_closed_output([], tmp_path, is_buffered=False))


@pytest.mark.skipif(PyGPU.backend_name() == "cpu", reason="the command needs a GPU")
@pytest.mark.enough_on("cuda")
def test_stream_check_with_closed_output_prints_no_traceback(tmp_path: Path) -> None:
    check_ends_quietly(*run_with_closed_output(["check", "--streams", "program.py"], tmp_path))


def test_broken_pipe_error_from_pipe_of_program_is_raised(tmp_path: Path) -> None:
    program = """
import os
ends = os.pipe()
os.close(ends[0])
os.write(ends[1], b"text")
"""
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "PyGPU", "run", "--as-pycuda", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert "BrokenPipeError" in done.stderr


def test_command_that_calls_sys_exit_flushes_output_and_sets_exit_status(capsys: pytest.CaptureFixture[str]) -> None:
    def print_and_exit() -> None:
        with quiet_end():
            print("text")
            sys.exit(3)

    with pytest.raises(SystemExit) as end:
        print_and_exit()
    assert end.value.code == 3
    assert capsys.readouterr().out == "text\n"


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_ends_with_example_that_the_parser_accepts(command: str) -> None:
    parser, of_commands = parsers()
    shown = (of_commands[command] if command else parser).format_help()
    example = " ".join(shown.partition("\nexample: ")[2].split())
    words = shlex.split(example)
    assert words[:3] == ["python", "-m", "PyGPU"]
    assert (parser.parse_args(words[3:]).command or "") == command


def result(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """Return the JSON object that the self-test has printed."""
    report: dict[str, object] = json.loads(capsys.readouterr().out)
    return report


@pytest.mark.parametrize("arguments", [["test", "--json"], ["--json", "test"]], ids=" ".join)
def test_self_test_prints_all_results_as_one_json_object(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    device = str(PyGPU.Device())
    monkeypatch.setattr(sys, "argv", ["PyGPU", *arguments, "--no-neighbours", "--device", device, "--seconds", "0"])
    main()
    report = result(capsys)
    assert report["backend"] == PyGPU.backend_name()
    assert report["devices"] == {device: PyGPU.device_properties(device)["name"]}
    expected = {"device": device, "outcome": "skipped", "message": "no time left (--seconds)"}
    assert report["checks"] == [{**expected, "check": check.what} for check in testing.CHECKS]


def test_failed_check_is_in_json_output_and_sets_exit_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def wrong(device: PyGPU.Device) -> None:
        testing.same([1, 2, 4], [1, 2, 3])

    monkeypatch.setattr(testing, "CHECKS", [testing.Check("bad", wrong)])
    monkeypatch.setattr(sys, "argv", ["PyGPU", "test", "--json", "--no-neighbours", "--device", str(PyGPU.Device())])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    (check,) = result(capsys)["checks"]  # type: ignore[misc]
    assert (check["check"], check["outcome"]) == ("bad", "failed")
    assert "1 of 3 are wrong" in check["message"]
