"""A strided GPU array for Python: hold, move and share device memory without heavy baggage.

`import PyGPU as gpuarray` runs programs written for PybindGPU; `PyGPU.gpuarray` and its kin run those for PyCUDA.
Importing opens no driver and creates no context: the backend is chosen when it is first needed (see `show_config`).

The names of PybindGPU (``cuda*``, ``nvml*``, ``DeviceArray_float32`` and their kin) are loaded when first used.

Where to begin:

    a = PyGPU.to_gpu(x)                 an array on the device, of whatever NumPy makes an array of
    b = PyGPU.sin(a)[::2] + 1           computed there; names, types and errors are NumPy's
    b.get()                             back, as an ndarray
    PyGPU.median(a)                     as NumPy's, like most else that NumPy has; a.sum(), a @ b
    PyGPU.Module(source)["scale"]       a kernel of one's own, in CUDA C++
    torch.from_dlpack(a)                the same memory, for another library; PyGPU.from_dlpack(t) the other way
    PyGPU.show_config()                 what was found on this machine

``help(PyGPU.to_gpu)`` shows one name, ``dir(PyGPU)`` lists them. Modules: `gpuarray`, `driver`, `compiler`,
`elementwise`, `reduction`, `scan`, `cumath`, `curandom`, `tools` as PyCUDA has them; `random`, `linalg`, `fft` as NumPy
has them; `dask`, `profile`, `debug`, `typing`.
"""

from typing import TYPE_CHECKING

# First of all: it refuses a subinterpreter, before NumPy and the native module are taken away from the main one.
from PyGPU._native import interpreter as _interpreter  # noqa: F401

# isort: split
# Here and not when it is first needed: that may be in a daemon thread, and one that is ended in the middle of an import
# which a call of the native module started takes the process down with it.
import numpy as _numpy  # noqa: F401

