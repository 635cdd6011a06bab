"""The array API's functions that return the namespace `PyGPU` and information about it."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._names.public import public, public_values

__array_api_version__ = "2025.12"
"""The version of the array API that the package follows."""

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)

_KINDS: dict[str, tuple[str, ...]] = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KIND_GROUPS = {
    "integral": ("signed integer", "unsigned integer"),
    "numeric": ("signed integer", "unsigned integer", "real floating", "complex floating"),
}
_MAX_NDIM = 64

ndarray = _core.GPUArray
"""The class of arrays, under the name that NumPy and CuPy have for their array classes."""


def namespace(api_version: str | None = None) -> ModuleType:
    """Return the package `PyGPU`, which is the array API namespace for every version of the standard."""
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"__array_namespace__: version {api_version!r} of the array API is not supported; there are "
            f"{', '.join(_VERSIONS)}"
        )
    return importlib.import_module("PyGPU")


@public("Modules")
def get_array_module(*args: Any) -> ModuleType:
    """Return the module `PyGPU` if any argument is a GPUArray, otherwise `numpy`; the name is CuPy's.

    Parameters
    ----------
    *args : object
        Objects to test, such as the operands of a function.

    Returns
    -------
    module

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.get_array_module(PyGPU.zeros(3), 2).__name__
    'PyGPU'
    """
    return importlib.import_module("PyGPU") if any(isinstance(element, _core.GPUArray) for element in args) else np


class ArrayNamespaceInfo:
    """Inspection functions of the array API: devices, types and capabilities.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.__array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """

    def capabilities(self) -> dict[str, Any]:
        """Return the optional capabilities of the array API that PyGPU supports.

        Returns
        -------
        dict
            Boolean indexing is supported, results may have data-dependent shapes, and an array has at most 64 axes.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": _MAX_NDIM}

    def default_device(self) -> Any:
        """Return the default device of new arrays.

        Returns
        -------
        Device
            The current device of the calling thread.
        """
        return _core.Device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the default types of new arrays.

        Parameters
        ----------
        device : Device, str or int, optional
            Ignored: all devices have the same types.

        Returns
        -------
        dict
            Default dtypes of real and complex numbers, integers and indices.
        """
        del device
        return {
            "real floating": np.dtype("float64"),
            "complex floating": np.dtype("complex128"),
            "integral": np.dtype("int64"),
            "indexing": np.dtype("int64"),
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, np.dtype[Any]]:
        """Return the array API's dtypes. float16 and bfloat16 are not included, because the standard lacks them.

        Parameters
        ----------
        device : Device, str or int, optional
            Ignored: all devices have the same types.
        kind : str or tuple of str, optional
            Kinds of dtypes to return, named as for `isdtype`; defaults to all.

        Returns
        -------
        dict
            Dtypes by their names.
        """
        del device
        kinds = tuple(_KINDS) if kind is None else (kind,) if isinstance(kind, str) else kind
        parts = {part for element in kinds for part in _KIND_GROUPS.get(element, (element,))}
        if unknown := parts - set(_KINDS):
            raise ValueError(f"dtypes: no kind {sorted(unknown)[0]!r}; there are {', '.join([*_KINDS, *_KIND_GROUPS])}")
        return {name: np.dtype(name) for part, names in _KINDS.items() if part in parts for name in names}

    def devices(self) -> list[Any]:
        """Return the available devices.

        Returns
        -------
        list of Device
            All devices of the backend in use, and the CPU.
        """
        gpus = [_core.Device(index) for index in range(_core.device_count())]
        host = _core.Device("cpu")
        return gpus if host in gpus else [*gpus, host]


def __array_namespace_info__() -> ArrayNamespaceInfo:
    """Return the array API's inspection object, which lists devices, dtypes and capabilities.

    Returns
    -------
    ArrayNamespaceInfo
        Object with the methods `capabilities`, `default_device`, `default_dtypes`, `devices` and `dtypes`.

    Examples
    --------
    >>> import PyGPU
    >>> PyGPU.__array_namespace_info__().capabilities()["boolean indexing"]
    True
    """
    return ArrayNamespaceInfo()


public_values("Making arrays", "ndarray")
