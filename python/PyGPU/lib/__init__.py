"""Parts of `numpy.lib` that compute with arrays: `stride_tricks`, and `scimath`, which is `PyGPU.emath`."""

from PyGPU._names import public_modules as _public_modules
from PyGPU.lib import scimath as scimath, stride_tricks as stride_tricks

__all__ = ["scimath", "stride_tricks"]


_public_modules.publish(globals())
