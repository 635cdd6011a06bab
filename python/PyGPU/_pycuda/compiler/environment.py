"""Functions that read the compiler's default options from PyCUDA's environment variables."""

from __future__ import annotations

import os
import shlex


def default_flags() -> list[str]:
    """Return the compiler options for all sources, from the variable ``PYCUDA_DEFAULT_NVCC_FLAGS``."""
    return shlex.split(os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", ""))


def cache_setting(cache_dir: str | os.PathLike[str] | bool | None) -> str | os.PathLike[str] | bool:
    """Return the folder of the cache, True for the default folder, or False for no cache.

    The argument determines the setting; if the argument is None, PyCUDA's environment variables do.
    """
    if cache_dir is None:
        if os.environ.get("PYCUDA_DISABLE_CACHE"):
            return False
        return os.environ.get("PYCUDA_CACHE_DIR") or True
    return cache_dir
