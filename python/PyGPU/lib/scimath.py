"""The functions of `PyGPU.emath` under the name of the module `numpy.lib.scimath`."""

from PyGPU._native.public import listing as _listing
from PyGPU.emath import *  # noqa: F403
from PyGPU.emath import __all__ as __all__

_listing.publish(globals())
