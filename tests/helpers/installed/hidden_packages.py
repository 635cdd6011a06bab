"""Hide installed packages from other processes, which then run as if the packages were not installed."""

from __future__ import annotations

from pathlib import Path

PROGRAM = """
from importlib.machinery import PathFinder

find_installed = PathFinder.find_spec


def find_spec(name, path=None, target=None):
    return None if name.partition(".")[0] in {names} else find_installed(name, path, target)


PathFinder.find_spec = find_spec
"""


def hide(folder: Path, *names: str) -> Path:
    """Write a `sitecustomize` module that hides the packages, and return its folder for `PYTHONPATH`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sitecustomize.py").write_text(PROGRAM.format(names=names))
    return folder
