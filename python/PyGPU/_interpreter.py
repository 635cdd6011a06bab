"""Which interpreter of the process this is."""

from __future__ import annotations

import _thread
import importlib


def refuse_subinterpreters() -> None:
    """Raise `ImportError` unless this is the main interpreter.

    NumPy and the native module both serve the first interpreter that imports them and no other. Refused before either is
    loaded, a subinterpreter does not take them away from the main one.
    """
    # Neither name is public; where both are missing, NumPy and the native module refuse in their own words.
    is_main = getattr(_thread, "_is_main_interpreter", None)
    if is_main is None:
        try:
            interpreters = importlib.import_module("_xxsubinterpreters")  # Python 3.11
        except ImportError:
            return

        def is_main() -> bool:
            return bool(interpreters.get_current() == interpreters.get_main())

    if not is_main():
        raise ImportError(
            "PyGPU works in the main interpreter of a process only, and this is a subinterpreter: import it in the main "
            "interpreter and use threads, or start processes with multiprocessing.get_context('spawn')"
        )
