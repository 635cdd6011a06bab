"""Find NVRTC, nvcc, headers and libraries of device code, and other libraries of NVIDIA.

cuda-pathfinder, if installed, searches wheels, conda environments and toolkits. This module searches all other
locations. It also searches for NVRTC before cuda-pathfinder does, because cuda-pathfinder may find an NVRTC that is too
new for the driver (docs/design/kernels.md).
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which

# Folders of NVRTC in the Python wheels nvidia-cuda-nvrtc (CUDA 13) and nvidia-cuda-nvrtc-cu12.
_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", "nvidia/cu13/bin/x86_64", "nvidia/cuda_nvrtc/bin")
# Folders of the libraries in the Python wheels nvidia-cuda-runtime (CUDA 13) and nvidia-cuda-runtime-cu12.
_RUNTIME_WHEELS = ("nvidia/cu13/lib", "nvidia/cuda_runtime/lib")
_CONDA = ("lib", "Library/bin", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
_TOOLKIT = Path("/usr/local/cuda")

HEADERS = Path(__file__).parent.parent / "include" / "user"
"""Folder of PyGPU's headers for kernels: ``pycuda-complex.hpp``, ``pycuda-helpers.hpp``."""

EMPTY_HEADERS = HEADERS.parent / "nvrtc_stubs"
"""Folder of host headers with the declarations that device code can use, for NVRTC without an installed toolkit."""


def candidates() -> list[str]:
    """List the files of NVRTC in wheels and conda environments; they are tried before other files of NVRTC.

    Returns
    -------
    list of str
        Full paths. The paths are not used if the environment variable ``PYGPU_NVRTC`` names a file.

    Examples
    --------
    >>> from PyGPU._paths import library_files
    >>> isinstance(library_files.candidates(), list)
    True
    """
    return list(dict.fromkeys(_nvrtc_files()))


def by_pathfinder() -> list[str]:
    """Return the file of NVRTC that cuda-pathfinder finds. This file is tried last, because the search is slow.

    Returns
    -------
    list of str
        A list of at most one path.

    Examples
    --------
    >>> from PyGPU._paths import library_files
    >>> isinstance(library_files.by_pathfinder(), list)
    True
    """
    path = getattr(_pathfinder("load_nvidia_dynamic_lib", "nvrtc"), "abs_path", None)
    return [str(path)] if path else []


def _named_curand() -> str | None:
    return os.environ.get("PYGPU_CURAND")


def _named_cublas() -> str | None:
    return os.environ.get("PYGPU_CUBLAS")


def _named_cufft() -> str | None:
    return os.environ.get("PYGPU_CUFFT")


def _named_cusolver() -> str | None:
    return os.environ.get("PYGPU_CUSOLVER")


_MATHEMATICS = {
    "cublas": (_named_cublas, "libcublas.so.", ("nvidia/cu13/lib", "nvidia/cublas/lib")),
    "cufft": (_named_cufft, "libcufft.so.", ("nvidia/cu13/lib", "nvidia/cufft/lib")),
    "cusolver": (_named_cusolver, "libcusolver.so.", ("nvidia/cu13/lib", "nvidia/cusolver/lib")),
    # No environment variable selects the file of NVTX: users pass its path to `PyGPU.profile.annotate` instead.
    "nvtx": (lambda: None, "libnv", ("nvidia/nvtx/lib", "nvidia/cu13/lib")),
    "curand": (_named_curand, "libcurand.so.", ("nvidia/cu13/lib", "nvidia/curand/lib")),
}
"""Vendor libraries: function that returns the user's override, prefix of the file names, and folders of the wheels."""


