"""wip"""
from ._core import *
from ._core import GPUArray
