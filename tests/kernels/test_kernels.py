"""Test kernels without a device: the test cases run in a process with a fake driver and a fake NVRTC.

Both are built from C; without a C compiler the tests are skipped and the report gives this reason.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import PyGPU

pytestmark = pytest.mark.enough_on("cpu")

HERE = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def fakes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the fake driver and the fake NVRTC, and return their folder."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("no C compiler: the fake driver cannot be built")
    folder = tmp_path_factory.mktemp("fakes")
    for source, library in [("fake_cuda.c", "libcuda.so.1"), ("fake_nvrtc.c", "libnvrtc.so.12")]:
        path = HERE / "rust" / "backend" / source
        subprocess.run([compiler, "-shared", "-fPIC", "-o", str(folder / library), str(path)], check=True)
    return folder


def environment(fakes: Path, cache: Path) -> dict[str, str]:
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(fakes),
        "PYGPU_BACKEND": "cuda",
        "PYGPU_CACHE_DIR": str(cache),
        # Without this variable, PyGPU would find a real NVRTC of the machine before the fake NVRTC.
        "PYGPU_NVRTC": str(fakes / "libnvrtc.so.12"),
    }


def test_kernel_argument_tests_pass_on_fake_driver(fakes: Path, tmp_path: Path) -> None:
    cases = HERE / "helpers" / "kernels_on_a_fake_driver.py"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(cases)],
        env=environment(fakes, tmp_path),
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr


SCRIPT = """
import sys, PyGPU
for number in range(12):
    kernel = PyGPU.Kernel(f"//!k k 8\\n//{'x' * 1000}{number % 6}\\n__global__ void k(float *x);", "k")
    kernel[1, 1](64)
import ctypes
print(ctypes.CDLL("libnvrtc.so.12").fake_compiled())
"""


def compiled_by(fakes: Path, cache: Path, **variables: str) -> int:
    """Count the compilations of a process that compiles six sources, each source twice."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**environment(fakes, cache), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return int(result.stdout)


def test_kernel_cache_is_shared_by_processes(fakes: Path, tmp_path: Path) -> None:
    assert compiled_by(fakes, tmp_path) == 6
    assert compiled_by(fakes, tmp_path) == 0


def test_concurrent_processes_share_cache_safely(fakes: Path, tmp_path: Path) -> None:
    start = [sys.executable, "-c", SCRIPT]
    processes = [
        subprocess.Popen(start, env=environment(fakes, tmp_path), stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    results = [process.communicate(timeout=100) for process in processes]
    assert all(process.returncode == 0 for process in processes), results
    assert sorted(path.suffix for path in (tmp_path / "kernels").iterdir()) == [".pgk"] * 6


def test_kernels_in_damaged_cache_files_are_recompiled(fakes: Path, tmp_path: Path) -> None:
    compiled_by(fakes, tmp_path)
    for number, path in enumerate(sorted((tmp_path / "kernels").iterdir())):
        path.write_bytes(path.read_bytes()[:-1] if number % 2 else b"nonsense")
    assert compiled_by(fakes, tmp_path) == 6
    assert compiled_by(fakes, tmp_path) == 0


def test_kernel_cache_can_be_disabled_by_environment_variable(fakes: Path, tmp_path: Path) -> None:
    assert compiled_by(fakes, tmp_path, PYGPU_CACHE="0") == 6
    assert compiled_by(fakes, tmp_path, PYGPU_CACHE="0") == 6
    assert not list(tmp_path.iterdir())


def test_kernel_cache_size_is_bounded(fakes: Path, tmp_path: Path) -> None:
    compiled_by(fakes, tmp_path, PYGPU_CACHE_SIZE="400")
    files = list((tmp_path / "kernels").iterdir())
    assert sum(path.stat().st_size for path in files) <= 400
    assert 0 < len(files) < 6


@pytest.mark.parametrize("place", ["/proc/self/nothing", "/dev/null/folder", "/dev/full"])
def test_unwritable_cache_folder_causes_no_error(fakes: Path, place: str) -> None:
    assert compiled_by(fakes, Path(place)) == 6


def test_kernels_in_readonly_cache_folder_are_used(fakes: Path, tmp_path: Path) -> None:
    compiled_by(fakes, tmp_path)
    folder = tmp_path / "kernels"
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert compiled_by(fakes, tmp_path) == 0
    finally:
        folder.chmod(0o755)


def test_kernel_call_without_launch_shape_raises_type_error() -> None:
    try:
        kernel = PyGPU.Kernel("__global__ void k() {}", "k")
    except (PyGPU.NotSupportedError, PyGPU.BackendUnavailableError) as error:
        pytest.skip(str(error))
    with pytest.raises(TypeError, match=r"kernel\[grid, block\]"):
        kernel()
