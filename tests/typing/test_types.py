"""Test that type checkers accept the valid programs in tests/typing, and find each error of `type_errors.py`.

The checkers read the stubs that are generated from the declarations. A line of `type_errors.py` that ends in ``# error:
code`` must have an error with mypy's code `code`, and no other line may have an error.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
RIGHT = sorted(path for path in FOLDER.glob("*.py") if path.stem not in ("test_types", "type_errors"))
WRONG = FOLDER / "type_errors.py"
ERROR = re.compile(r"^(?P<file>.*?):(?P<line>\d+): error: .*\[(?P<code>[a-z-]+)\]$", re.MULTILINE)

Errors = dict[tuple[str, int], set[str]]


def marked(path: Path) -> dict[int, str]:
    """Return the numbers of the lines of a program that must have an error, each with the error code of mypy."""
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return {number: found[1] for number, line in lines if (found := re.search(r"# error: ([a-z-]+)$", line))}


def errors_of_mypy(text: str) -> Errors:
    """Return the codes of mypy's errors, by file and line."""
    found: Errors = {}
    for error in ERROR.finditer(text):
        found.setdefault((Path(error["file"]).name, int(error["line"])), set()).add(error["code"])
    return found


@pytest.fixture(scope="module")
def mypy() -> Errors:
    """Return the errors that mypy finds in all programs, each file checked strictly."""
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml", *map(str, [*RIGHT, WRONG])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return errors_of_mypy(done.stdout)


@pytest.fixture(scope="module")
def pyright() -> Errors:
    """Return the errors that pyright finds in all programs."""
    command = shutil.which("pyright")
    if command is None:
        pytest.skip("pyright is not installed")
    arguments = ["--outputjson", "--pythonpath", sys.executable, *map(str, [*RIGHT, WRONG])]
    done = subprocess.run([command, *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    found: Errors = {}
    for one in json.loads(done.stdout)["generalDiagnostics"]:
        place = Path(one["file"]).name, one["range"]["start"]["line"] + 1
        if one["severity"] == "error":
            found.setdefault(place, set()).add(one.get("rule", ""))
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_type_checker_finds_no_error_in_valid_programs(checker: str, request: pytest.FixtureRequest) -> None:
    errors: Errors = request.getfixturevalue(checker)
    assert {place: codes for place, codes in errors.items() if place[0] != WRONG.name} == {}


@pytest.mark.timeout(600)
def test_mypy_finds_each_error_of_wrong_program_with_its_code(mypy: Errors) -> None:
    found = {line: codes for (name, line), codes in mypy.items() if name == WRONG.name}
    expected = marked(WRONG)
    assert len(expected) > 30
    assert sorted(found) == sorted(expected)
    assert [f"{line}: {code}" for line, code in expected.items() if code not in found[line]] == []


@pytest.mark.timeout(600)
def test_pyright_finds_each_error_of_wrong_program(pyright: Errors) -> None:
    assert sorted(line for name, line in pyright if name == WRONG.name) == sorted(marked(WRONG))


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_valid_typed_program_runs(path: Path) -> None:
    spec = importlib.util.spec_from_file_location(f"typed_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main()


def test_valid_typed_programs_use_at_least_60_functions() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in RIGHT)
    used = Counter(re.findall(r"\bPyGPU\.([a-z]\w*)\(", text))
    assert len([name for name in used if callable(getattr(PyGPU, name))]) >= 60


def test_error_is_parsed_from_mypy_output() -> None:
    text = 'a/b.py:3: error: Unsupported operand types for + ("GPUArray" and "str")  [operator]\nnote: x'
    assert errors_of_mypy(text) == {("b.py", 3): {"operator"}}
