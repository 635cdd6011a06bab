"""Where NVRTC may lie: in wheels, in a conda environment, or where cuda-pathfinder finds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Of the wheels of CUDA 13 (nvidia-cuda-nvrtc) and of CUDA 12 (nvidia-cuda-nvrtc-cu12).
_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu13/bin/x86_64", "nvidia/cuda_nvrtc/bin")
_CONDA = ("lib", "Library/bin", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")


def candidates() -> list[str]:
    """List files to try before the toolkit's folder and the system's loader, the likeliest first.

    Returns
    -------
    list of str
        Full paths; the environment variable ``PYGPU_NVRTC`` names the only one.

    Examples
    --------
    >>> from PyGPU._native import library_files
    >>> isinstance(library_files.candidates(), list)
    True
    """
    named = os.environ.get("PYGPU_NVRTC")
    return [named] if named else list(dict.fromkeys(_files()))


def by_pathfinder() -> list[str]:
    """Ask cuda-pathfinder, when all else has failed: it costs more than a kernel from the cache.

    Returns
    -------
    list of str
        At most one path.

    Examples
    --------
    >>> from PyGPU._native import library_files
    >>> isinstance(library_files.by_pathfinder(), list)
    True
    """
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib  # type: ignore[import-not-found]
    except ImportError:
        return []
    try:
        path = load_nvidia_dynamic_lib("nvrtc").abs_path
    except Exception:  # its errors have several bases; the search goes on, and says what it searched
        return []
    return [str(path)] if path else []


def _files() -> Iterator[str]:
    for root in sys.path:
        for folder in _WHEELS if root else ():
            yield from _in(Path(root, folder))
    conda = os.environ.get("CONDA_PREFIX")
    for prefix in (conda, sys.prefix if Path(sys.prefix, "conda-meta").is_dir() else None):
        if prefix:
            for folder in _CONDA:
                yield from _in(Path(prefix, folder))


def _in(folder: Path) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [str(folder / name) for name in sorted(names, reverse=True) if _is_nvrtc(name)]


def _is_nvrtc(name: str) -> bool:
    # libnvrtc.so.13, nvrtc64_130_0.dll; not libnvrtc-builtins, nor the .alt copies, which have other defaults.
    plain = "builtins" not in name and ".alt" not in name
    return plain and (name.startswith("libnvrtc.so.") or (name.startswith("nvrtc64_") and name.endswith(".dll")))
