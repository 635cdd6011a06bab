"""What arrays are, and not what is in them: types and places in memory; numbers that lose a part."""

from PyGPU._functions.inspection.components import fix, real_if_close, sort_complex
from PyGPU._functions.inspection.memory import isfortran, may_share_memory, shares_memory
from PyGPU._functions.inspection.types import common_type, min_scalar_type

__all__ = [
    "common_type",
    "fix",
    "isfortran",
    "may_share_memory",
    "min_scalar_type",
    "real_if_close",
    "shares_memory",
    "sort_complex",
]
