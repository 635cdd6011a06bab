"""Test the parallel run of tests under compute-sanitizer, which is replaced by a small program."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# The script starts processes of pytest, on any backend.
pytestmark = [pytest.mark.enough_on("cuda"), pytest.mark.starts_processes]
ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "tests/gpu/sanitize.py"

# The program that replaces compute-sanitizer runs the tests, and ends the log with the number of findings in the log.
TOOL = f"""#!{sys.executable}
import subprocess, sys
words = sys.argv[1:]
if words == ["--version"]:
    print("NVIDIA (R) Compute Sanitizer\\nVersion 2025.3.1.0 (build 1)")
    sys.exit()
options = {{}}
while words[0].startswith("--"):
    name, _, value = words.pop(0).partition("=")
    assert name not in options, f"{{name}} is given twice"
    options[name] = value or ("" if "ignore" in name else words.pop(0))
assert words[0] == sys.executable, words
log = open(options["--log-file"], "a")
print("========= COMPUTE-SANITIZER", file=log, flush=True)
done = subprocess.run(words)
text = open(options["--log-file"]).read()
count = text.count("Invalid") + text.count("Program hit")
if "no call" in text:
    print("========= Target application terminated before first instrumented API call", file=log)
elif options["--tool"] == "racecheck":
    print(f"========= RACECHECK SUMMARY: {{count}} hazards displayed ({{count}} errors, 0 warnings)", file=log)
else:
    print(f"========= ERROR SUMMARY: {{count}} errors", file=log)
print("options", sorted(options.items()), file=sys.stderr)
sys.exit(int(options["--error-exitcode"]) if count else done.returncode)
"""
# The fixture `say` writes lines into the tool's log, as compute-sanitizer would during a test.
SAY = """
import os, time, pytest
@pytest.fixture
def say(request):
    def write(*lines):
        with open(request.config.option.tool_log, "a") as log:
            log.write("".join(f"========= {line}\\n" for line in lines))
    return write
"""
PASSES = "def test_passes(): pass\ndef test_passes_too(): pass"
FINDS = """
def test_before(): pass
def test_finds(say):
    for thread in range(3):
        say("Invalid __global__ read of size 4 bytes", "    at pygpu_add+0x50", f"    by thread ({thread},0,0)", "")
def test_after(): pass
"""
DIES = "import os\ndef test_passes(): pass\ndef test_dies(): os._exit(7)"
FAILS = """
import pytest
def test_fails(): assert 1 == 2
@pytest.mark.starts_processes
def test_starts(): assert 0
"""
SETTINGS = """
import os, pytest
def test_settings(): assert (os.environ["PYGPU_FUSION"], os.environ["PYGPU_RECYCLE"]) == ("auto", "0")
def test_needs_torch(): pytest.importorskip("torch")
def test_imports_numba():
    with pytest.raises(ModuleNotFoundError):
        import numba
"""
# The tests write this file to a path for which failed driver calls are reported as findings. PyGPU expects the call
# cuFuncGetParamInfo to fail.
STRICT = """
def test_calls(say):
    for name in ("cuFuncGetParamInfo", "cuMemFree_v2"):
        say(f"Program hit CUDA_ERROR_INVALID_VALUE (error 1) on CUDA API call to {name}.", "")
"""
LONG = "import pytest\n@pytest.mark.parametrize('n', range(7))\ndef test_one(n): pass"
NO_CALL = """
def test_uses_no_device(request):
    with open(request.config.option.tool_log, "a") as log:
        log.write("no call\\n")
"""
INI = """
[pytest]
addopts = --import-mode=importlib -p no:zarr
markers =
    starts_processes: runs processes
    provokes_errors: makes calls fail
