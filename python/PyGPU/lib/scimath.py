"""The functions of `PyGPU.emath` under the name of the module `numpy.lib.scimath`."""

from PyGPU.emath import *  # noqa: F403
from PyGPU.emath import __all__ as __all__
