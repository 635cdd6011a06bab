"""The functions of `PyGPU.emath` under the name of the module `numpy.lib.scimath`."""

from PyGPU._names import public_modules as _public_modules
from PyGPU.emath import *  # noqa: F403
from PyGPU.emath import __all__ as __all__

_public_modules.publish(globals())
