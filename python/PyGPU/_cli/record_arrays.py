"""Run ``python record_arrays.py FILE program.py arguments``: run a program and record its arrays in FILE.

``python -m PyGPU check`` runs this file in a separate process. The file does not import PyGPU itself; the program does.
Whenever a function of the program's file returns, and at the end of the program, the contents of the variables that are
arrays are recorded.
"""

import hashlib
import pickle
import runpy
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# Maximum size in bytes of an array whose values are recorded; for a larger array, a checksum is recorded.
MAX_RECORDED_BYTES = 1 << 24
# Maximum number of recorded calls of one function.
CALLS = 1000


def host_copy(value: Any) -> Any:
    """Copy the values of an array on the device or host; return None for other objects."""
    numpy, core = sys.modules.get("numpy"), sys.modules.get("PyGPU._core")
    if core is not None and isinstance(value, core.GPUArray):
        # The values are copied into a new array, because `get` may return memory that the array reuses.
        return value.get(numpy.empty(value.shape, value.dtype)) if numpy is not None else None
    return value if numpy is not None and isinstance(value, numpy.ndarray) and not value.dtype.hasobject else None


class Observer:
    """Callback of `sys.setprofile` that records the arrays in the variables of a function when it returns."""

    def __init__(self, program: str) -> None:
        self.program = program
        self.calls: dict[CodeType, int] = {}
        self.held: dict[tuple[str, str], tuple[Any, tuple[int, ...], bytes]] = {}

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Handle an event of ``sys.setprofile``."""
        code = frame.f_code
        if event != "return" or code.co_filename != self.program:
            return
        if code.co_name.startswith("<") and code.co_name != "<module>":
            return
        self.calls[code] = self.calls.get(code, 0) + 1
        if self.calls[code] <= CALLS:
            for name, value in list(frame.f_locals.items()):
                self.note(code.co_qualname, name, value)

    def note(self, function: str, name: str, value: Any) -> None:
        """Record the array in a local variable, and replace the record of the function's earlier call."""
        try:
            array = host_copy(value)
            if array is None:
                return
            contents = array.tobytes()
        except Exception:  # For example, `get` raises an error during a capture, which is no defect of the program.
            return
        values = contents if len(contents) <= MAX_RECORDED_BYTES else hashlib.blake2b(contents).digest()
        self.held[function, name] = (array.dtype, array.shape, values)


def main() -> None:
    """Run the program as ``python program.py`` does, and record its arrays."""
    record_file, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(program).resolve().parent)
    observer = Observer(program)
    threading.setprofile(observer)
    sys.setprofile(observer)
    try:
        runpy.run_path(program, run_name="__main__")
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        with Path(record_file).open("wb") as file:
            pickle.dump(observer.held, file)


if __name__ == "__main__":
    main()
