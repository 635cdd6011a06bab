"""PyCUDA's module ``pycuda.autoprimaryctx``, whose import makes the default device's context current.

PyGPU does not need this module, because it creates the primary context at its first use. The module exists for programs
that were written for PyCUDA.

Examples
--------
>>> import PyGPU.autoprimaryctx
>>> PyGPU.autoprimaryctx.context.get_device() == PyGPU.autoprimaryctx.device
True
"""

from PyGPU._names import public_modules as _public_modules
from PyGPU._pycuda.autoinit import context as context, device as device

__all__ = ["context", "device"]


_public_modules.publish(globals())
