"""A strided GPU array for Python: hold, move and share device memory without heavy baggage.

`import PyGPU as gpuarray` runs programs written for PybindGPU; `PyGPU.gpuarray` and its kin run those for PyCUDA.
Importing opens no driver and creates no context: the backend is chosen when it is first needed (see `show_config`).

The names of PybindGPU (``cuda*``, ``nvml*``, ``DeviceArray_float32`` and their kin) are loaded when first used.

Where to begin:

    a = PyGPU.to_gpu(x)                 an array on the device, of whatever NumPy makes an array of
    b = PyGPU.sin(a)[::2] + 1           computed there; names, types and errors are NumPy's
    b.get()                             back, as an ndarray
    PyGPU.median(a)                     as NumPy's, like most else that NumPy has; a.sum(), a @ b
    PyGPU.Module(source)["scale"]       a kernel of one's own, in CUDA C++
    torch.from_dlpack(a)                the same memory, for another library; PyGPU.from_dlpack(t) the other way
    PyGPU.show_config()                 what was found on this machine

``help(PyGPU.to_gpu)`` shows one name, ``dir(PyGPU)`` lists them. Modules: `gpuarray`, `driver`, `compiler`,
`elementwise`, `reduction`, `scan`, `cumath`, `curandom`, `tools` as PyCUDA has them; `random`, `linalg`, `fft` as NumPy
has them; `dask`, `profile`, `debug`, `typing`.
"""

# First of all: it refuses a subinterpreter, before NumPy and the native module are taken away from the main one.
from PyGPU._native import interpreter as _interpreter  # noqa: F401

# isort: split
# Here and not when it is first needed: that may be in a daemon thread, and one that is ended in the middle of an import
# which a call of the native module started takes the process down with it.
import numpy as _numpy  # noqa: F401

from PyGPU._core import *  # noqa: F403


def __getattr__(name: str):
    # A submodule, a name of the index, or one of PybindGPU's; kept afterwards, so that this runs once for each.
    if name.startswith("_") and name not in ("__all__", "__array_api_version__", "__array_namespace_info__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from PyGPU._protocols import lazy_names

    if name == "__all__":
        # `help(PyGPU)` is its beginning, not thirty thousand lines of everything.
        is_help = lazy_names.is_asked_by("pydoc")
        return [] if is_help else lazy_names.everything()
    value = globals()[name] = lazy_names.find(name)
    return value


def __dir__() -> list[str]:
    from PyGPU._protocols import lazy_names

    return lazy_names.shown()
