"""The function `log`, which passes messages of the native module to Python's `logging`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_WARNING = 30


def log(messages: list[tuple[int, str]]) -> None:
    """Pass messages to the logger ``PyGPU``. If the program does not use `logging`, pass only warnings.

    Parameters
    ----------
    messages : list of tuples of an int and a str
        Level and text of each message.
    """
    # A program that has not imported `logging` has set no handler and no level.
    # Python then prints warnings and errors only.
    logging: Any = sys.modules.get("logging")
    if logging is None:
        if all(level < _WARNING for level, _ in messages):
            return
        logging = importlib.import_module("logging")
    logger = logging.getLogger("PyGPU")
    stack_level = 1
    frame = sys._getframe()
    while frame.f_globals.get("__name__", "").split(".")[0] == "PyGPU" and frame.f_back is not None:
        frame = frame.f_back
        stack_level += 1
    for level, text in messages:
        # `stacklevel` makes the message name the line of the program that called PyGPU.
        logger.log(level, "%s", text, stacklevel=stack_level)
