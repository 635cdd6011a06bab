"""Where PyGPU's compilers look beside what a caller says: PyCUDA's variables, header folders, nvcc."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from shutil import which

_INCLUDE = Path(__file__).parent.parent.parent / "include"

HEADERS = _INCLUDE / "user"
"""What user code includes: ``pycuda-complex.hpp``."""

EMPTY_HEADERS = _INCLUDE / "nvrtc_stubs"
"""Headers of the host without what only the host has: for NVRTC where no toolkit is installed."""


def default_flags() -> list[str]:
    """Read the options that every source is compiled with."""
    return shlex.split(os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", ""))


def nvcc_path() -> str | None:
    """Find the toolkit's compiler."""
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    folders = [str(Path(home) / "bin") for home in [*homes, "/usr/local/cuda"] if home]
    return which("nvcc") or which("nvcc", path=os.pathsep.join(folders))


def cuda_library(name: str) -> Path | None:
    """Find a library for device code, such as ``cudadevrt``, in a toolkit."""
    nvcc = nvcc_path()
    homes = [Path(home) for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")) if home]
    if nvcc is not None:
        homes.append(Path(nvcc).resolve().parent.parent)
    homes.append(Path("/usr/local/cuda"))
    for home in homes:
        for folder in ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
            path = home / folder / f"lib{name}.a"
            if path.exists():
                return path
    return None


def cache_of(cache_dir: str | os.PathLike[str] | bool | None) -> str | os.PathLike[str] | bool:
    """Give where images are kept: a folder, or whether the usual one is used. An argument wins over a variable."""
    if cache_dir is None:
        if os.environ.get("PYCUDA_DISABLE_CACHE"):
            return False
        return os.environ.get("PYCUDA_CACHE_DIR") or True
    return cache_dir
