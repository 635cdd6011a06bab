"""PyCUDA's ``pycuda.autoinit``: makes the default device's context current until the end of the program.

PyGPU does not need it: the primary context is created at its first use. It exists for programs written for PyCUDA.

Examples
--------
>>> import PyGPU.autoinit
>>> PyGPU.autoinit.context.get_device() == PyGPU.autoinit.device
True
"""

from PyGPU._pycuda.autoinit import context as context, device as device

__all__ = ["context", "device"]