# `x as x` says that the name is public here.
from PyGPU._core import (
    BackendUnavailableError as BackendUnavailableError,
    CompileError as CompileError,
    CudaError as CudaError,
    Device as Device,
    Event as Event,
    ForkError as ForkError,
    GPUArray as GPUArray,
    Graph as Graph,
    GraphBody as GraphBody,
    GraphCondition as GraphCondition,
    GraphNode as GraphNode,
    Kernel as Kernel,
    LaunchConfig as LaunchConfig,
    Module as Module,
    NotSupportedError as NotSupportedError,
    OutOfMemoryError as OutOfMemoryError,
    Reduction as Reduction,
    Stream as Stream,
    Surface as Surface,
    TensorMap as TensorMap,
    Texture as Texture,
    TextureArray as TextureArray,
    Ufunc as Ufunc,
    __version__ as __version__,
    abs as abs,
    absolute as absolute,
    acos as acos,
    acosh as acosh,
    add as add,
    all as all,
    amax as amax,
    amin as amin,
    angle as angle,
    any as any,
    arange as arange,
    arccos as arccos,
    arccosh as arccosh,
    arcsin as arcsin,
    arcsinh as arcsinh,
    arctan as arctan,
    arctan2 as arctan2,
    arctanh as arctanh,
    argmax as argmax,
    argmin as argmin,
    argsort as argsort,
    around as around,
    asarray as asarray,
    asin as asin,
    asinh as asinh,
    astype as astype,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    backend_name as backend_name,
    bitwise_and as bitwise_and,
    bitwise_count as bitwise_count,
    bitwise_invert as bitwise_invert,
    bitwise_left_shift as bitwise_left_shift,
    bitwise_not as bitwise_not,
    bitwise_or as bitwise_or,
    bitwise_right_shift as bitwise_right_shift,
    bitwise_xor as bitwise_xor,
    broadcast_to as broadcast_to,
    can_access_peer as can_access_peer,
    cbrt as cbrt,
    ceil as ceil,
    clip as clip,
    config as config,
    conj as conj,
    conjugate as conjugate,
    copysign as copysign,
    copyto as copyto,
    cos as cos,
    cosh as cosh,
    count_nonzero as count_nonzero,
    cumprod as cumprod,
    cumsum as cumsum,
    current_device as current_device,
    current_stream as current_stream,
    default_stream as default_stream,
    deg2rad as deg2rad,
    degrees as degrees,
    device_count as device_count,
    device_properties as device_properties,
    divide as divide,
    divmod as divmod,
    driver_version as driver_version,
    empty as empty,
    empty_like as empty_like,
    empty_like_pinned as empty_like_pinned,
    empty_pinned as empty_pinned,
    enable_peer_access as enable_peer_access,
    equal as equal,
    erf as erf,
    erfc as erfc,
    exp as exp,
    exp2 as exp2,
    expand_dims as expand_dims,
    expm1 as expm1,
    fabs as fabs,
    flip as flip,
    float_power as float_power,
    floor as floor,
    floor_divide as floor_divide,
    flush as flush,
    fmax as fmax,
    fmin as fmin,
    fmod as fmod,
    frexp as frexp,
    from_dlpack as from_dlpack,
    from_pointer as from_pointer,
    full as full,
    full_like as full_like,
    gamma as gamma,
    gcd as gcd,
    get_allocator as get_allocator,
    greater as greater,
    greater_equal as greater_equal,
    heaviside as heaviside,
    host_cache_limit as host_cache_limit,
    hypot as hypot,
    i0 as i0,
    imag as imag,
    invert as invert,
    isfinite as isfinite,
    isinf as isinf,
    isnan as isnan,
    lcm as lcm,
    ldexp as ldexp,
    left_shift as left_shift,
    less as less,
    less_equal as less_equal,
    lgamma as lgamma,
    linspace as linspace,
    log as log,
    log1p as log1p,
    log2 as log2,
    log10 as log10,
    logaddexp as logaddexp,
    logaddexp2 as logaddexp2,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    matmul as matmul,
    matvec as matvec,
    max as max,
    maximum as maximum,
    mean as mean,
    memory_info as memory_info,
    memory_limit as memory_limit,
    memory_release_threshold as memory_release_threshold,
    memory_statistics as memory_statistics,
    min as min,
    minimum as minimum,
    mod as mod,
    modf as modf,
    moveaxis as moveaxis,
    multiply as multiply,
    nan_to_num as nan_to_num,
    nanargmax as nanargmax,
    nanargmin as nanargmin,
    nancumprod as nancumprod,
    nancumsum as nancumsum,
    nanmax as nanmax,
    nanmean as nanmean,
    nanmin as nanmin,
    nanprod as nanprod,
    nanstd as nanstd,
    nansum as nansum,
    nanvar as nanvar,
    negative as negative,
    nextafter as nextafter,
    not_equal as not_equal,
    ones as ones,
    ones_like as ones_like,
    pinned_limit as pinned_limit,
    positive as positive,
    pow as pow,
    power as power,
    prod as prod,
    ptp as ptp,
    rad2deg as rad2deg,
    radians as radians,
    real as real,
    reciprocal as reciprocal,
    remainder as remainder,
    reset_device as reset_device,
    right_shift as right_shift,
    rint as rint,
    round as round,
    set_default_device as set_default_device,
    set_device as set_device,
    set_host_cache_limit as set_host_cache_limit,
    set_memory_limit as set_memory_limit,
    set_memory_release_threshold as set_memory_release_threshold,
    set_pinned_limit as set_pinned_limit,
    show_config as show_config,
    sign as sign,
    signbit as signbit,
    sin as sin,
    sinc as sinc,
    sinh as sinh,
    sort as sort,
    spacing as spacing,
    sqrt as sqrt,
    square as square,
    std as std,
    subtract as subtract,
    sum as sum,
    synchronize as synchronize,
    tan as tan,
    tanh as tanh,
    to_gpu as to_gpu,
    to_gpu_async as to_gpu_async,
    trim_memory as trim_memory,
    true_divide as true_divide,
    trunc as trunc,
    var as var,
    vecdot as vecdot,
    vecmat as vecmat,
    where as where,
    zeros as zeros,
    zeros_like as zeros_like,
    zeros_pinned as zeros_pinned,
)
from PyGPU._native.host_arguments import In as In, InOut as InOut, Out as Out

