"""The versions of PyGPU and of the backend, under PybindGPU's names."""

from __future__ import annotations

from PyGPU import _core

__all__ = ["cuda_enabled", "major_version", "minor_version", "release_version"]

# The version of a pre-release has a suffix after a hyphen, as in 1.2.3-rc.1.
major_version, minor_version, release_version = (int(part) for part in _core.__version__.split("-")[0].split("."))

cuda_enabled = True
"""Whether the `cuda*` names exist: True on every backend."""


def uses_hip() -> bool:
    """Return whether the backend is HIP; the call chooses the backend if no backend is in use yet."""
    return _core.backend_name() == "hip"
