"""Check at PyGPU's import that the main interpreter of the process runs the import.

NumPy and the native module work only in the first interpreter that imports them. In a subinterpreter, PyGPU would also
mistake the end of that interpreter for the end of the process.
"""

import _thread
import importlib


def is_main() -> bool:
    """Return whether the main interpreter calls this function; return true if Python cannot report the interpreter."""
    # The functions that detect a subinterpreter are private, so a Python version may lack them. PyGPU then skips the
    # check, and NumPy and the native module raise their own errors in a subinterpreter.
    is_main_interpreter = getattr(_thread, "_is_main_interpreter", None)
    if is_main_interpreter is not None:
        return bool(is_main_interpreter())
    try:
        # The module `_xxsubinterpreters` exists in Python 3.11.
        interpreters = importlib.import_module("_xxsubinterpreters")
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


if not is_main():
    raise ImportError(
        "PyGPU works in the main interpreter of a process only, and this is a subinterpreter: import it in the main "
        "interpreter and use threads, or start processes with multiprocessing.get_context('spawn')"
    )
