"""Run programs in several MPI processes, started by the launcher that belongs to mpi4py's MPI library.

The launcher of another MPI library starts processes that do not communicate, or fails with misleading messages.
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Vendors of MPI libraries and launchers, each with a text that only the vendor's version output contains.
# Several MPI libraries use the launcher Hydra.
KINDS = {
    "Open MPI": "Open MPI",
    "OpenRTE": "Open MPI",
    "PRRTE": "Open MPI",
    "MVAPICH": "MPICH",
    "MPICH": "MPICH",
    "HYDRA": "MPICH",
    "Intel(R) MPI": "MPICH",
}
NAMES = ("mpiexec", "mpirun", "mpiexec.hydra", "mpiexec.openmpi", "mpiexec.mpich")
LIBRARY = "import mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; print(MPI.Get_library_version())"


def kind_of(text: str) -> str:
    """Return the vendor of an MPI library or launcher, given its version output."""
    return next((kind for word, kind in KINDS.items() if word in text), "unknown")


def output(*command: str) -> str:
    """Return the output of a short program, or the last lines of its error output if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stdout + done.stderr


@functools.cache
def library() -> str:
    """Return the vendor of mpi4py's MPI library.

    A separate process queries the library, because this process must not initialize MPI.
    """
    said = output(sys.executable, "-c", LIBRARY)
    kind = kind_of(said)
    # If the program failed, its traceback may contain the name of a vendor, for example in a path.
    return kind if "Traceback" not in said else f"unknown: {(said.strip().splitlines() or ['no answer'])[-1]}"


def launcher(folders: str | None = None) -> str:
    """Return the path of the first launcher in the given folders that belongs to mpi4py's MPI library.

    The default folders are the folder of the interpreter and the folders in PATH.
    """
    if folders is None:
        folders = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    expected, others = library(), []
    if expected.startswith("unknown"):
        pytest.skip(f"mpi4py's MPI is {expected}")
    for folder in dict.fromkeys(folders.split(os.pathsep)):
        for path in (Path(folder, name) for name in NAMES):
            if not os.access(path, os.X_OK):
                continue
            if (kind := kind_of(output(str(path), "--version"))) == expected:
                return str(path)
            others.append(f"{path} ({kind})")
    there = f"; there are {', '.join(others)}" if others else ""
    pytest.skip(f"needs mpiexec of {expected}, which mpi4py uses{there}")


def run(processes: int, *program: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the given arguments in the given number of MPI processes."""
    # Allow more processes than cores, and allow the user root. Open MPI rejects both by default.
    variables = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    variables |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
    command = [launcher(), "-n", str(processes), sys.executable, *program]
    environment = os.environ | variables | settings
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
