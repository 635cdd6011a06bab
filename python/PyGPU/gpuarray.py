"""PyCUDA's and PybindGPU's module `gpuarray`: the array class and functions that create and combine arrays.

The array class and its constructors are the same objects as in `PyGPU`. `minimum`, `where` and similar functions have
PyCUDA's arguments and dtypes in this module, and NumPy's in `PyGPU`. `HostAllocator`, `PagelockedAllocator` and
`UnsupportedDataType` are available in this module and not in `PyGPU`, as in PybindGPU.
"""

from typing import TYPE_CHECKING

from PyGPU import backend as backend
from PyGPU._core import (
    GPUArray as GPUArray,
    arange as arange,
    asarray as asarray,
    broadcast_to as broadcast_to,
    empty as empty,
    empty_like as empty_like,
    expand_dims as expand_dims,
    flip as flip,
    from_dlpack as from_dlpack,
    full as full,
    full_like as full_like,
    moveaxis as moveaxis,
    ones as ones,
    ones_like as ones_like,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
    zeros as zeros,
    zeros_like as zeros_like,
)
from PyGPU._pybindgpu.allocators import (
    Allocator as Allocator,
    HostAllocator as HostAllocator,
    PagelockedAllocator as PagelockedAllocator,
)
from PyGPU._pybindgpu.dtype_names import (
    SUPPORTED_DTYPES as SUPPORTED_DTYPES,
    UnsupportedDataType as UnsupportedDataType,
    dtype as dtype,
)
from PyGPU._pycuda.gpuarray.conditionals import (
    if_positive as if_positive,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    maximum as maximum,
    minimum as minimum,
    where as where,
)
from PyGPU._pycuda.gpuarray.reductions import (
    all as all,
    any as any,
    dot as dot,
    max as max,
    min as min,
    subset_dot as subset_dot,
    subset_max as subset_max,
    subset_min as subset_min,
    subset_sum as subset_sum,
    sum as sum,
)
from PyGPU._pycuda.gpuarray.shape import (
    concatenate as concatenate,
    reshape as reshape,
    splay as splay,
    stack as stack,
    transpose as transpose,
)
from PyGPU._pycuda.gpuarray.take_put import (
    multi_put as multi_put,
    multi_take as multi_take,
    multi_take_put as multi_take_put,
    take as take,
)
from PyGPU._pycuda.gpuarray.vector_dtypes import vec as vec

if not TYPE_CHECKING:
    from PyGPU._names import public_modules as _public_modules

    __all__ = ["backend", *_public_modules.listed(globals())]
    _public_modules.publish(globals())
