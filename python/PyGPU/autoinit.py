"""PyCUDA's ``pycuda.autoinit``: the default device's context, current from the import to the end of the program.

PyGPU needs none: the primary context is there at first use. It is for programs that are written for PyCUDA.

Examples
--------
>>> import PyGPU.autoinit
>>> PyGPU.autoinit.context.get_device() == PyGPU.autoinit.device
True
"""

from PyGPU._pycuda.autoinit import context as context, device as device

__all__ = ["context", "device"]
