"""Test that only `src/base/settings.rs` reads environment variables, each variable once and with the GIL held.

A former defect: a thread that changed the environment could crash another thread that read the environment.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rust_source import RustSource

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "PyGPU"
# Functions of Rust and C that read or write environment variables.
# Some functions of the standard library and of the crate tempfile read a variable internally.
READS = r"""env\s*::\s*(?:var|vars|vars_os|var_os|temp_dir|home_dir|set_var|remove_var)\b|\bgetenv\b|\bsetenv\b
    |\btempfile\s*::\s*(?:tempdir|tempfile|spooled_tempfile)\s*\(|\.\s*temp(?:dir|file)\s*\(\s*\)|NamedTempFile\s*::\s*new\s*\(
    |\bthread\s*::\s*spawn\b"""
STARTS = r"\bCommand\s*::\s*new\s*\("


def sources() -> list[RustSource]:
    return [RustSource(str(path.relative_to(ROOT)), path.read_text()) for path in sorted((ROOT / "src").rglob("*.rs"))]


def violations(files: list[RustSource]) -> list[str]:
    tests = {module for file in files for module in file.declared_in(file.spans_of_tests)}
    found = []
    for file in files:
        if file.file == "src/base/settings.rs" or any(
            file.module[:length] in tests for length in range(len(file.module) + 1)
        ):
            continue
        lines = file.code.splitlines()
        pattern = re.sub(r"\s*\n\s*", "", READS)
        found += [f"{file.file}:{line}" for line in file.lines_naming(pattern, outside=file.spans_of_tests)]
        for line in file.lines_naming(STARTS, outside=file.spans_of_tests):
            # A child process started without `env_clear` inherits the environment, so the start reads all variables.
            if "env_clear" not in " ".join(lines[line - 1 : line + 1]):
                found.append(f"{file.file}:{line}: a child that inherits the environment")
        for line in file.lines_naming(r"\bthread\s*::\s*Builder\b", outside=file.spans_of_tests):
            # A thread started without a stack size reads the variable RUST_MIN_STACK.
            if "stack_size" not in " ".join(lines[line - 1 : line + 2]):
                found.append(f"{file.file}:{line}: a thread whose stack the environment sizes")
    return found


@pytest.mark.enough_on("cpu")
def test_only_settings_rs_reads_environment_variables() -> None:
    assert violations(sources()) == []


@pytest.mark.enough_on("cpu")
@pytest.mark.parametrize(
    "text",
    [
        'fn f() { std::env::var("A"); }',
        'fn f() { env::var_os("A"); }',
        "fn f() { std::env::temp_dir(); }",
        "fn f() { tempfile::tempdir(); }",
        "fn f() { Builder::new().prefix(p).tempfile(); }",
        'fn f() { Command::new("cc").output(); }',
        "fn f() { std::thread::spawn(work); }",
        "fn f() { thread::Builder::new().spawn(work); }",
        "fn f() { unsafe { libc::getenv(name) } }",
    ],
)
def test_source_line_that_reads_environment_is_detected(text: str) -> None:
    assert len(violations([RustSource("src/kernel/planted.rs", text)])) == 1


@pytest.mark.enough_on("cpu")
def test_headers_of_cpu_kernels_never_read_environment() -> None:
    folders = PACKAGE / "include", ROOT / "src" / "cpu_engine" / "include"
    headers = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    assert headers
    assert [path.name for path in headers if "getenv" in path.read_text()] == []


@pytest.mark.enough_on("cpu")
def test_python_package_never_writes_environment() -> None:
    writes = re.compile(
        r"environ\s*\[[^\]]*\]\s*=[^=]|environ\.(?:pop|setdefault|update|clear)|\b(?:un)?(?:put|set)env\("
    )
    assert [path.name for path in PACKAGE.rglob("*.py") if writes.search(path.read_text())] == []


@pytest.mark.enough_on("cpu")
def test_every_environment_variable_is_documented_and_read() -> None:
    rust = set(re.findall(r'Self\("(\w+)"\)', (ROOT / "src" / "base" / "settings.rs").read_text()))
    python = set()
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text()
        python |= set(re.findall(r'environ(?:\.get\(|\[)\s*"(\w+)"', text))
        for names in re.findall(r"environ\.get\(name\) for name in \(([^)]*)\)", text):
            python |= set(re.findall(r'"(\w+)"', names))
        assert len(re.findall(r"os\.environ\b", text)) == len(re.findall(r'environ\.get\((?:"\w+"|name\b)', text)), path
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \|", (ROOT / "docs" / "environment.md").read_text(), re.MULTILINE)
    assert [name for name, _ in rows] == sorted({name for name, _ in rows}, key=[name for name, _ in rows].index)
    assert {name for name, when in rows if "first use" in when} == rust
    assert {name for name, when in rows if "each call" in when} == python


def run(script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", script]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **environment}, timeout=110
    )


def test_environment_variables_changed_after_first_use_have_no_effect(tmp_path: Path) -> None:
    script = f"""
import os, PyGPU
os.environ['PYGPU_CACHE_DIR'] = {str(tmp_path)!r}
PyGPU.empty(3, 'f4')
os.environ['PYGPU_CACHE_DIR'] = '/elsewhere'
os.environ['PYGPU_BACKEND'] = 'nonsense'
PyGPU.empty(3, 'f4')
print(PyGPU.config()['kernel_cache'])
"""
    done = run(script)
    assert done.stdout.strip() == str(tmp_path / "kernels"), done.stderr


def test_thread_may_change_environment_during_launches_and_compilations(tmp_path: Path) -> None:
    script = """
import os, threading
import numpy as np
import PyGPU
from PyGPU.compiler import SourceModule

source = 'extern "C" __global__ void put(int *x) { *x = %d; }'
array = PyGPU.zeros(1, 'i4')
put = PyGPU.Kernel(source % 1, 'put')
put[1, 1](array)
ended = threading.Event()

def change():
    turn = 0
    while not ended.is_set():
        for name in range(300):
            os.environ[f'PYGPU_TEST_{name}'] = 'x' * (turn % 200)
        for name in range(300):
            del os.environ[f'PYGPU_TEST_{name}']
        turn += 1

def launch():
    mine = PyGPU.zeros(1, 'i4')
    for _ in range(5000):
        put[1, 1](mine)

def compile(thread):
    for number in range(2):
        folder = os.path.join(os.environ['PYGPU_CACHE_DIR'], str(thread))
        SourceModule(source % (100 * thread + number + 2), no_extern_c=True, cache_dir=folder)
        assert os.environ['PYGPU_CACHE_DIR'] != folder

threads = [threading.Thread(target=launch) for _ in range(2)]
threads += [threading.Thread(target=compile, args=(thread,)) for thread in range(2)]
changing = threading.Thread(target=change)
changing.start()
for thread in threads: thread.start()
for thread in threads: thread.join()
ended.set()
changing.join()
print('done', sorted({*os.listdir(os.environ['PYGPU_CACHE_DIR'])} - {'headers'}))
"""
    done = run(script, PYGPU_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout.strip()) == (0, "done ['0', '1', 'kernels']"), done.stderr
