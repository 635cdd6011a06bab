"""``python -m PyGPU`` prints what PyGPU found here; its commands time it, compile kernels ahead, and check programs."""

import argparse

from PyGPU import __version__, show_config
from PyGPU._cli import bench as timing, check as checking, warm as compiling


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description="Without a command: print the backends, and why those that cannot be used cannot.",
    )
    parser.add_argument("--version", action="version", version=f"PyGPU {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="command")
    bench = commands.add_parser("bench", help="time transfers and small calls on this machine")
    timing.add_options(bench)
    warm = commands.add_parser("warm", help="compile the kernels of arithmetic ahead, into the cache on disk")
    compiling.add_options(warm)
    check = commands.add_parser("check", help="run a program on the CPU and look for mistakes in its kernels")
    checking.add_options(check)
    arguments = parser.parse_args()
    if arguments.command == "bench":
        timing.run(bench, arguments)
    elif arguments.command == "warm":
        compiling.run(warm, arguments)
    elif arguments.command == "check":
        checking.run(check, arguments)
    else:
        show_config()
