"""Where PyGPU's compilers look beside what a caller says: PyCUDA's variables."""

from __future__ import annotations

import os
import shlex


def default_flags() -> list[str]:
    """Read the options that every source is compiled with."""
    return shlex.split(os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", ""))


def cache_of(cache_dir: str | os.PathLike[str] | bool | None) -> str | os.PathLike[str] | bool:
    """Give where images are kept: a folder, or whether the usual one is used. An argument wins over a variable."""
    if cache_dir is None:
        if os.environ.get("PYCUDA_DISABLE_CACHE"):
            return False
        return os.environ.get("PYCUDA_CACHE_DIR") or True
    return cache_dir