def mathematics(name: str) -> tuple[str | None, list[str]]:
    """Return the files of a library of NVIDIA, such as cuBLAS or cuFFT.

    Parameters
    ----------
    name : str
        NVIDIA's name of the library, such as ``'curand'``.

    Returns
    -------
    tuple of a str or None and a list of str
        First, the file that an environment variable such as ``PYGPU_CURAND`` names, or None; if a file is named, no
        other file is tried. Second, the files to try before the system's loader.

    Examples
    --------
    >>> from PyGPU._paths import library_files
    >>> named, files = library_files.mathematics("curand")
    >>> isinstance(files, list)
    True
    """
    override, file_prefix, wheels = _MATHEMATICS[name]
    if path_override := override():
        return path_override, []
    folders = [Path(root, folder) for root in sys.path if root for folder in wheels]
    folders += [Path(prefix, folder) for prefix in _conda_prefixes() for folder in _CONDA]
    paths = [path for folder in folders for path in _listed(folder, lambda file: file.startswith(file_prefix))]
    pathfinder_path = getattr(_pathfinder("load_nvidia_dynamic_lib", name), "abs_path", None) if not paths else None
    return None, list(dict.fromkeys(paths + ([str(pathfinder_path)] if pathfinder_path else [])))


def nvcc() -> str | None:
    """Find nvcc on ``PATH``, by cuda-pathfinder, or in a toolkit's folder."""
    return which("nvcc") or _pathfinder_path("find_nvidia_binary_utility", "nvcc") or _in_toolkits("bin/nvcc")


def device_library(name: str) -> Path | None:
    """Find a library of device code, such as ``cudadevrt``."""
    static_library = _pathfinder_path("find_static_lib", name)
    if static_library is not None:
        return Path(static_library)
    folders = ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib")
    toolkit_library = _in_toolkits(*(f"{folder}/lib{name}.a" for folder in folders))
    if toolkit_library is not None:
        return Path(toolkit_library)
    wheels = (Path(root, folder, f"lib{name}.a") for root in sys.path if root for folder in _RUNTIME_WHEELS)
    return next((path for path in wheels if path.is_file()), None)


def _pathfinder(function: str, name: str) -> object:
    """Return the path that cuda-pathfinder finds, or None if cuda-pathfinder is not installed or finds no file."""
    try:
        return getattr(importlib.import_module("cuda.pathfinder"), function)(name)
    except Exception:  # cuda-pathfinder raises various exceptions, which all mean that no file was found
        return None


def _pathfinder_path(function: str, name: str) -> str | None:
    path = _pathfinder(function, name)
    return str(path) if path else None


def _in_toolkits(*names: str) -> str | None:
    """Find a file by its possible names in the toolkits of CUDA_HOME, CUDA_PATH, nvcc and the default path."""
    homes = [Path(home) for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH")) if home]
    program = which("nvcc")
    homes += [Path(program).resolve().parent.parent] if program else []
    paths = (home / name for home in [*homes, _TOOLKIT] for name in names)
    return next((str(path) for path in paths if path.is_file()), None)


def _nvrtc_files() -> Iterator[str]:
    for root in sys.path:
        for folder in _WHEELS if root else ():
            yield from _listed(Path(root, folder))
    for prefix in _conda_prefixes():
        for folder in _CONDA:
            yield from _listed(Path(prefix, folder))


def _conda_prefixes() -> list[str]:
    own_prefix = sys.prefix if Path(sys.prefix, "conda-meta").is_dir() else None
    return [prefix for prefix in (os.environ.get("CONDA_PREFIX"), own_prefix) if prefix]


def _listed(folder: Path, accepts: Callable[[str], bool] | None = None) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return [str(folder / name) for name in sorted(names, reverse=True) if (accepts or _is_nvrtc)(name)]


def _is_nvrtc(name: str) -> bool:
    # The names libnvrtc.so.13 and nvrtc64_130_0.dll are accepted; libnvrtc-builtins and names with .alt are rejected.
    is_regular = "builtins" not in name and ".alt" not in name
    return is_regular and (name.startswith("libnvrtc.so.") or (name.startswith("nvrtc64_") and name.endswith(".dll")))
