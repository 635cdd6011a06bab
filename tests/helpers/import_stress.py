"""Import PyGPU in many new processes.

In each process, threads run the garbage collector during the import, as in Dask's workers.

python tests/helpers/import_stress.py --imports 200

The test suite makes few such imports; use this command to make more imports on a machine with a GPU. Its exit status is
the number of failed imports. In the past, imports failed because the collector visited an uninitialized object of
PyGPU.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

SCRIPT = """
import gc, sys, threading
over = threading.Event()
def collect():
    while not over.is_set():
        gc.collect()
sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=collect) for _ in range(2)]
for thread in threads:
    thread.start()
try:
    import PyGPU
    array = PyGPU.zeros(3)
    views = [view for view in PyGPU.zeros((3, 2))]
    assert array.get().tolist() == [0, 0, 0]
finally:
    over.set()
    for thread in threads:
        thread.join()
"""


def imported(number: int) -> str | None:
    """Import PyGPU in a new process; return a description of the failure, or None."""
    command = [sys.executable, "-X", "faulthandler", "-c", SCRIPT]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=dict(os.environ), check=False)
    except subprocess.TimeoutExpired:
        return f"import {number} hangs"
    return None if done.returncode == 0 else f"import {number}: status {done.returncode}\n{done.stderr}"


def failed_imports(imports: int, at_once: int = 2) -> list[str]:
    """Import PyGPU in many processes, and return the failures."""
    with ThreadPoolExecutor(at_once) as threads:
        return [failure for failure in threads.map(imported, range(imports)) if failure]


def main() -> int:
    """Run the number of imports that the command line specifies, and print the failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imports", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 2)
    arguments = parser.parse_args()
    failures = failed_imports(arguments.imports, arguments.at_once)
    print("\n".join(failures))
    print(f"{len(failures)} of {arguments.imports} imports failed")
    return min(len(failures), 100)


if __name__ == "__main__":
    sys.exit(main())
