"""The class `RawSource`, which stores the source of a `RawKernel` or `RawModule` and the compiled modules."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Any

from PyGPU import _core
from PyGPU._cupy.kernels.c_text import own_integers, renamed
from PyGPU._paths.library_files import HEADERS
from PyGPU._pycuda.driver.module import not_found

__all__ = ["RawSource", "check_backend"]

_CU_COMPLEX = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]cuComplex\.h[>"]', re.MULTILINE)


def check_backend(backend: str, options: tuple[str, ...], jitify: Any) -> None:
    """Check the arguments that the constructors of `RawKernel` and `RawModule` have in common.

    Parameters
    ----------
    backend : str
        ``'nvrtc'`` or ``'nvcc'``.
    options : tuple of str
        Options of the compiler.
    jitify : bool or None
        Must not be true; False causes a DeprecationWarning, as in CuPy.

    Raises
    ------
    ValueError
        If the backend is unknown.
    TypeError
        If the options are no tuple.
    NotSupportedError
        If `jitify` is true.

    Examples
    --------
    >>> from PyGPU._cupy.kernels.raw_source import check_backend
    >>> check_backend('nvrtc', ('-DN=3',), None)
    """
    if backend not in ("nvrtc", "nvcc"):
        raise ValueError(f"Invalid backend {backend!r}: the compilers are 'nvrtc' and 'nvcc'")
    if not isinstance(options, tuple):
        raise TypeError(f"options is a tuple of str, such as ('-DN=3',), not {type(options).__name__}")
    if jitify:
        raise _core.NotSupportedError(
            "jitify=True: PyGPU has no Jitify, whose use CuPy has deprecated. Omit jitify: PyGPU finds CUDA's headers "
            "itself, and options=('-I/folder',) adds others"
        )
    if jitify is not None:
        warnings.warn("The jitify argument is deprecated, as in CuPy: omit it", DeprecationWarning, stacklevel=3)


@dataclass(frozen=True)
class RawSource:
    """Source of a raw kernel, or the path of an image, with the options of its compiler."""

    code: str | None
    path: str | None
    options: tuple[str, ...]
    backend: str
    translate_cucomplex: bool
    name_expressions: tuple[str, ...]

    def module(self, device: int) -> _core.Module:
        """Return the compiled module of a device; compile the source or load the image at the first call.

        Parameters
        ----------
        device : int
            Index of the device.

        Returns
        -------
        PyGPU.Module

        Raises
        ------
        CompileError
            If the source does not compile.
        CudaError
            If the image cannot be loaded.
        """
        key = (self, device)
        module = _MODULES.get(key)
        if module is None:
            module = _MODULES.setdefault(key, self._load(device))
        return module

    def recompile(self, device: int) -> _core.Module:
        """Compile the source or load the image again for a device, and use the new module for later calls."""
        module = _MODULES[self, device] = self._load(device, cache=False)
        return module

    def _load(self, device: int, cache: bool = True) -> _core.Module:
        if self.path is not None:
            return self._load_image(self.path, device)
        assert self.code is not None
        code, options = self.code, list(self.options)
        if self.translate_cucomplex:
            code = _CU_COMPLEX.sub("#include <cupy/cucomplex.cuh>", code)
        if "cupy/" in code:
            options.append(f"-I{HEADERS}")
        integers = own_integers(code)
        code = renamed(code, integers)
        instances = [renamed(name, integers) for name in self.name_expressions if "<" in name]
        compiler = None
        if self.backend == "nvcc" and _core.Device(device).kind == "cuda" and which("nvcc"):
            compiler = "nvcc"
        return _core.Module(code, options, instances=instances, compiler=compiler, cache=cache, device=device)

    def _load_image(self, path: str, device: int) -> _core.Module:
        if not Path(path).is_file():
            error = _core.InvalidValueError(f"CUDA_ERROR_FILE_NOT_FOUND: file not found: there is no file {path}")
            error.code, error.name = 301, "CUDA_ERROR_FILE_NOT_FOUND"
            raise error
        return _core.Module.from_file(path, device=device)

    def kernel(self, name: str, device: int) -> _core.Kernel:
        """Return a kernel of the compiled module for a device.

        Parameters
        ----------
        name : str
            Name of the kernel, or one of the name expressions.
        device : int
            Index of the device.

        Returns
        -------
        PyGPU.Kernel

        Raises
        ------
        CudaError
            If the module does not contain the name.
        """
        module = self.module(device)
        if "<" in name and name not in self.name_expressions:
            listed = ", ".join(self.name_expressions) or "none"
            raise not_found(ValueError(f"'{name}' is no name expression of the module, which has {listed}"))
        try:
            return module.get_function(renamed(name, own_integers(self.code or "")) if "<" in name else name)
        except ValueError as error:
            raise not_found(error) from error


# As in CuPy, a compiled module is never unloaded, because its kernels and the addresses of its variables may be in use.
_MODULES: dict[tuple[RawSource, int], _core.Module] = {}
