"""``python -m PyGPU`` prints what PyGPU found on this machine; its commands time it, and compile kernels ahead."""

import argparse

from PyGPU import show_config
from PyGPU._cli import bench as timing, warm as compiling


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description="Without a command: print the backends, and why those that cannot be used cannot.",
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    bench = commands.add_parser("bench", help="time transfers and small calls on this machine")
    timing.add_options(bench)
    warm = commands.add_parser("warm", help="compile the kernels of arithmetic ahead, into the cache on disk")
    compiling.add_options(warm)
    arguments = parser.parse_args()
    if arguments.command == "bench":
        timing.run(bench, arguments)
    elif arguments.command == "warm":
        compiling.run(warm, arguments)
    else:
        show_config()
