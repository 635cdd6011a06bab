"""Strided GPU arrays for Python: create, move and share device memory with few dependencies.

`import PyGPU as gpuarray` runs programs written for PybindGPU. `PyGPU.gpuarray`, `PyGPU.driver` and similar modules run
programs written for PyCUDA.
Importing PyGPU loads no driver and creates no context: the backend is chosen at its first use (see `show_config`).

The names of PybindGPU (``cuda*``, ``nvml*``, ``DeviceArray_float32`` and similar) are loaded at their first use.

First steps:

    a = PyGPU.to_gpu(x)                 an array on the device, of any input that NumPy accepts as an array
    b = PyGPU.sin(a)[::2] + 1           computed on the device; names, types and errors are NumPy's
    b.get()                             copied back as an ndarray
    PyGPU.median(a)                     as in NumPy; PyGPU has most of NumPy's functions, a.sum() and a @ b
    PyGPU.Kernel(source)[4, 256](b)     a launch of a user-written kernel in CUDA C++
    torch.from_dlpack(a)                the same memory, for another library; PyGPU.from_dlpack(t) the other way
    PyGPU.show_config()                 the configuration of this machine

``help(PyGPU.to_gpu)`` documents one name, ``dir(PyGPU)`` lists all. Modules: `gpuarray`, `driver`, `compiler`,
`elementwise`, `reduction`, `scan`, `cumath`, `curandom`, `tools` as PyCUDA has them; `random`, `linalg`, `fft`,
`emath`, `lib.stride_tricks`, `testing` as NumPy has them; `dask`, `profile`, `debug`, `typing`.
"""

import sys as _sys

# NumPy and the native module work only in the main interpreter.
# In a subinterpreter this import raises an error before NumPy is loaded, because the main interpreter could not load
# NumPy afterwards. If NumPy is loaded already, the native module makes this check: this import takes a fifth of the
# time of `import PyGPU`.
if "numpy" not in _sys.modules:
    from PyGPU._process import main_interpreter as _interpreter  # noqa: F401

# isort: split
# NumPy is imported here, not by the native module at its first use.
# If a daemon thread ended while the native module imports NumPy, the process would abort.
import numpy as _numpy  # noqa: F401

from PyGPU import _core


class _EinopsFinder:
    # Waits for the import of einops, then replaces itself by a finder that registers PyGPU's backend with einops.
    # The class uses no other module, so that `import PyGPU` stays fast.
    @classmethod
    def find_spec(cls, fullname: str, path=None, target=None):
        if fullname != "einops._backends":
            return None
        _sys.meta_path.remove(cls)
        return _register_with_einops().find_spec(fullname, path, target)


def _register_with_einops():
    from PyGPU._process.import_hook import when_imported

    def register() -> None:
        from PyGPU._protocols import einops_backend  # noqa: F401  # the module defines the class that einops finds

    return when_imported("einops._backends", register)


if "einops._backends" in _sys.modules:
    _register_with_einops()
else:
    _sys.meta_path.insert(0, _EinopsFinder)


class _MovedModulesFinder:
    # Pickles of earlier versions name private modules that have moved. Python calls the last finder only for modules
    # that no other finder has found, so other imports do not become slower.
    @staticmethod
    def find_spec(fullname: str, path=None, target=None):
        if not fullname.startswith("PyGPU._"):
            return None
        from PyGPU._names.moved_modules import spec_of

        return spec_of(fullname)


_sys.meta_path.append(_MovedModulesFinder)


_LAZY_SPECIAL_NAMES = ("__all__", "__array_api_version__", "__array_namespace_info__", "__deprecated__")


def __getattr__(name: str):
    # The native module creates an object at its first use. `lazy_names.find` imports a submodule, an object in the
    # generated index, or an object of PybindGPU's interface. The object is stored in the package, so that each name is
    # searched only once.
    if name in _core.__all__:
        value = globals()[name] = getattr(_core, name)
        return value
    if name.startswith("_") and name not in _LAZY_SPECIAL_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from PyGPU._protocols import lazy_names

    if name == "__all__":
        # With an empty `__all__`, `help(PyGPU)` prints only the introduction above, instead of 30,000 lines.
        is_help = lazy_names.is_asked_by("pydoc")
        return [] if is_help else lazy_names.everything()
    if name == "__deprecated__":
        return lazy_names.DEPRECATED
    if name in lazy_names.DEPRECATED:
        # The object is not stored in the package, because each access must warn.
        return lazy_names.find_deprecated(name)
    value = globals()[name] = lazy_names.find(name)
    return value


def __dir__() -> list[str]:
    from PyGPU._protocols import lazy_names

    return lazy_names.shown()
