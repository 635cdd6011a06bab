"""``python -m PyGPU`` prints what PyGPU found on this machine; ``python -m PyGPU bench`` how quick it is here."""

import argparse

from PyGPU import show_config
from PyGPU._cli import bench as timing


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description="Without a command: print the backends, and why those that cannot be used cannot.",
    )
    commands = parser.add_subparsers(dest="command", metavar="command")
    bench = commands.add_parser("bench", help="time transfers and small calls on this machine")
    timing.add_options(bench)
    arguments = parser.parse_args()
    if arguments.command == "bench":
        timing.run(bench, arguments)
    else:
        show_config()
