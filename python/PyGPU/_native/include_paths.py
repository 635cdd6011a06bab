"""Locations of the headers, and of the files for CMake, pkg-config and Meson."""

from pathlib import Path

from PyGPU._names.public import public

_PACKAGE = Path(__file__).resolve().parents[1]


@public("Bindings")
def get_include() -> str:
    """Return the folder for the compiler's ``-I``, which contains ``pygpu/array_view.h`` and the other headers.

    Returns
    -------
    str

    See Also
    --------
    as_argtype : checked arguments for functions of `ctypes`, which need no headers.

    Notes
    -----
    ``python -m PyGPU --includes`` prints it for a shell, ``--cmakedir`` the folder for CMake's ``PyGPU_DIR``, and
    ``--pkgconfigdir`` the folder for ``PKG_CONFIG_PATH``, which Meson also reads.

    Examples
    --------
    >>> from pathlib import Path
    >>> import PyGPU
    >>> (Path(PyGPU.get_include()) / 'pygpu' / 'array_view.h').is_file()
    True
    """
    return str(_PACKAGE / "include")


def cmake_folder() -> str:
    """Return the folder of ``PyGPUConfig.cmake``."""
    return str(_PACKAGE / "share" / "cmake" / "PyGPU")


def pkgconfig_folder() -> str:
    """Return the folder of ``pygpu.pc``."""
    return str(_PACKAGE / "share" / "pkgconfig")
