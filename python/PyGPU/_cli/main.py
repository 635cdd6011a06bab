"""``python -m PyGPU`` prints what PyGPU found here; its commands time it, compile kernels ahead, and check programs."""

import argparse

from PyGPU import __version__, show_config
from PyGPU._cli import bench as timing, check as checking, warm as compiling
from PyGPU._native import paths

_PLACES = {
    "--includes": (lambda: f"-I{paths.get_include()}", "print the compiler's option for the headers"),
    "--cmakedir": (paths.cmake_folder, "print the folder of PyGPUConfig.cmake"),
    "--pkgconfigdir": (paths.pkgconfig_folder, "print the folder of pygpu.pc"),
}


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description="Without a command: print the backends, and why those that cannot be used cannot.",
    )
    parser.add_argument("--version", action="version", version=f"PyGPU {__version__}")
    places = parser.add_mutually_exclusive_group()
    for option, (place, text) in _PLACES.items():
        places.add_argument(option, action="store_const", const=place, dest="place", help=text)
    commands = parser.add_subparsers(dest="command", metavar="command")
    bench = commands.add_parser("bench", help="time transfers and small calls on this machine")
    timing.add_options(bench)
    warm = commands.add_parser("warm", help="compile the kernels of arithmetic ahead, into the cache on disk")
    compiling.add_options(warm)
    check = commands.add_parser("check", help="run a program on the CPU and look for mistakes in its kernels")
    checking.add_options(check)
    arguments = parser.parse_args()
    if arguments.place is not None:
        print(arguments.place())
    elif arguments.command == "bench":
        timing.run(bench, arguments)
    elif arguments.command == "warm":
        compiling.run(warm, arguments)
    elif arguments.command == "check":
        checking.run(check, arguments)
    else:
        show_config()
