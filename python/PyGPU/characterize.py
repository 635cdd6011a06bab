"""PyCUDA's ``pycuda.characterize`` over PyGPU: what the current device and its compiler are."""

from __future__ import annotations

import sys

import numpy

from PyGPU import driver
from PyGPU.compiler import SourceModule
from PyGPU.tools import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]


def has_double_support() -> bool:
    """Return whether the current device computes in double precision.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU.characterize import has_double_support
    >>> has_double_support()
    True
    """
    device = driver.Context.get_device()
    return device.native.kind != "cuda" or device.compute_capability() >= (1, 3)


def has_stack() -> bool:
    """Return whether the current device has a stack, so that its functions may call themselves.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU.characterize import has_stack
    >>> has_stack()
    True
    """
    device = driver.Context.get_device()
    return device.native.kind != "cuda" or device.compute_capability() >= (2, 0)


def platform_bits() -> int:
    """Return the bits of an address.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.characterize import platform_bits
    >>> platform_bits()
    64
    """
    return sys.maxsize.bit_length() + 1


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the bytes of a type in device code; a small kernel is compiled and asked.

    Parameters
    ----------
    type_name : str
        In C.
    preamble : str, optional
        What declares it, in C.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.characterize import sizeof
    >>> sizeof("double2")  # doctest: +SKIP
    16
    """
    source = (
        f'{preamble}\nextern "C" __global__ void size_of(unsigned long long *out) {{ *out = sizeof({type_name}); }}\n'
    )
    size = numpy.zeros(1, numpy.uint64)
    SourceModule(source, no_extern_c=True).get_function("size_of")(driver.Out(size), block=(1, 1, 1))
    return int(size[0])
