"""Functions that return the folders of PyGPU's headers and of its files for CMake, pkg-config and Meson."""

from pathlib import Path

from PyGPU._names.public import public

_PACKAGE = Path(__file__).resolve().parents[1]


@public("Bindings")
def get_include() -> str:
    """Return the folder of PyGPU's headers, for the compiler's option ``-I``; it contains ``pygpu/array_view.h``.

    Returns
    -------
    str

    See Also
    --------
    as_argtype : checked argument types for functions that are called by `ctypes`, which needs no headers.

    Notes
    -----
    ``python -m PyGPU --includes`` prints the option with this folder. ``--cmakedir`` prints the folder for CMake's
    ``PyGPU_DIR``, and ``--pkgconfigdir`` the folder for ``PKG_CONFIG_PATH``, which Meson also reads.

    Examples
    --------
    >>> from pathlib import Path
    >>> import PyGPU
    >>> (Path(PyGPU.get_include()) / 'pygpu' / 'array_view.h').is_file()
    True
    """
    return str(_PACKAGE / "include")


def cmake_folder() -> str:
    """Return the folder that contains ``PyGPUConfig.cmake``."""
    return str(_PACKAGE / "share" / "cmake" / "PyGPU")


def pkgconfig_folder() -> str:
    """Return the folder that contains ``pygpu.pc``."""
    return str(_PACKAGE / "share" / "pkgconfig")
