"""Test the search for files of NVIDIA's toolkits, which uses cuda-pathfinder if it is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from PyGPU._paths import library_files


@pytest.fixture(autouse=True)
def no_toolkit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Simulate a machine without a toolkit and without cuda-pathfinder."""
    for name in ("CUDA_HOME", "CUDA_PATH", "PYGPU_NVRTC", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(library_files, "_TOOLKIT", tmp_path / "none")
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", None)


def pathfinder(monkeypatch: pytest.MonkeyPatch, **functions: object) -> None:
    """Simulate an installed cuda-pathfinder."""
    module = ModuleType("cuda.pathfinder")
    vars(module).update(functions)
    monkeypatch.setitem(sys.modules, "cuda", ModuleType("cuda"))
    monkeypatch.setitem(sys.modules, "cuda.pathfinder", module)


def made(path: Path) -> Path:
    """Create an empty file that takes the place of a program or library."""
    path.parent.mkdir(parents=True)
    path.touch(mode=0o755)
    return path


def test_library_search_without_toolkit_finds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if not Path(folder, "nvidia").is_dir()])
    assert (library_files.nvcc(), library_files.device_library("cudadevrt")) == (None, None)
    assert library_files.by_pathfinder() == []


def test_library_search_uses_cuda_pathfinder(monkeypatch: pytest.MonkeyPatch) -> None:
    pathfinder(
        monkeypatch,
        load_nvidia_dynamic_lib=lambda name: SimpleNamespace(abs_path=f"/x/lib{name}.so"),
        find_nvidia_binary_utility=lambda name: f"/x/bin/{name}",
        find_static_lib=lambda name: f"/x/lib{name}.a",
    )
    assert library_files.by_pathfinder() == ["/x/libnvrtc.so"]
    assert library_files.nvcc() == "/x/bin/nvcc"
    assert library_files.device_library("cudadevrt") == Path("/x/libcudadevrt.a")


def test_toolkit_is_found_if_cuda_pathfinder_finds_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(name: str) -> str:
        raise RuntimeError(f"{name} is nowhere")

    pathfinder(monkeypatch, find_nvidia_binary_utility=lambda name: None, find_static_lib=refuse)
    program = made(tmp_path / "toolkit/bin/nvcc")
    library = made(tmp_path / "toolkit/lib64/libcudadevrt.a")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "toolkit"))
    assert library_files.nvcc() == str(program)
    assert library_files.device_library("cudadevrt") == library


def test_library_search_uses_toolkit_if_cuda_pathfinder_lacks_function(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pathfinder(monkeypatch)
    library = made(tmp_path / "toolkit/targets/x86_64-linux/lib/libcudadevrt.a")
    monkeypatch.setattr(library_files, "_TOOLKIT", tmp_path / "toolkit")
    assert library_files.device_library("cudadevrt") == library


def test_compiler_on_path_precedes_cuda_pathfinder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pathfinder(monkeypatch, find_nvidia_binary_utility=lambda name: "/x/bin/nvcc")
    program = made(tmp_path / "mine/nvcc")
    monkeypatch.setenv("PATH", str(program.parent))
    assert library_files.nvcc() == str(program)
