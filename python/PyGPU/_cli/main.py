"""Dispatch the commands of ``python -m PyGPU``: show the configuration, measure, compile, check, or run a program."""

import argparse
import json
import sys
from os import environ
from pathlib import PurePath
from typing import Any

from PyGPU import BackendUnavailableError, __version__, backend_name, config, show_config
from PyGPU._cli import (
    bench as timing,
    check as checking,
    environment_variables,
    run as running,
    test as testing,
    warm as compiling,
)
from PyGPU._cli.broken_pipe import quiet_end
from PyGPU._paths import include_paths

_PATH_OPTIONS = {
    "--includes": (lambda: f"-I{include_paths.get_include()}", "print the compiler's option for the headers"),
    "--cmakedir": (include_paths.cmake_folder, "print the folder of PyGPUConfig.cmake"),
    "--pkgconfigdir": (include_paths.pkgconfig_folder, "print the folder of pygpu.pc"),
}

_RUN = {"bench": timing.run, "test": testing.run, "warm": compiling.run, "check": checking.run, "run": running.run}


def _json_value(value: Any) -> Any:
    """Convert a value of PyGPU's configuration that JSON does not support to one that JSON supports."""
    return value.hex() if isinstance(value, bytes) else str(value) if isinstance(value, PurePath) else list(value)


def _show(arguments: argparse.Namespace) -> None:
    """Print the configuration of PyGPU on this machine."""
    if arguments.json:
        print(json.dumps(config(), indent=1, default=_json_value))
    else:
        show_config()
        for line in environment_variables.environment_lines(environ):
            print(line)


def _require_backend(command: str) -> None:
    """Exit with a message, without a traceback, if no backend is available."""
    try:
        backend_name()
    except (ValueError, BackendUnavailableError) as error:
        print(f"python -m PyGPU {command}: {error}\n`python -m PyGPU` shows all backends", file=sys.stderr)
        sys.exit(2)


def parsers() -> tuple[argparse.ArgumentParser, dict[str, argparse.ArgumentParser]]:
    """Return the parser of the command line, and the parsers of the commands by name."""
    parser = argparse.ArgumentParser(
        prog="python -m PyGPU",
        description="Without a command, or with `show`: print the backends, and why those that cannot be used cannot.",
        epilog="example: python -m PyGPU --json",
    )
    parser.add_argument("--version", action="version", version=f"PyGPU {__version__}")
    path_options = parser.add_mutually_exclusive_group()
    for option, (path_function, text) in _PATH_OPTIONS.items():
        path_options.add_argument(option, action="store_const", const=path_function, dest="place", help=text)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    commands = parser.add_subparsers(dest="command", metavar="command")
    show = commands.add_parser("show", help="print what was found here, as without a command")
    show.description = "Print the backends, and why those that cannot be used cannot; and the variables that are set."
    show.epilog = "example: python -m PyGPU show --json"
    show.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as JSON")
    test = commands.add_parser("test", help="check in a few seconds that all works on this machine's devices")
    testing.add_options(test)
    bench = commands.add_parser("bench", help="time transfers and small calls on this machine")
    timing.add_options(bench)
    warm = commands.add_parser("warm", help="compile the kernels of arithmetic ahead, into the cache on disk")
    compiling.add_options(warm)
    check = commands.add_parser("check", help="run a program and look for mistakes in its kernels, or in its streams")
    checking.add_options(check)
    run = commands.add_parser("run", help="run a program that imports CuPy or PyCUDA, with PyGPU in their place")
    running.add_options(run)
    return parser, {"show": show, "test": test, "bench": bench, "warm": warm, "check": check, "run": run}


def main() -> None:
    """Run the command that the command line names, and return the exit status."""
    with quiet_end():
        _main()


def _main() -> None:
    parser, commands = parsers()
    arguments = parser.parse_args()
    command = arguments.command
    if arguments.place is None and command in ("bench", "test", "warm"):
        _require_backend(command)
    if arguments.place is not None:
        print(arguments.place())
    elif command in _RUN:
        _RUN[command](commands[command], arguments)
    else:
        _show(arguments)
