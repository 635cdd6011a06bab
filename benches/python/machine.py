"""Describe the machine on which a benchmark runs, and the installed library versions, for every result file."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PACKAGES = [
    "PyGPU", "numpy", "torch", "cupy-cuda12x", "cupy-cuda13x", "numba", "numba-cuda", "cuda-core", "cuda-bindings",
    "jax", "jaxlib", "mpi4py", "ml_dtypes", "pytest", "hypothesis",
]  # fmt: skip
# Maximum width of a line in a result file. Short lines keep the diffs of result files readable.
LINE = 120


def _output(*command: str) -> str:
    """Return the output of a program, or an empty text if the program is missing."""
    path = shutil.which(command[0])
    if path is None:
        return ""
    try:
        result = subprocess.run([path, *command[1:]], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def versions() -> dict[str, str]:
    """Return the versions of Python, PyGPU, NumPy and the other installed libraries."""
    versions_by_name = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            versions_by_name[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions_by_name


def pygpu() -> dict[str, Any]:
    """Return a description of PyGPU's device, or the error of the query for the device."""
    import PyGPU

    try:
        properties = PyGPU.device_properties(0)
        return {
            "version": PyGPU.__version__,
            "backend": PyGPU.backend_name(),
            "driver_version": PyGPU.driver_version(),
            "devices": PyGPU.device_count(),
            "device": properties["name"],
            "memory": properties["total_memory"],
        }
    except Exception as error:  # An error while describing the device must not end a measurement.
        return {"version": PyGPU.__version__, "error": f"{type(error).__name__}: {error}"}


def describe() -> dict[str, Any]:
    """Return the description of the hardware and the versions, as a dictionary."""
    compiler = _output("nvcc", "--version").splitlines()
    cards = _output("nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader")
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "gpus": cards.splitlines(),
        "nvcc": next((line.strip() for line in compiler if "release" in line), ""),
        "commit": _output("git", "describe", "--always", "--dirty"),
        "versions": versions(),
        "PyGPU": pygpu(),
    }


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Write a result as JSON, with the description of the machine."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(to_text({**content, "machine": content.get("machine") or describe()}) + "\n")


def to_text(value: object, indent: int = 0) -> str:
    """Format a value as JSON, with six digits for a float, and with short values on one line."""
    if isinstance(value, float):
        return json.dumps(float(f"{value:.6g}"))
    if isinstance(value, dict):
        parts = [f"{json.dumps(str(key))}: {to_text(one, indent + 1)}" for key, one in value.items()]
        begin, end = "{}"
    elif isinstance(value, list | tuple):
        parts, begin, end = [to_text(one, indent + 1) for one in value], "[", "]"
    else:
        return json.dumps(value)
    line = f"{begin}{', '.join(parts)}{end}"
    if "\n" not in line and len(line) <= LINE - indent:
        return line
    margin = " " * indent
    return f"{begin}\n" + ",\n".join(f"{margin} {part}" for part in parts) + f"\n{margin}{end}"


def print_header() -> None:
    """Print the description of the machine on one line."""
    made = describe()
    named = ", ".join(f"{name} {version}" for name, version in made["versions"].items())
    print(f"{made['processor']}, {made['cores']} cores; {'; '.join(made['gpus']) or 'no NVIDIA GPU'}; {named}")


def print_table(rows: list[list[str]], header: list[str]) -> None:
    """Print a table whose first column is left-aligned and whose other columns are right-aligned."""
    table = [header, *rows]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    for row in table:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        print("  ".join(cells).rstrip())


if __name__ == "__main__":
    json.dump(describe(), sys.stdout, indent=1)
    print()
