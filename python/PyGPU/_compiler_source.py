"""PyCUDA's `SourceModule` and `compile`."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from PyGPU import _compiler_options
from PyGPU._driver_modules import Module

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from PyGPU import _core

__all__ = ["SourceModule", "compile"]

FORMS = ("cubin", "ptx")


class SourceModule:
    """Kernels and global variables, compiled from a text in CUDA C++.

    Parameters
    ----------
    source : str
        The text.
    nvcc : str, optional
        The path of nvcc, to be used instead of NVRTC. Ignored on other backends than CUDA.
    options : sequence of str, optional
        In nvcc's words, for every compiler; ``DEFAULT_NVCC_FLAGS`` by default.
    keep : bool, optional
        Write source and image into a new folder, and print its name.
    no_extern_c : bool, optional
        Do not wrap the source in ``extern "C"``. Kernels are found by their names in the source in either case.
    arch, code : str, optional
        The architecture, as ``'sm_90'``; that of the current device by default.
    cache_dir : str or False, optional
        Where images are kept; False for nowhere. By default ``PYCUDA_CACHE_DIR``, else PyGPU's folder;
        ``PYCUDA_DISABLE_CACHE`` turns it off.
    include_dirs : sequence of str, optional
        Folders of headers.

    Raises
    ------
    CompileError
        When the source does not compile; its line numbers are those of the text.

    Warns
    -----
    UserWarning
        With what the compiler said though it succeeded.

    Examples
    --------
    >>> import numpy
    >>> from PyGPU import driver
    >>> from PyGPU.compiler import SourceModule
    >>> module = SourceModule('''
    ... __global__ void twice(float *x) { x[threadIdx.x] *= 2; }
    ... ''')  # doctest: +SKIP
    >>> x = numpy.arange(4, dtype=numpy.float32)
    >>> module.get_function("twice")(driver.InOut(x), block=(4, 1, 1))  # doctest: +SKIP
    >>> x  # doctest: +SKIP
    array([0., 2., 4., 6.], dtype=float32)
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
        cache_dir: str | os.PathLike[str] | bool | None = None,
        include_dirs: Sequence[str] | None = None,
    ) -> None:
        request = _compiler_options.request(source, nvcc, options, no_extern_c, arch, code, cache_dir, include_dirs)
        self._module = Module(loaded(request, keep))

    @property
    def module(self) -> Module:
        """The module of the driver."""
        return self._module

    def get_function(self, name: str) -> _core.Function:
        """Return a kernel.

        Parameters
        ----------
        name : str
            As the source says it.

        Returns
        -------
        Function

        Raises
        ------
        LogicError
            For a name that is not there.

        Examples
        --------
        >>> func = module.get_function("twice")  # doctest: +SKIP
        """
        return self._module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Return where a global variable is.

        Parameters
        ----------
        name : str
            Of a ``__device__`` or ``__constant__`` variable.

        Returns
        -------
        address, nbytes : int
            Good as long as the module lives.

        Raises
        ------
        LogicError
            For a name that is not there.

        Examples
        --------
        >>> address, nbytes = module.get_global("factor")  # doctest: +SKIP
        """
        return self._module.get_global(name)

    def get_texref(self, name: str) -> NoReturn:
        """Refuse: CUDA 12 has no texture references any more.

        Parameters
        ----------
        name : str
            Of the reference.

        Raises
        ------
        NotSupportedError
            Always; it says what to use.
        """
        self._module.get_texref(name)

    def get_surfref(self, name: str) -> NoReturn:
        """Refuse: CUDA 12 has no surface references any more.

        Parameters
        ----------
        name : str
            Of the reference.

        Raises
        ------
        NotSupportedError
            Always; it says what to use.
        """
        self._module.get_surfref(name)


def compile(
    source: str,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | os.PathLike[str] | bool | None = None,
    include_dirs: Sequence[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile a text to an image.

    Parameters
    ----------
    source, nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs : optional
        As for `SourceModule`.
    target : str, optional
        ``'cubin'`` or ``'ptx'``.

    Returns
    -------
    bytes
        What `driver.module_from_buffer` takes on the current device. On other backends than CUDA it is what
        their driver takes, whatever `target` says.

    Raises
    ------
    CompileError
        When the source does not compile.
    ValueError
        For another target.

    Examples
    --------
    >>> from PyGPU.compiler import compile
    >>> image = compile("__global__ void nothing() {}", target="ptx")  # doctest: +SKIP
    """
    if target not in FORMS:
        raise ValueError(f"target is 'cubin' or 'ptx', not {target!r}")
    if target == "ptx" and arch is None and code is None:
        arch = _compiler_options.virtual_architecture()
    request = _compiler_options.request(source, nvcc, options, no_extern_c, arch, code, cache_dir, include_dirs)
    return loaded(request, keep).image


def loaded(request: _compiler_options.Request, keep: bool) -> _core.Module:
    """Return the loaded module of a request; what the compiler said becomes a warning of who called the caller."""
    native = request.load()
    if keep:
        folder = Path(tempfile.mkdtemp(prefix="pygpu-"))
        (folder / "kernel.cu").write_text(request.source)
        (folder / "kernel.image").write_bytes(native.image)
        print(f"*** source and image are in {folder}")
    if native.log:
        text = f"The CUDA compiler succeeded, but said the following:\n{native.log}"
        warnings.warn(text, UserWarning, stacklevel=3)
    return native
