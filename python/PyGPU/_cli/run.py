"""Run ``python -m PyGPU run --as-cupy program.py``: run a program with PyGPU in place of CuPy and PyCUDA."""

import argparse
import runpy
import sys
from pathlib import Path

from PyGPU._cupy.alias import as_cupy
from PyGPU._pycuda.alias import as_pycuda


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the command-line options of ``run`` to a parser."""
    parser.description = "Run a program that imports CuPy or PyCUDA, with PyGPU in their place."
    parser.epilog = "example: python -m PyGPU run --as-cupy program.py input.dat"
    parser.add_argument("--as-cupy", action="store_true", help="`import cupy` and `import cupyx` find PyGPU")
    parser.add_argument("--as-pycuda", action="store_true", help="`import pycuda` finds PyGPU")
    parser.add_argument("--force", action="store_true", help="hide an installed CuPy from the program")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, as for python -m")
    parser.add_argument("program", help="the program's file, or with -m the name of its module")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="the program's own arguments")


def run(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """Run the command ``run``: run the program in this process as ``python program.py`` does, with its arguments."""
    if not arguments.as_cupy and not arguments.as_pycuda:
        parser.error("give --as-cupy or --as-pycuda; without an alias, run the program by python itself")
    if not arguments.module and not Path(arguments.program).exists():
        parser.error(f"{arguments.program} does not exist; a module's name is given by -m {arguments.program}")
    sys.argv = [arguments.program, *arguments.arguments]
    # `as_cupy` searches for an installed CuPy by `sys.path`, so `sys.path` must already be set for the program.
    sys.path[0] = "" if arguments.module else str(Path(arguments.program).resolve().parent)
    try:
        if arguments.as_cupy:
            as_cupy(force=arguments.force)
        if arguments.as_pycuda:
            as_pycuda()
    except RuntimeError as error:
        parser.error(str(error))
    if arguments.module:
        runpy.run_module(arguments.program, run_name="__main__", alter_sys=True)
    else:
        runpy.run_path(arguments.program, run_name="__main__")
