"""Versions of PyGPU and the backend under PybindGPU's names."""

from __future__ import annotations

from PyGPU import _core

__all__ = ["cuda_enabled", "major_version", "minor_version", "release_version"]

# A pre-release has a version such as 1.2.3-rc.1, in which the third number ends at the hyphen.
major_version, minor_version, release_version = (int(part) for part in _core.__version__.split("-")[0].split("."))

cuda_enabled = True
"""Whether the `cuda*` names exist: True on every backend."""


def uses_hip() -> bool:
    """Return whether the backend is HIP; the call opens the backend."""
    return _core.backend_name() == "hip"
