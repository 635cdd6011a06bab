"""What slow paths of the native module tell, for `logging`."""

from __future__ import annotations

import sys


def log(notes: list[tuple[int, str]]) -> None:
    """Give sentences to the logger ``PyGPU``, if the program uses `logging` at all.

    Parameters
    ----------
    notes : list of tuples of an int and a str
        A level, and what happened.
    """
    # Who has not imported it has set no handler and no level up: then nobody is asked.
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("PyGPU")
    level_of_program = 1
    frame = sys._getframe()
    while frame.f_globals.get("__name__", "").split(".")[0] == "PyGPU" and frame.f_back is not None:
        frame = frame.f_back
        level_of_program += 1
    for level, text in notes:
        # The line of the program that called the library.
        logger.log(level, "%s", text, stacklevel=level_of_program)
