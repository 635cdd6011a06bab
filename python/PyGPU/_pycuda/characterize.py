"""Functions of ``pycuda.characterize``, which report properties of device code."""

from __future__ import annotations

import sys

import numpy

from PyGPU._arguments.host_arguments import Out
from PyGPU._pycuda.tools.context import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]


def has_double_support() -> bool:
    """Return whether kernels can compute in float64: True, because all supported devices can.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU.characterize import has_double_support
    >>> has_double_support()
    True
    """
    return True


def has_stack() -> bool:
    """Return whether device functions have a stack: True, because all supported devices have one.

    Returns
    -------
    bool

    Examples
    --------
    >>> from PyGPU.characterize import has_stack
    >>> has_stack()
    True
    """
    return True


def platform_bits() -> int:
    """Return the width of the host's addresses in bits.

    Returns
    -------
    int

    Examples
    --------
    >>> from PyGPU.characterize import platform_bits
    >>> platform_bits()
    64
    """
    return 32 if sys.maxsize < 1 << 32 else 64


@context_dependent_memoize
def sizeof(type_name: str, preamble: str = "") -> int:
    """Return the size of a type in device code, in bytes; the compiler determines the size.

    Parameters
    ----------
    type_name : str
        Name of the type in CUDA C++.
    preamble : str, optional
        Source code that declares the type.

    Returns
    -------
    int
        Size in bytes.

    Examples
    --------
    >>> from PyGPU.characterize import sizeof
    >>> sizeof('float4')
    16
    """
    from PyGPU._pycuda.compiler.source import SourceModule

    source = (
        f'{preamble}\nextern "C" __global__ void write_size(unsigned long long *out) {{ *out = sizeof({type_name}); }}'
    )
    out = numpy.zeros((), numpy.uint64)
    SourceModule(source, no_extern_c=True).get_function("write_size")(Out(out), block=(1, 1, 1))
    return int(out)
