"""PyCUDA's ``pycuda.characterize``: what the platform has."""

from __future__ import annotations

import sys

import numpy

from PyGPU._native.host_arguments import Out
from PyGPU._pycuda.tools.context import context_dependent_memoize

__all__ = ["has_double_support", "has_stack", "platform_bits", "sizeof"]


def has_double_support() -> bool:
    """Tell whether kernels compute in float64: all that PyGPU runs on do.

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
    """Tell whether device functions have a stack: all that PyGPU runs on do.

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
    """Tell the width of the host's addresses.

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
    """Ask the compiler for the size of a type of device code.

    Parameters
    ----------
    type_name : str
        The type, as a source says it.
    preamble : str, optional
        Text before it that declares it.

    Returns
    -------
    int
        Bytes.

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
