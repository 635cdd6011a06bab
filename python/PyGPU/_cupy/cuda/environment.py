"""Functions of `cupy.cuda` that report devices, versions and compilers of the machine."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import which

from PyGPU import _core
from PyGPU._cupy.cuda.runtime.devices_and_memory import driverGetVersion

__all__ = [
    "get_cuda_path",
    "get_hipcc_path",
    "get_local_runtime_version",
    "get_nvcc_path",
    "get_rocm_path",
    "is_available",
]


def is_available() -> bool:
    """Return whether a device exists. The CPU counts as a device, because PyGPU also computes on the CPU.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> cuda.is_available()
    True
    """
    try:
        return _core.device_count() > 0
    except _core.Error:
        return False


def get_local_runtime_version() -> int:
    """Return the version of the driver, because PyGPU uses no runtime library.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> cuda.get_local_runtime_version() == cuda.runtime.runtimeGetVersion()
    True
    """
    return driverGetVersion()


def _first_folder(named: list[str | None], program: str, default: str) -> str | None:
    """Return the first existing folder among `named`, the installation folder of `program`, and `default`."""
    path = which(program)
    folders = [*named, str(Path(path).resolve().parent.parent) if path else None, default]
    return next((folder for folder in folders if folder and Path(folder).is_dir()), None)


def get_cuda_path() -> str | None:
    """Return the folder of a CUDA toolkit.

    Returns
    -------
    str or None
        The first existing folder of ``CUDA_PATH``, ``CUDA_HOME``, nvcc's toolkit and the default path; None without a
        toolkit. PyGPU does not need a toolkit.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> path = cuda.get_cuda_path()
    """
    named = [os.environ.get(name) for name in ("CUDA_PATH", "CUDA_HOME")]
    return _first_folder(named, "nvcc", "/usr/local/cuda")


def get_rocm_path() -> str | None:
    """Return the folder of ROCm.

    Returns
    -------
    str or None
        The first existing folder of ``ROCM_HOME``, ``ROCM_PATH``, hipcc's installation and the default path; None
        without ROCm.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> path = cuda.get_rocm_path()
    """
    named = [os.environ.get(name) for name in ("ROCM_HOME", "ROCM_PATH")]
    return _first_folder(named, "hipcc", "/opt/rocm")


def get_nvcc_path() -> str | None:
    """Return the command that runs nvcc.

    Returns
    -------
    str or None
        Value of the environment variable ``NVCC``, or the path of nvcc; None if nvcc is not found. PyGPU does not need
        nvcc.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> path = cuda.get_nvcc_path()
    """
    return os.environ.get("NVCC") or _program(get_cuda_path(), "nvcc")


def get_hipcc_path() -> str | None:
    """Return the path of hipcc.

    Returns
    -------
    str or None
        The path; None if hipcc is not found. PyGPU does not need hipcc.

    Examples
    --------
    >>> from PyGPU.cupy import cuda
    >>> path = cuda.get_hipcc_path()
    """
    return _program(get_rocm_path(), "hipcc")


def _program(toolkit: str | None, name: str) -> str | None:
    path = Path(toolkit, "bin", name) if toolkit else None
    return str(path) if path is not None and path.is_file() else which(name)
