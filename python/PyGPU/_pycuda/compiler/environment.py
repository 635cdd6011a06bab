"""Default options of the compiler, read from PyCUDA's environment variables."""

from __future__ import annotations

import os
import shlex


def default_flags() -> list[str]:
    """Return the compiler options that PyCUDA's environment variable sets for every source."""
    return shlex.split(os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", ""))


def cache_setting(cache_dir: str | os.PathLike[str] | bool | None) -> str | os.PathLike[str] | bool:
    """Return the cache folder, or whether the default cache is used: from the argument, or from the environment."""
    if cache_dir is None:
        if os.environ.get("PYCUDA_DISABLE_CACHE"):
            return False
        return os.environ.get("PYCUDA_CACHE_DIR") or True
    return cache_dir
