"""Refuses, when imported, to work in another than the main interpreter of the process.

NumPy and the native module both serve the first interpreter that imports them and no other, and the end of a
subinterpreter would be taken for the end of the process.
"""

import _thread
import importlib


def is_main() -> bool:
    """Whether this is the main interpreter, or nobody can tell."""
    # None of these names is public. Where all are missing, NumPy and the native module refuse in their own words.
    known = getattr(_thread, "_is_main_interpreter", None)
    if known is not None:
        return bool(known())
    try:
        interpreters = importlib.import_module("_xxsubinterpreters")  # Python 3.11
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


if not is_main():
    raise ImportError(
        "PyGPU works in the main interpreter of a process only, and this is a subinterpreter: import it in the main "
        "interpreter and use threads, or start processes with multiprocessing.get_context('spawn')"
    )
