"""Run ``python -m PyGPU.debug program.py``: run a program, and compile its kernels with debug information."""

import runpy
import sys
from pathlib import Path

from PyGPU._pycuda.alias import as_pycuda
from PyGPU._pycuda.driver.debugging import set_debugging


def main() -> None:
    """Run the program that the command line names, with the arguments after its name."""
    if len(sys.argv) < 2:
        raise SystemExit("usage: python -m PyGPU.debug program.py [arguments of the program]")
    program = Path(sys.argv[1])
    if not program.exists():
        raise SystemExit(f"{program} does not exist")
    as_pycuda()
    set_debugging()
    del sys.argv[0]
    sys.path[0] = str(program.parent)
    runpy.run_path(str(program), run_name="__main__")


if __name__ == "__main__":
    main()
