"""Test the cases of parametrized tests: a sample has each value of each parameter; the names of all tests are the same
in each process."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import case_sampling

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]


def test_sample_has_each_value_of_each_parameter() -> None:
    cases = [{"dtype": dtype, "shape": shape, "way": way} for dtype, shape, way in product("abc", range(5), (0, 1))]
    chosen = [cases[position] for position in sorted(case_sampling.sample(cases))]
    for name in ("dtype", "shape", "way"):
        assert {case[name] for case in chosen} == {case[name] for case in cases}
    assert len(chosen) == 5


def test_sample_of_test_with_one_parameter_has_all_cases() -> None:
    assert case_sampling.sample([{"dtype": dtype} for dtype in "abc"]) == {0, 1, 2}
    assert case_sampling.sample([]) == set()


PROGRAM = """
import case_sampling, pytest

@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("second", "ab")
def test_shared(first, second): pass

@pytest.mark.sampled(on="cuda", elsewhere=0)
def test_on_one(): pass

def test_other(): pass
"""
PROGRAM_OF_VALUES = """
import pytest

@pytest.mark.parametrize("first", [1, 2, 3, 4])
@pytest.mark.parametrize("second", "ab")
def test_values(first, second): pass

@pytest.mark.parametrize("only", [1, 2, 3])
def test_few(only): pass
"""
CONFTEST = """
import case_sampling, pytest

def pytest_configure(config):
    for name in ("sampled", "matrix"):
        config.addinivalue_line("markers", f"{name}: as in tests/conftest.py")

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    case_sampling.mark(items, "BACKEND", is_simulated=SIMULATED)
"""


def run(program: str, place: Path, backend: str, is_simulated: bool, sample: list[str]) -> str:
    """Run a file of tests with the pytest options `sample`, and return pytest's output."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(program)
    root = place.parent.parent.parent
    text = CONFTEST.replace("BACKEND", backend).replace("SIMULATED", str(is_simulated))
    (root / "conftest.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", f"pythonpath={ROOT}/tests/helpers"]
    command += ["--rootdir", str(root), *sample, str(root)]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # Plugins take most of the time of a run.
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=root, env=environment).stdout


@pytest.mark.parametrize(
    ("backend", "sample", "count"),
    [("cuda", ["-m", "not matrix"], 5), ("hip", ["-m", "not matrix"], 2), ("hip", [], 8)],
)
def test_cases_outside_sample_get_marker_matrix_and_are_deselected(
    backend: str, sample: list[str], count: int, tmp_path: Path
) -> None:
    output = run(PROGRAM, tmp_path / "tests" / "memory" / "test_it.py", backend, True, sample)
    assert f"{count} passed" in output, output


@pytest.mark.parametrize(
    ("folder", "backend", "is_simulated", "count"),
    [
        ("functions", "cuda", True, 4 + 3),
        ("sorting", "hip", True, 2 + 2),
        ("functions", "hip", True, 2),
        ("functions", "cuda", False, 8 + 3),
        ("functions", "cpu", False, 4 + 3),
        ("numpy_comparison", "cpu", False, 8 + 3),
        ("memory", "hip", True, 8 + 3),
    ],
)
def test_value_tests_without_marker_are_sampled_except_on_gpus(
    folder: str, backend: str, is_simulated: bool, count: int, tmp_path: Path
) -> None:
    place = tmp_path / "tests" / folder / "test_it.py"
    output = run(PROGRAM_OF_VALUES, place, backend, is_simulated, ["-m", "not matrix"])
    assert f"{count} passed" in output, output


# Collect no garbage, because garbage collection takes a fifth of the collection time. Exit without the work that pytest
# does after the collection.
COLLECTOR = """
import gc, os, sys, pytest
class Printer:
    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session, items):
        print(*(item.nodeid for item in items), sep="\\n", flush=True)
        os._exit(min(session.testsfailed, 1))
gc.disable()
sys.exit(pytest.main(sys.argv[1:], plugins=[Printer()]))
"""


def collect(seed: str, folders: list[str]) -> list[str]:
    """Return the names of all tests in `folders`, as a new process with a hash seed collects them."""
    command = [sys.executable, "-c", COLLECTOR, "--collect-only", "-qq", "-p", "no:cacheprovider", *folders]
    command += ["-W", "default::pytest.PytestConfigWarning"]  # The option `timeout` is unknown without pytest-timeout.
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    return [line for line in done.stdout.splitlines() if "::" in line]


def folder_of(name: str) -> str:
    """Return the folder of a test, directly below tests."""
    return "/".join(name.split("/")[:2])


def test_names_and_order_of_all_tests_are_independent_of_hash_seed(request: pytest.FixtureRequest) -> None:
    """Collect all tests with different hash seeds: the same tests must be found in the same order.

    The names would differ if a parameter contained a set or the address of an object. Tests could then not be
    distributed over processes, because the processes would collect different names.

    This process is the one with the second seed for the folders that it has collected as a whole. Another process
    collects the other folders with the second seed.
    """
    own_seed = os.environ.get("PYTHONHASHSEED", "random")
    first = collect("1" if own_seed != "1" else "2", ["tests"])
    assert len(first) > 10_000
    folders = {name.partition("::")[0]: folder_of(name) for name in first}
    here = [name for name in request.config.stash[case_sampling.COLLECTED] if name.startswith("tests/")]
    files = {name.partition("::")[0] for name in here}
    incomplete = {folder for file, folder in folders.items() if file not in files}
    if any("::" in argument for argument in request.config.args):
        incomplete = set(folders.values())
    second = [name for name in here if folder_of(name) not in incomplete]
    if incomplete:
        second += collect("3", sorted(incomplete))
    first.sort(key=folder_of)
    second.sort(key=folder_of)
    assert [names for names in zip(first, second, strict=False) if names[0] != names[1]][:5] == []
    assert len(first) == len(second)
