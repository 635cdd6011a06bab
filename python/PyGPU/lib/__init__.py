"""Parts of `numpy.lib` that compute with arrays: `stride_tricks`, and `scimath`, which is `PyGPU.emath`."""

from PyGPU._native.public import listing as _listing
from PyGPU.lib import scimath as scimath, stride_tricks as stride_tricks

__all__ = ["scimath", "stride_tricks"]


_listing.publish(globals())
