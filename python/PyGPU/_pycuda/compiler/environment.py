"""Defaults of PyGPU's compilers, from PyCUDA's environment variables."""

from __future__ import annotations

import os
import shlex


def default_flags() -> list[str]:
    """Read the options that apply to every source."""
    return shlex.split(os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", ""))


def cache_setting(cache_dir: str | os.PathLike[str] | bool | None) -> str | os.PathLike[str] | bool:
    """Return the image cache: a folder, or whether the default is used. An argument overrides a variable."""
    if cache_dir is None:
        if os.environ.get("PYCUDA_DISABLE_CACHE"):
            return False
        return os.environ.get("PYCUDA_CACHE_DIR") or True
    return cache_dir
