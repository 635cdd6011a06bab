"""PyCUDA's `DynamicModule` and `DynamicSourceModule`, which link sources and libraries of device code to a module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from PyGPU import _core
from PyGPU._paths import library_files
from PyGPU._pycuda.compiler.source import CudaModule, SourceModule, check_architecture, compile, default_options
from PyGPU._pycuda.driver.enums import jit_input_type
from PyGPU._pycuda.driver.module import Handler, Linker, Options

__all__ = ["DynamicModule", "DynamicSourceModule"]


class DynamicModule(CudaModule):
    """Module whose parts are compiled separately and linked by the driver.

    Parameters
    ----------
    nvcc : str, optional
        As for `SourceModule`.
    link_options : sequence of tuple, optional
        Pairs of `jit_option` and value.
    keep, no_extern_c, arch, code, cache_dir, include_dirs : optional
        As for `SourceModule`.
    message_handler : callable, optional
        Called as ``message_handler(succeeded, information, errors)`` after linking.
    log_verbose : bool, optional
        Whether the linker prints more information.
    cuda_libdir : str, optional
        Folder of the CUDA toolkit's libraries of device code.

    Examples
    --------
    >>> from PyGPU.compiler import DynamicModule
    >>> module = DynamicModule().add_source('...').link()  # doctest: +SKIP
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Options | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | bool | None = None,
        include_dirs: Sequence[str] | None = None,
        message_handler: Handler | None = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
    ) -> None:
        if _core.backend_name() != "cuda":
            raise _core.NotSupportedError(
                f"the {_core.backend_name()} backend links no device code: put all of it into one SourceModule"
            )
        check_architecture(arch)
        self.linker = Linker(message_handler, link_options, log_verbose)
        self._compiler_arguments = (nvcc, keep, no_extern_c, arch, code, cache_dir, include_dirs)
        self._libdir = cuda_libdir

    def add_source(self, source: str, nvcc_options: Sequence[str] | None = None, name: str = "kernel.ptx") -> Self:
        """Compile a source and add it as a part of the module.

        Parameters
        ----------
        source : str
            Source code in CUDA C++.
        nvcc_options : sequence of str, optional
            Options of nvcc.
        name : str, optional
            Name of the source in messages.

        Returns
        -------
        DynamicModule
            The module itself.

        Examples
        --------
        >>> module.add_source('extern __device__ int f(int);')  # doctest: +SKIP
        """
        nvcc, keep, no_extern_c, arch, code, cache_dir, include_dirs = self._compiler_arguments
        options = default_options() if nvcc_options is None else list(nvcc_options)
        # Options of the linker (``-l``) are not passed to the compiler.
        # Without an option ``rdc``, the source is compiled to relocatable device code, which the linker requires.
        options = [text for text in options if not text.startswith("-l") or text.startswith("-lineinfo")]
        if not any("rdc" in text for text in options):
            options.append("-rdc=true")
        ptx = compile(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs, target="ptx")
        self.linker.add_data(ptx.rstrip(b"\0"), jit_input_type.PTX, name)
        return self

    def add_data(self, data: bytes | str, input_type: int, name: str = "unknown") -> Self:
        """Add a compiled part from memory, as `driver.Linker.add_data`; return the module itself."""
        self.linker.add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: int) -> Self:
        """Add a part from a file, as `driver.Linker.add_file`; return the module itself."""
        self.linker.add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> Self:
        """Add one of the CUDA toolkit's libraries of device code.

        Parameters
        ----------
        libname : str
            Name of the library, such as ``'cudadevrt'``.

        Returns
        -------
        DynamicModule
            The module itself.

        Raises
        ------
        FileNotFoundError
            If no installed toolkit contains the library.

        Examples
        --------
        >>> module.add_stdlib('cudadevrt')  # doctest: +SKIP
        """
        given_library = None if self._libdir is None else Path(self._libdir) / f"lib{libname}.a"
        path = (
            given_library
            if given_library is not None and given_library.exists()
            else library_files.device_library(libname)
        )
        if path is None:
            raise FileNotFoundError(
                f"lib{libname}.a was not found: it is part of the CUDA toolkit and of the wheel nvidia-cuda-runtime; "
                "install one, set CUDA_HOME, or give cuda_libdir="
            )
        return self.add_file(str(path), jit_input_type.LIBRARY)

    def link(self) -> Self:
        """Link the parts and load the result.

        Returns
        -------
        DynamicModule
            The module itself.

        Raises
        ------
        LogicError
            If the parts cannot be linked.

        Examples
        --------
        >>> module.link()  # doctest: +SKIP
        """
        self.module = self.linker.link_module()
        return self


class DynamicSourceModule(DynamicModule):
    """Module of a source whose kernels launch other kernels, which is linked with the library ``cudadevrt``.

    Parameters
    ----------
    source : str
        Source code in CUDA C++.
    nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs : optional
        As for `SourceModule`.
    cuda_libdir : str, optional
        Folder of the CUDA toolkit's libraries of device code.

    Examples
    --------
    >>> from PyGPU.compiler import DynamicSourceModule
    >>> module = DynamicSourceModule('__global__ void one(int *x) { *x = 1; }')  # doctest: +SKIP
    """

    def __init__(
        self,
        source: str,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | bool | None = None,
        include_dirs: Sequence[str] | None = None,
        cuda_libdir: str | None = None,
    ) -> None:
        if _core.backend_name() == "cpu":
            # On the CPU a single source is not linked. The CPU's compiler rejects kernels that launch kernels.
            source_module = SourceModule(source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
            self.module = source_module.module
            return
        super().__init__(
            nvcc=nvcc,
            keep=keep,
            no_extern_c=no_extern_c,
            arch=arch,
            code=code,
            cache_dir=cache_dir,
            include_dirs=include_dirs,
            cuda_libdir=cuda_libdir,
        )
        self.add_source(source, options)
        try:
            self.add_stdlib("cudadevrt")
        except FileNotFoundError:
            # Only sources whose kernels launch kernels need ``cudadevrt``.
            if "<<<" in str(source):
                raise
        self.link()
