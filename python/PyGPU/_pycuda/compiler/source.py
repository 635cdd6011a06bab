"""PyCUDA's `compile` and `SourceModule`, which pass nvcc's options to the available compiler."""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from PyGPU import _core
from PyGPU._paths import library_files
from PyGPU._pycuda.compiler.environment import cache_setting, default_flags
from PyGPU._pycuda.driver.debugging import debugging_options
from PyGPU._pycuda.driver.module import Function, Module
from PyGPU._pycuda.driver.textures import SurfaceReference, TextureReference

__all__ = [
    "DEFAULT_NVCC_FLAGS",
    "CudaModule",
    "SourceModule",
    "compile",
]

DEFAULT_NVCC_FLAGS = default_flags()

# Modules that export ``DEFAULT_NVCC_FLAGS``; programs may assign another list to this attribute in each module.
_PUBLIC = ("PyGPU.compiler", "pycuda.compiler")

Result = TypeVar("Result")


def default_options() -> list[str]:
    """Return the default compiler options of all sources, which the program may have changed."""
    homes = (sys.modules.get(name) for name in _PUBLIC)
    candidates = (getattr(module, "DEFAULT_NVCC_FLAGS", DEFAULT_NVCC_FLAGS) for module in homes)
    return list(next((flags for flags in candidates if flags is not DEFAULT_NVCC_FLAGS), DEFAULT_NVCC_FLAGS))


def _options(
    options: Sequence[str] | None,
    arch: str | None,
    code: str | None,
    include_dirs: Sequence[str] | None,
) -> list[str]:
    """Return all compiler options of a call, in nvcc's notation."""
    result = default_options() if options is None else list(options)
    result += debugging_options()
    if _core.backend_name() == "hip":
        result = _without_resource_usage(result)
    result += [f"-arch={arch}"] if arch else []
    result += [f"-code={code}"] if code else []
    return [*result, *(f"-I{folder}" for folder in [*(include_dirs or ()), library_files.HEADERS])]


def _without_resource_usage(options: list[str]) -> list[str]:
    """Remove options that only NVIDIA's compilers support, which print the resources that kernels use."""
    text = "\0".join(["", *options, ""])
    for request in ("-Xptxas\0-v", "-Xptxas=-v", "--ptxas-options\0-v", "--ptxas-options=-v"):
        text = text.replace(f"\0{request}\0", "\0")
    return [option for option in text.split("\0") if option]


def _compiler(nvcc: str) -> str | None:
    """Return the path of the compiler that the caller passed as `nvcc`, or None for the default compiler."""
    return None if nvcc == "nvcc" or _core.backend_name() == "cpu" else nvcc


def _compile_with_fallback(
    compile_with: Callable[[list[str], str | None], Result], options: list[str], nvcc: str
) -> Result:
    """Compile with the run-time compiler; if this fails, compile with nvcc or with empty host headers."""
    compiler = _compiler(nvcc)
    try:
        return compile_with(options, compiler)
    except ValueError:
        # The run-time compiler has rejected the options; nvcc may support them.
        program = None if compiler is not None or _core.backend_name() != "cuda" else library_files.nvcc()
        if program is None:
            raise
        return compile_with(options, program)
    except _core.CompileError as error:
        # Without a toolkit, the empty headers in the folder `EMPTY_HEADERS` replace the missing headers of the host.
        # Empty headers suffice, because the run-time compiler itself declares `printf`, `malloc` and similar functions.
        lacks_headers = "has no headers of the host" in error.log
        if compiler is not None or _core.backend_name() == "cpu" or not lacks_headers:
            raise
        return compile_with([*options, f"-I{library_files.EMPTY_HEADERS}"], None)


def _warn_about_log(log: str) -> None:
    if log.strip():
        text = f"The CUDA compiler succeeded, but said the following:\n{log.strip()}"
        warnings.warn(text, stacklevel=3)


def check_architecture(arch: str | None) -> None:
    if arch is None or _core.backend_name() != "cuda":
        return
    digits = "".join(filter(str.isdigit, arch))
    capability = _core.Device().properties["compute_capability"]
    if len(digits) >= 2 and (int(digits[:-1]), int(digits[-1])) > tuple(capability):
        warnings.warn(
            f"trying to compile for {arch}, and the device has compute capability {capability[0]}.{capability[1]}",
            stacklevel=3,
        )