if TYPE_CHECKING:
    from PyGPU import (
        allocators as allocators,
        autoinit as autoinit,
        autoprimaryctx as autoprimaryctx,
        backend as backend,
        characterize as characterize,
        compiler as compiler,
        cumath as cumath,
        curandom as curandom,
        dask as dask,
        device_array as device_array,
        driver as driver,
        elementwise as elementwise,
        fft as fft,
        gpuarray as gpuarray,
        linalg as linalg,
        nvml as nvml,
        profile as profile,
        random as random,
        reduction as reduction,
        runtime as runtime,
        scan as scan,
        tools as tools,
        typing as typing,
    )
    from PyGPU._functions.calculus import *  # noqa: F403
    from PyGPU._functions.comparison import *  # noqa: F403
    from PyGPU._functions.creation import *  # noqa: F403
    from PyGPU._functions.differences import *  # noqa: F403
    from PyGPU._functions.grids import *  # noqa: F403
    from PyGPU._functions.histograms import *  # noqa: F403
    from PyGPU._functions.indexing import *  # noqa: F403
    from PyGPU._functions.inspection import *  # noqa: F403
    from PyGPU._functions.joining import *  # noqa: F403
    from PyGPU._functions.manipulation import *  # noqa: F403
    from PyGPU._functions.masks import *  # noqa: F403
    from PyGPU._functions.matrices import *  # noqa: F403
    from PyGPU._functions.modification import *  # noqa: F403
    from PyGPU._functions.padding import *  # noqa: F403
    from PyGPU._functions.products import *  # noqa: F403
    from PyGPU._functions.quantiles import *  # noqa: F403
    from PyGPU._functions.searching import *  # noqa: F403
    from PyGPU._functions.selection import *  # noqa: F403
    from PyGPU._functions.sets import *  # noqa: F403
    from PyGPU._functions.shapes import *  # noqa: F403
    from PyGPU._functions.splitting import *  # noqa: F403
    from PyGPU._functions.statistics import *  # noqa: F403
    from PyGPU._fusion.mode import fusion as fusion
    from PyGPU._fusion.report import fusion_report as fusion_report
    from PyGPU._linalg.norms import norm as norm
    from PyGPU._native.allocator import set_allocator as set_allocator, using_allocator as using_allocator
    from PyGPU._native.argtypes import as_argtype as as_argtype
    from PyGPU._native.lent_addresses import Struct as Struct, pointers as pointers
    from PyGPU._native.paths import get_include as get_include
    from PyGPU._protocols.data_types import *  # noqa: F403
    from PyGPU._protocols.namespace import (
        __array_api_version__ as __array_api_version__,
        __array_namespace_info__ as __array_namespace_info__,
        get_array_module as get_array_module,
        ndarray as ndarray,
    )
    from PyGPU._protocols.numpys_own import *  # noqa: F403
    from PyGPU._pybindgpu.labels import SUPPORTED_DTYPES as SUPPORTED_DTYPES
    from PyGPU._pycuda.alias import as_pycuda as as_pycuda
    from PyGPU._sharing.arrays import open_shared as open_shared
    from PyGPU._sharing.handle import SharedHandle as SharedHandle
    from PyGPU.allocators import Allocator as Allocator
    from PyGPU.backend import *  # noqa: F403
else:
    # Hidden from type checkers, to which any name would be there.
    def __getattr__(name: str):
        # A submodule or one of PybindGPU's names; kept afterwards, so that this runs once for each.
        if name.startswith("_") and name not in ("__all__", "__array_api_version__", "__array_namespace_info__"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from PyGPU._protocols import lazy_names

        if name == "__all__":
            # `help(PyGPU)` is its beginning, not thirty thousand lines of everything.
            is_help = lazy_names.is_asked_by("pydoc")
            return [] if is_help else lazy_names.everything()
        value = globals()[name] = lazy_names.find(name)
        return value

    def __dir__() -> list[str]:
        from PyGPU._protocols import lazy_names

        return lazy_names.shown()