"""


def make(folder: Path, **texts: str) -> None:
    tool = folder / "compute-sanitizer"
    tool.write_text(TOOL)
    tool.chmod(0o755)
    (folder / "pytest.ini").write_text(INI)
    (folder / "conftest.py").write_text(SAY)
    for name, text in texts.items():
        path = folder / "tests" / f"test_{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def run(folder: Path, *arguments: str) -> tuple[int, dict[str, Any], str]:
    """Run the sanitizer script in a folder; return the script's exit status, result file and output."""
    command = [sys.executable, str(SCRIPT), "--sanitizer", str(folder / "compute-sanitizer"), "--processes", "2"]
    command += ["--json", "result.json", *arguments]
    environment = {**os.environ, "PYGPU_BACKEND": "cpu"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    path = folder / "result.json"
    result: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return done.returncode, result, done.stdout + done.stderr


def test_sanitizer_result_lists_findings_failures_and_unfinished_files(tmp_path: Path) -> None:
    make(tmp_path, finds=FINDS, fails=FAILS, settings=SETTINGS, dies=DIES)
    (tmp_path / "tests/gpu").mkdir()
    (tmp_path / "tests/gpu/test_streams.py").write_text(STRICT)
    status, result, output = run(
        tmp_path, "tests", "--option=--padding=64", "--option=--show-backtrace=host", "--", "-k", "not after"
    )
    assert status == 1, output
    finding, call = result["findings"]
    assert (call["kind"], call["kernel"], call["count"]) == ("api error", "cuMemFree_v2", 1)
    assert (finding["kind"], finding["kernel"], finding["count"]) == ("access", "pygpu_add", 3)
    assert finding["files"] == ["tests/test_finds.py"]
    assert finding["tests"] == ["tests.test_finds::test_finds"]
    assert finding["lines"] == ["Invalid __global__ read of size 4 bytes", "at pygpu_add+0x50", "by thread (0,0,0)"]
    assert "FOUND 3 times: Invalid __global__ read" in output
    assert (result["errors"], result["unprinted"]) == (4, 0)
    assert result["total"] == {"passed": 6, "failed": 1, "skipped": 1}
    assert [failure["test"] for failure in result["failures"]] == ["tests.test_fails::test_fails"]
    assert result["files_finished"] == 4
    dies = {"file": "tests/test_dies.py", "piece": "tests/test_dies.py", "why": "exit status 7", "tests": 1}
    assert result["unfinished"] == [dies]
    options = next((tmp_path / "result-logs").glob("*test_settings.log")).read_text()
    for pair in (
        "('--leak-check', 'full')",
        "('--report-api-errors', 'no')",
        "('--padding', '64')",
        "('--show-backtrace', 'host')",
    ):
        assert pair in options
    assert "'explicit'" in next((tmp_path / "result-logs").glob("*test_streams.log")).read_text()

    # The second run divides the test file, because the earlier result lists a long run time for it.
    (tmp_path / "tests/test_dies.py").write_text(LONG)
    columns = ["passed", "failed", "skipped", "seconds"]
    earlier = {"columns": columns, "files": {"tests": {"test_dies.py": [7, 0, 0, 45]}}}
    (tmp_path / "earlier.json").write_text(json.dumps(earlier))
    again = ("--unfinished-of", "result.json", "--seconds-of", "earlier.json", "--part", "15", "--tool", "racecheck")
    status, result, output = run(tmp_path, *again)
    assert (status, result["files_finished"], result["total"]) == (0, 1, {"passed": 7}), output
    assert all(f"tests/test_dies.py ({number} of 3)" in output for number in (1, 2, 3))


def test_sanitizer_run_without_cuda_calls_is_unfinished(tmp_path: Path) -> None:
    make(tmp_path, nothing=NO_CALL)
    status, result, output = run(tmp_path, "tests", "--tool", "synccheck")
    assert status == 2, output
    assert result["without_call_of_cuda"] == ["tests/test_nothing.py"]
    assert result["unfinished"][0]["file"] == "all"


def test_error_for_missing_sanitizer_names_option_for_sanitizer_path(tmp_path: Path) -> None:
    make(tmp_path, passes=PASSES)
    (tmp_path / "compute-sanitizer").unlink()
    status, result, output = run(tmp_path, "tests")
    assert (status, result) == (1, {})
    assert "--sanitizer PATH" in output


def test_file_lists_of_sanitizer_tools_contain_only_existing_files() -> None:
    lists = runpy.run_path(str(SCRIPT.parent / "sanitizer/tests_per_tool.py"))
    named = [path for tool in lists["TOOLS"].values() for path in tool.paths]
    named += [*lists["LEFT_OUT"], *lists["TAKEN_ANYWAY"], *lists["NO_FAILED_CALL"]]
    assert [path for path in named if not (ROOT / path).exists()] == []
    files = ["tests/gpu/interop/test_torch.py", "tests/gpu/interop/test_ctypes_nvcc.py", "tests/gpu/test_memory.py"]
    assert lists["of_suite"](files) == files[1:]