def source_text(source: object) -> str:
    """Convert a source to a string; it may be an object with ``__str__``, such as a template."""
    if isinstance(source, bytes | bytearray | None):
        raise TypeError(f"source is a text, not {type(source).__name__}")
    return str(source)


def _write_output(source: str, image: bytes) -> None:
    folder = Path(tempfile.mkdtemp(prefix="pygpu-"))
    (folder / "kernel.cu").write_text(source)
    (folder / "kernel.image").write_bytes(image)
    print(f"*** compiler output in {folder}")


def compile(
    source: object,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | bool | None = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile a source to an image without loading it.

    Parameters
    ----------
    source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs : optional
        As for `SourceModule`.
    target : str, optional
        Kind of image: ``'cubin'``, ``'fatbin'`` or ``'ptx'``. PTX is generated for a virtual architecture.

    Returns
    -------
    bytes
        Image for `driver.module_from_buffer`.

    Raises
    ------
    CompileError
        If the source does not compile.

    Examples
    --------
    >>> from PyGPU.compiler import compile
    >>> image = compile('__global__ void one(int *x) { *x = 1; }')
    """
    source = source_text(source)
    if target not in ("cubin", "ptx", "fatbin"):
        raise ValueError(f"target is 'cubin', 'ptx' or 'fatbin', not {target!r}")
    if target == "ptx" and _core.backend_name() == "cuda":
        architecture = arch or str(_core.Device().properties["architecture"])
        arch, code = architecture.replace("sm_", "compute_"), None
    all_options = _options(options, arch, code, include_dirs)
    cache = cache_setting(cache_dir)

    def compile_with(options: list[str], compiler: str | None) -> tuple[bytes, str]:
        return _core.compile_source(source, options, compiler, not no_extern_c, cache)

    image, log = _compile_with_fallback(compile_with, all_options, nvcc)
    _warn_about_log(log)
    if keep:
        _write_output(source, image)
    return image


class CudaModule:
    """Base class of `SourceModule` and `DynamicModule`, whose methods return kernels and variables by name.

    Examples
    --------
    >>> from PyGPU.compiler import CudaModule, SourceModule
    >>> issubclass(SourceModule, CudaModule)
    True
    """

    module: Module
    """The loaded module."""

    def get_function(self, name: str) -> Function:
        """Return a kernel, as `driver.Module.get_function`."""
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return the address and size of a variable, as `driver.Module.get_global`."""
        return self.module.get_global(name)

    def get_texref(self, name: str) -> TextureReference:
        """Return a texture reference, as `driver.Module.get_texref`."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> SurfaceReference:
        """Return a surface reference, as `driver.Module.get_surfref`."""
        return self.module.get_surfref(name)


class SourceModule(CudaModule):
    """Module of the kernels in a source; the constructor compiles and loads the source.

    Parameters
    ----------
    source : str, or an object whose ``str`` it is
        Source code in CUDA C++.
    nvcc : str, optional
        Path of a compiler to use instead of the run-time compiler.
    options : sequence of str, optional
        Options of nvcc; defaults to `DEFAULT_NVCC_FLAGS`.
    keep : bool, optional
        Whether to keep source and image in a new folder, whose name is printed.
    no_extern_c : bool, optional
        Whether to omit ``extern "C"`` around the source.
    arch, code : str, optional
        Architecture, such as ``'sm_90'``; defaults to the architecture of the current device.
    cache_dir : str or False, optional
        Folder of the image cache, or False to disable the cache.
    include_dirs : sequence of str, optional
        Folders that are searched for headers.

    Raises
    ------
    CompileError
        If the source does not compile; line numbers in messages refer to `source`.

    Warns
    -----
    UserWarning
        If the compiler prints warnings.

    Examples
    --------
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('__global__ void one(int *x) { *x = 1; }')
    >>> one = module.get_function('one')
    """

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | bool | None = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        source = source_text(source)
        check_architecture(arch)
        all_options = _options(options, arch, code, include_dirs)
        cache = cache_setting(cache_dir)

        def compile_with(options: list[str], compiler: str | None) -> _core.Module:
            return _core.load_source(source, options, compiler, not no_extern_c, cache)

        module = _compile_with_fallback(compile_with, all_options, nvcc)
        _warn_about_log(module.log)
        if keep:
            _write_output(source, module.image)
        self.module = Module(module)
