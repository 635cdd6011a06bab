"""What slow paths of the native module tell, for `logging`."""

from __future__ import annotations

import importlib
import sys
from typing import Any

_WARNING = 30


def log(notes: list[tuple[int, str]]) -> None:
    """Give sentences to the logger ``PyGPU``, if the program uses `logging` at all; warnings in any case.

    Parameters
    ----------
    notes : list of tuples of an int and a str
        A level, and what happened.
    """
    # Who has not imported it has set no handler and no level up: nobody is asked, and Python prints warnings alone.
    logging: Any = sys.modules.get("logging")
    if logging is None:
        if all(level < _WARNING for level, _ in notes):
            return
        logging = importlib.import_module("logging")
    logger = logging.getLogger("PyGPU")
    level_of_program = 1
    frame = sys._getframe()
    while frame.f_globals.get("__name__", "").split(".")[0] == "PyGPU" and frame.f_back is not None:
        frame = frame.f_back
        level_of_program += 1
    for level, text in notes:
        # The line of the program that called the library.
        logger.log(level, "%s", text, stacklevel=level_of_program)
