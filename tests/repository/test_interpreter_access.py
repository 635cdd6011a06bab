"""Test that each Rust function that attaches to the Python interpreter first requires a `PythonAccess`.

A thread that is launching deferred operations cannot get a `PythonAccess`, because no Python code may run there.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
ATTACHES = re.compile(r"\bPython::(?:attach|try_attach|with_gil)\(|\bPyGILState_Ensure\(\)\s*\}")
FUNCTION = re.compile(r"^ *(?:pub(?:\([\w ]+\))? )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)", re.MULTILINE)
# Functions that need no check, because their callers require a `PythonAccess`. These functions are the constructor of
# the GIL guard and a helper of `release_object`.
BEHIND_A_CHECK = {("interpreter.rs", "new"), ("callback.rs", "release_with_gil")}


def unchecked(name: str, text: str) -> list[str]:
    """Return the functions of a file that attach to the interpreter without requiring a `PythonAccess`."""
    starts = [(found.start(), found[1]) for found in FUNCTION.finditer(text)]
    ends = [start for start, _ in starts[1:]] + [len(text)]
    found = []
    for (start, function), end in zip(starts, ends, strict=False):
        body = text[start:end]
        code = re.sub(r"//.*", "", body)
        attached = ATTACHES.search(code)
        if attached and (name, function) not in BEHIND_A_CHECK and "PythonAccess::" not in code[: attached.start()]:
            found.append(f"{name}: {function}")
    return found


def test_function_that_attaches_to_interpreter_requires_python_access() -> None:
    sources = {path: path.read_text() for path in (ROOT / "src").rglob("*.rs")}
    assert sum(bool(ATTACHES.search(text)) for text in sources.values()) >= 4
    assert [one for path, text in sources.items() for one in unchecked(path.name, text)] == []


def test_python_access_check_finds_function_without_python_access() -> None:
    good = "fn good() {\n    PythonAccess::expected()?;\n    Python::attach(|py| py)\n}\n"
    bad = "fn bad() {\n    Python::attach(|py| py)\n}\n"
    text = f"{good}\n{bad}"
    assert unchecked("a.rs", text) == ["a.rs: bad"]
