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
    """Files to try before the toolkit's folder and the system's loader, the likeliest first.

    Returns
    -------
    list of str
        Full paths. cuda-pathfinder is asked only if no wheel and no conda environment has one: importing it costs more
        than a kernel that is in the cache.

    Examples
    --------
    >>> from PyGPU import _nvrtc_files
    >>> isinstance(_nvrtc_files.candidates(), list)
    True
    """
    return list(dict.fromkeys(_files())) or _by_pathfinder()


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


def _by_pathfinder() -> list[str]:
    try:
        from cuda.pathfinder import load_nvidia_dynamic_lib  # type: ignore[import-not-found]
    except ImportError:
        return []
    try:
        path = load_nvidia_dynamic_lib("nvrtc").abs_path
    except Exception:  # its errors have several bases; the search goes on, and says what it searched
        return []
    return [str(path)] if path else []
