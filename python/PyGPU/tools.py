"""PyCUDA's ``pycuda.tools`` over PyGPU: a list of names; what they are is said where they are made."""

from __future__ import annotations

from PyGPU._c_types import ScalarArg as ScalarArg
from PyGPU._c_types import VectorArg as VectorArg
from PyGPU._c_types import dtype_to_ctype as dtype_to_ctype
from PyGPU._c_types import get_arg_type as get_arg_type
from PyGPU._c_types import get_or_register_dtype as get_or_register_dtype
from PyGPU._c_types import parse_c_arg as parse_c_arg
from PyGPU._c_types import register_dtype as register_dtype
from PyGPU._context_tools import *  # noqa: F403
from PyGPU._device_data import *  # noqa: F403
from PyGPU._memory_pools import *  # noqa: F403
