"""Types of the native module; what the names mean stands in their docstrings at run time."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from inspect import Signature
from os import PathLike
from types import TracebackType
from typing import Any, ClassVar, Literal, NoReturn, Self, SupportsIndex, final, overload

import numpy
from numpy.typing import ArrayLike, DTypeLike, NDArray
from typing_extensions import Buffer, disjoint_base

from PyGPU._native.compiled.occupancy import Occupancy
from PyGPU._native.forked import ForkedArray
from PyGPU._sharing.handle import SharedHandle
from PyGPU.typing import AddressLike, Casting, CopyKind, DeviceLike, Key, Order, OrderACFK, ShapeLike, StreamLike

__all__ = [
    "BackendUnavailableError",
    "CompileError",
    "ConfiguredLauncher",
    "CudaError",
    "Device",
    "DeviceAllocation",
    "DriverRuntimeError",
    "ElementwiseKernel",
    "Error",
    "Event",
    "ExclusiveScanKernel",
    "Flags",
    "ForkError",
    "Function",
    "GPUArray",
    "Graph",
    "GraphBody",
    "GraphCondition",
    "GraphNode",
    "HostArgument",
    "InclusiveScanKernel",
    "InvalidValueError",
    "Kernel",
    "KernelArgument",
    "LaunchConfig",
    "LaunchError",
    "LaunchTimer",
    "Launcher",
    "LogicError",
    "Module",
    "NotSupportedError",
    "OutOfMemoryError",
    "PinnedMemory",
    "Reduction",
    "ReductionKernel",
    "References",
    "Stream",
    "Surface",
    "TensorMap",
    "Texture",
    "TextureArray",
    "Ufunc",
    "_ThreadsAllocator",
    "__version__",
    "_annotate",
    "_begin_range",
    "_bound_fusion_age",
    "_c_name",
    "_choose_allocator",
    "_count_waiting",
    "_dtype_of_c_name",
    "_end_range",
    "_fusion_figures",
    "_get_fusion",
    "_is_annotated",
    "_joined",
    "_limit_fusion",
    "_may_overlap",
    "_norm",
    "_order_by_event",
    "_restore",
    "_set_fusion",
    "_set_strict",
    "_watch_fusion",
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "address_range",
    "address_view",
    "advise_managed",
    "all",
    "allocate_device",
    "allocate_managed",
    "allocate_pitched",
    "amax",
    "amin",
    "angle",
    "any",
    "arange",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "argsort",
    "around",
    "array_at",
    "asarray",
    "asin",
    "asinh",
    "astype",
    "atan",
    "atan2",
    "atanh",
    "attach_managed",
    "backend_name",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "broadcast_to",
    "can_access_peer",
    "cbrt",
    "ceil",
    "clip",
    "compile_source",
    "config",
    "conj",
    "conjugate",
    "context_cache_preference",
    "context_handle",
    "context_limit",
    "copy_array",
    "copysign",
    "copyto",
    "cos",
    "cosh",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "current_device",
    "current_stream",
    "default_stream",
    "deg2rad",
    "degrees",
    "device_address",
    "device_attribute",
    "device_count",
    "device_properties",
    "divide",
    "divmod",
    "driver_version",
    "empty",
    "empty_like",
    "empty_like_pinned",
    "empty_pinned",
    "enable_peer_access",
    "equal",
    "erf",
    "erfc",
    "error_name",
    "error_text",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "fabs",
    "flip",
    "float_power",
    "floor",
    "floor_divide",
    "flush",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "from_dlpack",
    "from_pointer",
    "full",
    "full_like",
    "gamma",
    "gcd",
    "get_allocator",
    "greater",
    "greater_equal",
    "heaviside",
    "host_allocate",
    "host_cache_limit",
    "host_free",
    "host_register",
    "host_unregister",
    "hypot",
    "i0",
    "imag",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "lgamma",
    "link",
    "linspace",
    "load_source",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "matmul",
    "matvec",
    "max",
    "maximum",
    "mean",
    "memory_info",
    "memory_limit",
    "memory_release_threshold",
    "memory_statistics",
    "min",
    "minimum",
    "mod",
    "modf",
    "moveaxis",
    "multiply",
    "nan_to_num",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "ndarray_at",
    "negative",
    "nextafter",
    "not_equal",
    "ones",
    "ones_like",
    "open_shared_memory",
    "pinned_limit",
    "pointer_attributes",
    "positive",
    "pow",
    "power",
    "prefetch_managed",
    "prod",
    "ptp",
    "rad2deg",
    "radians",
    "raise_freed",
    "raw_allocate",
    "raw_allocate_async",
    "raw_allocate_managed",
    "raw_allocate_plain",
    "raw_copy",
    "raw_copy_rows",
    "raw_fill",
    "raw_free",
    "raw_free_async",
    "real",
    "reciprocal",
    "remainder",
    "reset_device",
    "right_shift",
    "rint",
    "round",
    "set_context_cache_preference",
    "set_context_limit",
    "set_default_device",
    "set_device",
    "set_host_cache_limit",
    "set_memory_limit",
    "set_memory_release_threshold",
    "set_pinned_limit",
    "share_memory",
    "show_config",
    "sign",
    "signbit",
    "sin",
    "sinc",
    "sinh",
    "sort",
    "spacing",
    "sqrt",
    "square",
    "std",
    "subtract",
    "sum",
    "synchronize",
    "tan",
    "tanh",
    "to_gpu",
    "to_gpu_async",
    "trim_memory",
    "true_divide",
    "trunc",
    "var",
    "vecdot",
    "vecmat",
    "where",
    "zeros",
    "zeros_like",
    "zeros_pinned",
]
__version__: str

class Error(Exception): ...

class CompileError(Error, RuntimeError):
    log: str
    source: str
    options: tuple[str, ...]
    compiler: str
    msg: str
    command_line: tuple[str, ...]
    stdout: str
    stderr: str

class CudaError(Error, RuntimeError):
    code: int
    name: str
    text: str
    operation: str
    device: str

class OutOfMemoryError(CudaError, MemoryError): ...
class LaunchError(CudaError): ...
class DriverRuntimeError(CudaError): ...
class LogicError(CudaError): ...
class InvalidValueError(LogicError, ValueError): ...
class NotSupportedError(Error, RuntimeError): ...
class BackendUnavailableError(Error, RuntimeError): ...
class ForkError(Error, RuntimeError): ...

@final
class Flags:
    @property
    def c_contiguous(self) -> bool: ...
    @property
    def f_contiguous(self) -> bool: ...
    @property
    def writeable(self) -> bool: ...
    @property
    def owndata(self) -> bool: ...
    @property
    def forc(self) -> bool: ...
    @property
    def fnc(self) -> bool: ...
    def __getitem__(self, key: str, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...

@disjoint_base
class GPUArray:
    def __new__(
        cls,
        shape: ShapeLike | NDArray[Any] | None = None,
        dtype: DTypeLike | None = None,
        allocator: Any = None,
        base: Any = None,
        gpudata: Any = None,
        strides: Sequence[SupportsIndex] | None = None,
        order: Order = None,
        *,
        copy: bool | None = None,
    ) -> Self: ...
    def __init__(self, *args: Any, **kwargs: Any) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def mem_size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def ptr(self) -> int: ...
    @property
    def gpudata(self) -> Any: ...
    @property
    def _as_parameter_(self) -> Any: ...
    def data_ptr(self) -> int: ...
    @property
    def base(self) -> Any: ...
    @property
    def device(self) -> Device: ...
    @property
    def flags(self) -> Flags: ...
    @property
    def host_array(self) -> NDArray[Any] | None: ...
    @property
    def T(self) -> Self: ...
    @property
    def mT(self) -> Self: ...
    def reshape(self, *shape: ShapeLike, order: OrderACFK = None) -> Self: ...
    def ravel(self, order: OrderACFK = None) -> Self: ...
    def flatten(self, order: OrderACFK = None) -> Self: ...
    def clip(self, min: Any = None, max: Any = None, out: GPUArray | None = None, **keywords: Any) -> GPUArray: ...
    def round(self, decimals: int = 0, out: GPUArray | None = None) -> GPUArray: ...
    def trace(
        self,
        offset: SupportsIndex = 0,
        axis1: SupportsIndex = 0,
        axis2: SupportsIndex = 1,
        dtype: DTypeLike | None = None,
        out: GPUArray | None = None,
    ) -> GPUArray: ...
    @property
    def allocator(self) -> Any: ...
    def squeeze(self, axis: ShapeLike | None = None) -> Self: ...
    def sum(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> GPUArray: ...
    def take(
        self, indices: Any, axis: int | None = None, out: GPUArray | None = None, mode: str = "raise"
    ) -> GPUArray: ...
    def put(self, indices: Any, values: Any, mode: str = "raise") -> None: ...
    def nonzero(self) -> tuple[GPUArray, ...]: ...
    def repeat(self, repeats: Any, axis: int | None = None) -> GPUArray: ...
    def choose(self, choices: Any, out: GPUArray | None = None, mode: str = "raise") -> GPUArray: ...
    def compress(self, condition: Any, axis: int | None = None, out: GPUArray | None = None) -> GPUArray: ...
    def prod(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> GPUArray: ...
    def min(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> GPUArray: ...
    def max(
        self, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> GPUArray: ...
    def any(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = None,
        stream: StreamLike = None,
        allocator: Callable[[int], Any] | None = None,
    ) -> GPUArray: ...
    def all(
        self,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = None,
        stream: StreamLike = None,
        allocator: Callable[[int], Any] | None = None,
    ) -> GPUArray: ...
    def mean(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        keepdims: bool = False,
        *,
        where: Any = None,
    ) -> GPUArray: ...
    def var(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        *,
        where: Any = None,
        correction: float | None = None,
    ) -> GPUArray: ...
    def std(
        self,
        axis: Any = None,
        dtype: DTypeLike | None = None,
        out: Any = None,
        ddof: float = 0.0,
        keepdims: bool = False,
        *,
        where: Any = None,
        correction: float | None = None,
    ) -> GPUArray: ...
    def argmin(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> GPUArray: ...
    def sort(
        self,
        axis: int = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool = False,
    ) -> None: ...
    def argsort(
        self,
        axis: int | None = -1,
        kind: str | None = None,
        order: None = None,
        *,
        stable: bool | None = None,
        descending: bool = False,
    ) -> Self: ...
    def dot(self, b: Any, out: GPUArray | None = None) -> GPUArray: ...
    def searchsorted(self, v: Any, side: str = "left", sorter: Any = None) -> GPUArray: ...
    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None) -> None: ...
    def argpartition(
        self, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
    ) -> GPUArray: ...
    def argmax(self, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> GPUArray: ...
    def cumsum(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None) -> GPUArray: ...
    def cumprod(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None) -> GPUArray: ...
    def transpose(self, *axes: ShapeLike | None) -> Self: ...
    def swapaxes(self, axis1: SupportsIndex, axis2: SupportsIndex) -> Self: ...
    def diagonal(self, offset: SupportsIndex = 0, axis1: SupportsIndex = 0, axis2: SupportsIndex = 1) -> Self: ...
    def view(self, dtype: DTypeLike | None = None) -> Self: ...
    def get(
        self,
        ary: NDArray[Any] | bool | None = None,
        pagelocked: bool = False,
        async_: bool = False,
        stream: StreamLike = None,
        *,
        copy: bool | None = None,
    ) -> NDArray[Any]: ...
    def get_async(self, stream: StreamLike = None, ary: NDArray[Any] | None = None) -> NDArray[Any]: ...
    def set(self, ary: ArrayLike, async_: bool = False, stream: StreamLike = None) -> None: ...
    def set_async(self, ary: ArrayLike, stream: StreamLike = None) -> None: ...
    @overload
    def to_device(self, device: None = None, /, *, stream: None = None) -> None: ...
    @overload
    def to_device(self, device: Device | str | int, /, *, stream: StreamLike = None) -> Self: ...
    def to_gpu(self) -> None: ...
    def to_host(self) -> None: ...
    def copy(self, order: OrderACFK = None, *, device: DeviceLike | None = None) -> Self: ...
    def astype(
        self,
        dtype: DTypeLike | None,
        order: OrderACFK = None,
        casting: Casting = "unsafe",
        subok: bool = True,
        copy: bool = True,
        *,
        stream: StreamLike = None,
    ) -> Self: ...
    def fill(self, value: Any, stream: StreamLike = None) -> Self: ...
    def item(self, *args: Any) -> Any: ...
    def tolist(self) -> Any: ...
    def share(self) -> SharedHandle: ...
    def _repr_html_(self) -> str: ...
    def record_stream(self, stream: StreamLike) -> None: ...
    def synchronize(self) -> None: ...
    def allocate(self) -> None: ...
    @property
    def flag_c_contiguous(self) -> int: ...
    @property
    def device_data(self) -> Any: ...
    @property
    def host_data(self) -> Any: ...
    def set_val(self, idx: SupportsIndex, val: Any) -> None: ...
    @property
    def last_status(self) -> Any: ...
    @last_status.setter
    def last_status(self, value: Any, /) -> None: ...
    @property
    def real(self) -> Self: ...
    @real.setter
    def real(self, value: Any, /) -> None: ...
    @property
    def imag(self) -> Self: ...
    @imag.setter
    def imag(self, value: Any, /) -> None: ...
    def conj(self, out: Self | None = None) -> Self: ...
    def conjugate(self, out: Self | None = None) -> Self: ...
    def bind_to_texref(self, texref: Any, allow_offset: bool = False) -> float: ...
    def bind_to_texref_ext(
        self,
        texref: Any,
        channels: int = 1,
        allow_double_hack: bool = False,
        allow_complex_hack: bool = False,
        allow_offset: bool = False,
    ) -> float: ...
    def reverse(self, stream: StreamLike = None) -> Self: ...
    def mul_add(
        self,
        selffac: Any,
        other: Any,
        otherfac: Any,
        add_timer: None = None,
        stream: StreamLike = None,
        out: Self | None = None,
    ) -> Self: ...
    @property
    def _grid(self) -> tuple[int, int]: ...
    @property
    def _block(self) -> tuple[int, int, int]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Self]: ...
    def __getitem__(self, key: Key, /) -> Self: ...
    def __setitem__(self, key: Key, value: Any, /) -> None: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __complex__(self) -> complex: ...
    def __index__(self) -> int: ...
    def __round__(self, ndigits: int | None = None) -> Any: ...
    def __format__(self, spec: str, /) -> str: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    __dlpack_c_exchange_api__: Any
    __pygpu_c_api__: Any
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    __array_priority__: float
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any: ...
    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...
    def __add__(self, value: Any, /) -> Any: ...
    def __radd__(self, value: Any, /) -> Any: ...
    def __iadd__(self, value: Any, /) -> Self: ...
    def __sub__(self, value: Any, /) -> Any: ...
    def __rsub__(self, value: Any, /) -> Any: ...
    def __isub__(self, value: Any, /) -> Self: ...
    def __mul__(self, value: Any, /) -> Any: ...
    def __rmul__(self, value: Any, /) -> Any: ...
    def __imul__(self, value: Any, /) -> Self: ...
    def __truediv__(self, value: Any, /) -> Any: ...
    def __rtruediv__(self, value: Any, /) -> Any: ...
    def __itruediv__(self, value: Any, /) -> Self: ...
    def __floordiv__(self, value: Any, /) -> Any: ...
    def __rfloordiv__(self, value: Any, /) -> Any: ...
    def __ifloordiv__(self, value: Any, /) -> Self: ...
    def __mod__(self, value: Any, /) -> Any: ...
    def __rmod__(self, value: Any, /) -> Any: ...
    def __imod__(self, value: Any, /) -> Self: ...
    def __divmod__(self, value: Any, /) -> Any: ...
    def __rdivmod__(self, value: Any, /) -> Any: ...
    def __matmul__(self, value: Any, /) -> Any: ...
    def __rmatmul__(self, value: Any, /) -> Any: ...
    def __imatmul__(self, value: Any, /) -> Self: ...
    def __lshift__(self, value: Any, /) -> Any: ...
    def __rlshift__(self, value: Any, /) -> Any: ...
    def __ilshift__(self, value: Any, /) -> Self: ...
    def __rshift__(self, value: Any, /) -> Any: ...
    def __rrshift__(self, value: Any, /) -> Any: ...
    def __irshift__(self, value: Any, /) -> Self: ...
    def __and__(self, value: Any, /) -> Any: ...
    def __rand__(self, value: Any, /) -> Any: ...
    def __iand__(self, value: Any, /) -> Self: ...
    def __or__(self, value: Any, /) -> Any: ...
    def __ror__(self, value: Any, /) -> Any: ...
    def __ior__(self, value: Any, /) -> Self: ...
    def __xor__(self, value: Any, /) -> Any: ...
    def __rxor__(self, value: Any, /) -> Any: ...
    def __ixor__(self, value: Any, /) -> Self: ...
    def __pow__(self, value: Any, mod: Any = None, /) -> Any: ...
    def __ipow__(self, value: Any, /) -> Self: ...  # type: ignore[misc]
    def __rpow__(self, value: Any, mod: Any = None, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __abs__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __eq__(self, value: object, /) -> Any: ...
    def __ne__(self, value: object, /) -> Any: ...
    def __lt__(self, value: Any, /) -> Any: ...
    def __le__(self, value: Any, /) -> Any: ...
    def __gt__(self, value: Any, /) -> Any: ...
    def __ge__(self, value: Any, /) -> Any: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: dict[int, Any], /) -> Self: ...
    def __dask_tokenize__(self) -> tuple[str, str]: ...
    def __setstate__(self, state: dict[str, Any], /) -> None: ...

def empty(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    order: Order | Any = None,
    allocator: Any = None,
    *,
    device: DeviceLike = None,
    shared: bool = False,
) -> GPUArray: ...
def zeros(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    order: Order | Any = None,
    allocator: Any = None,
    *,
    device: DeviceLike = None,
    shared: bool = False,
) -> GPUArray: ...
def ones(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    order: Order | Any = None,
    allocator: Any = None,
    *,
    device: DeviceLike = None,
) -> GPUArray: ...
def full(
    shape: ShapeLike,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: Order = None,
    *,
    device: DeviceLike = None,
    shared: bool = False,
) -> GPUArray: ...
def empty_like(
    other: GPUArray | ArrayLike,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    shape: ShapeLike | None = None,
    device: DeviceLike = None,
) -> GPUArray: ...
def zeros_like(
    other: GPUArray | ArrayLike,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    shape: ShapeLike | None = None,
    device: DeviceLike = None,
) -> GPUArray: ...
def ones_like(
    other: GPUArray | ArrayLike,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    shape: ShapeLike | None = None,
    device: DeviceLike = None,
) -> GPUArray: ...
def full_like(
    other: GPUArray | ArrayLike,
    fill_value: Any,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    shape: ShapeLike | None = None,
    device: DeviceLike = None,
) -> GPUArray: ...
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
    stream: StreamLike = None,
) -> GPUArray: ...
def linspace(
    start: Any,
    stop: Any,
    num: SupportsIndex | None = None,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike | None = None,
    *,
    device: DeviceLike = None,
) -> Any: ...
def astype(x: GPUArray, dtype: DTypeLike | None, /, *, copy: bool = True, device: DeviceLike = None) -> GPUArray: ...
def copyto(dst: GPUArray, src: Any, casting: Casting = "same_kind", where: Any = None) -> None: ...
def to_gpu(
    ary: ArrayLike | GPUArray,
    allocator: Callable[[int], Any] | None = None,
    *,
    device: DeviceLike = None,
    stream: StreamLike = None,
    progress: bool | Callable[[int, int], object] | None = None,
) -> GPUArray: ...
def to_gpu_async(
    ary: ArrayLike | GPUArray,
    allocator: Callable[[int], Any] | None = None,
    stream: StreamLike = None,
    *,
    device: DeviceLike = None,
) -> GPUArray: ...
def broadcast_to(a: GPUArray, shape: ShapeLike) -> GPUArray: ...
def expand_dims(a: GPUArray, axis: ShapeLike) -> GPUArray: ...
def moveaxis(a: GPUArray, source: ShapeLike, destination: ShapeLike) -> GPUArray: ...
def flip(a: GPUArray, axis: ShapeLike | None = None) -> GPUArray: ...
@overload
def where(condition: Any, x: Any, y: Any, /) -> GPUArray: ...
@overload
def where(condition: Any, /) -> tuple[GPUArray, ...]: ...
def _take(array: GPUArray, indices: GPUArray, axis: int, out: GPUArray | None, mode: str) -> GPUArray: ...
def _put(array: GPUArray, indices: GPUArray, values: GPUArray, mode: str) -> None: ...
def _nonzero(array: GPUArray) -> GPUArray: ...
def _apply_at(name: str, array: GPUArray, places: GPUArray, order: GPUArray, values: GPUArray | None) -> None: ...
def _by_numpy(name: str, array: GPUArray, given: tuple[Any, ...], keywords: dict[str, Any] | None = None) -> Any: ...
def _unique(
    array: GPUArray, starts: bool, places: bool, inverse: bool, nan_apart: bool
) -> tuple[GPUArray, GPUArray | None, GPUArray | None, GPUArray | None]: ...
def _searchsorted(sorted: GPUArray, values: GPUArray, right: bool) -> GPUArray: ...
def _counted(values: GPUArray, bins: int, edges: GPUArray | None = None) -> GPUArray: ...
def _sums_of_runs(weights: GPUArray, places: GPUArray, starts: GPUArray) -> GPUArray: ...

@final
class _RandomPlace:
    def __new__(cls, device: Device, key: Sequence[int], numbers: Sequence[int]) -> Self: ...
    def read(self) -> tuple[list[int], list[int]]: ...
    def write(self, key: Sequence[int], numbers: Sequence[int]) -> None: ...
    def leave(self) -> tuple[list[int], list[int]]: ...
    def made(
        self,
        size: ShapeLike,
        dtype: Any,
        distribution: str,
        bounds: tuple[int, int, int],
        scale: tuple[float, float],
    ) -> GPUArray | None: ...
    def draw(
        self,
        target: GPUArray,
        distribution: str,
        bounds: tuple[int, int, int],
        scale: tuple[float, float],
        means: GPUArray | None,
        there: GPUArray | None,
    ) -> bool: ...

def _philox(counter: Sequence[int], key: Sequence[int]) -> list[int]: ...
def _factorize(
    name: str, arrays: Sequence[GPUArray], batch: int, sizes: Sequence[int], first: bool, second: bool
) -> bool: ...
def _rand_library_version() -> int | None: ...
def _fft(
    name: str,
    a: Any,
    n: int | Sequence[int] | None,
    axis: int | Sequence[int] | None,
    norm: str | None,
    out: GPUArray | None,
    ours: bool = False,
) -> GPUArray: ...
def _fft_library_version() -> int | None: ...
def _rand_library_table(which: int, bytes: int) -> bytes: ...
def clip(a: Any, /, min: Any = None, max: Any = None, out: GPUArray | None = None, **keywords: Any) -> GPUArray: ...
def round(a: Any, /, decimals: int = 0, out: GPUArray | None = None) -> GPUArray: ...

around = round

def angle(z: Any, deg: bool = False) -> GPUArray: ...
def sort(
    a: GPUArray,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> GPUArray: ...
def argsort(
    a: GPUArray,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> GPUArray: ...
def nan_to_num(
    x: GPUArray, copy: bool = True, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> GPUArray: ...
def _set_strict(strict: bool) -> bool: ...
def _set_fusion(mode: str) -> str: ...
def _get_fusion() -> str: ...
def _fusion_figures() -> dict[str, Any]: ...
def _count_waiting() -> int: ...
def _bound_fusion_age(microseconds: int | None = None) -> None: ...
def _watch_fusion(is_begun: bool) -> None: ...
def _limit_fusion(
    *,
    nodes: int | None = None,
    results: int | None = None,
    held: int | None = None,
    arrays: int | None = None,
    outputs: int | None = None,
    meetings: int | None = None,
) -> None: ...
def flush() -> None: ...
def _annotate(which: str | None) -> str | None: ...
def _is_annotated() -> bool: ...
def _begin_range(name: str) -> bool: ...
def _end_range() -> None: ...
def _restore(
    class_: type[GPUArray], values: NDArray[Any], device: tuple[str, int] | None = None
) -> GPUArray | ForkedArray: ...

@final
class Reduction:
    @property
    def __name__(self) -> str: ...
    @property
    def __doc__(self) -> str: ...  # type: ignore[override]
    @property
    def __signature__(self) -> Signature: ...
    def __call__(self, a: GPUArray, /, *arguments: Any, **keywords: Any) -> GPUArray: ...

@final
class Ufunc:
    @property
    def __name__(self) -> str: ...
    @property
    def __doc__(self) -> str: ...  # type: ignore[override]
    @property
    def nin(self) -> int: ...
    @property
    def nout(self) -> int: ...
    @property
    def nargs(self) -> int: ...
    @property
    def types(self) -> list[str]: ...
    def __call__(self, *operands: Any, **keywords: Any) -> Any: ...
    def outer(self, *operands: Any, **keywords: Any) -> Any: ...
    def at(self, *operands: Any) -> None: ...
    def reduce(self, array: Any, axis: Any = 0, **keywords: Any) -> GPUArray: ...
    def accumulate(self, array: Any, axis: Any = 0, dtype: DTypeLike | None = None, out: Any = None) -> GPUArray: ...
    def reduceat(self, *operands: Any, **keywords: Any) -> Any: ...

all: Reduction
amax: Reduction
amin: Reduction
any: Reduction
argmax: Reduction
argmin: Reduction
max: Reduction
mean: Reduction
min: Reduction
prod: Reduction
std: Reduction
sum: Reduction
var: Reduction

def count_nonzero(a: GPUArray, axis: Any = None, *, keepdims: bool = False) -> GPUArray: ...
def _norm(a: GPUArray, order: int, axis: Any, keepdims: bool) -> GPUArray: ...
def cumprod(a: GPUArray, axis: Any = None, dtype: DTypeLike | None = None, out: GPUArray | None = None) -> GPUArray: ...
def cumsum(a: GPUArray, axis: Any = None, dtype: DTypeLike | None = None, out: GPUArray | None = None) -> GPUArray: ...
def matmul(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    axes: Any = None,
) -> GPUArray: ...
def matvec(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    axes: Any = None,
) -> GPUArray: ...
def vecmat(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    axes: Any = None,
) -> GPUArray: ...
def vecdot(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axis: int = -1,
    casting: str = "same_kind",
    order: str = "K",
    dtype: Any = None,
    axes: Any = None,
) -> GPUArray: ...
def nanargmax(a: GPUArray, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> GPUArray: ...
def nanargmin(a: GPUArray, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> GPUArray: ...
def nancumprod(
    a: GPUArray, axis: Any = None, dtype: DTypeLike | None = None, out: GPUArray | None = None
) -> GPUArray: ...
def nancumsum(
    a: GPUArray, axis: Any = None, dtype: DTypeLike | None = None, out: GPUArray | None = None
) -> GPUArray: ...
def nanmax(
    a: GPUArray, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> GPUArray: ...
def nanmean(
    a: GPUArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> GPUArray: ...
def nanmin(
    a: GPUArray, axis: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = None
) -> GPUArray: ...
def nanprod(
    a: GPUArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> GPUArray: ...
def nanstd(
    a: GPUArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0.0,
    keepdims: bool = False,
    *,
    where: Any = None,
    correction: float | None = None,
) -> GPUArray: ...
def nansum(
    a: GPUArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> GPUArray: ...
def nanvar(
    a: GPUArray,
    axis: Any = None,
    dtype: DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0.0,
    keepdims: bool = False,
    *,
    where: Any = None,
    correction: float | None = None,
) -> GPUArray: ...
def ptp(a: GPUArray, axis: Any = None, out: Any = None, keepdims: bool = False) -> GPUArray: ...

abs: Ufunc
absolute: Ufunc
acos: Ufunc
acosh: Ufunc
add: Ufunc
arccos: Ufunc
arccosh: Ufunc
arcsin: Ufunc
arcsinh: Ufunc
arctan: Ufunc
arctan2: Ufunc
arctanh: Ufunc
asin: Ufunc
asinh: Ufunc
atan: Ufunc
atan2: Ufunc
atanh: Ufunc
bitwise_and: Ufunc
bitwise_count: Ufunc
bitwise_invert: Ufunc
bitwise_left_shift: Ufunc
bitwise_not: Ufunc
bitwise_or: Ufunc
bitwise_right_shift: Ufunc
bitwise_xor: Ufunc
cbrt: Ufunc
ceil: Ufunc
conj: Ufunc
conjugate: Ufunc
copysign: Ufunc
cos: Ufunc
cosh: Ufunc
deg2rad: Ufunc
degrees: Ufunc
divide: Ufunc
divmod: Ufunc
equal: Ufunc
erf: Ufunc
erfc: Ufunc
exp: Ufunc
exp2: Ufunc
expm1: Ufunc
fabs: Ufunc
float_power: Ufunc
floor: Ufunc
floor_divide: Ufunc
fmax: Ufunc
fmin: Ufunc
fmod: Ufunc
frexp: Ufunc
gamma: Ufunc
gcd: Ufunc
greater: Ufunc
greater_equal: Ufunc
heaviside: Ufunc
hypot: Ufunc
i0: Ufunc
imag: Ufunc
invert: Ufunc
isfinite: Ufunc
isinf: Ufunc
isnan: Ufunc
lcm: Ufunc
ldexp: Ufunc
left_shift: Ufunc
less: Ufunc
less_equal: Ufunc
lgamma: Ufunc
log: Ufunc
log10: Ufunc
log1p: Ufunc
log2: Ufunc
logaddexp: Ufunc
logaddexp2: Ufunc
logical_and: Ufunc
logical_not: Ufunc
logical_or: Ufunc
logical_xor: Ufunc
maximum: Ufunc
minimum: Ufunc
mod: Ufunc
modf: Ufunc
multiply: Ufunc
negative: Ufunc
nextafter: Ufunc
not_equal: Ufunc
positive: Ufunc
pow: Ufunc
power: Ufunc
rad2deg: Ufunc
radians: Ufunc
real: Ufunc
reciprocal: Ufunc
remainder: Ufunc
right_shift: Ufunc
rint: Ufunc
sign: Ufunc
signbit: Ufunc
sin: Ufunc
sinc: Ufunc
sinh: Ufunc
spacing: Ufunc
sqrt: Ufunc
square: Ufunc
subtract: Ufunc
tan: Ufunc
tanh: Ufunc
true_divide: Ufunc
trunc: Ufunc

@final
class Device:
    def __new__(cls, index: DeviceLike = None) -> Self: ...
    @property
    def index(self) -> int: ...
    @property
    def id(self) -> int: ...
    @property
    def kind(self) -> Literal["cpu", "cuda", "hip"]: ...
    @property
    def name(self) -> str: ...
    @property
    def uuid(self) -> str: ...
    @property
    def properties(self) -> dict[str, Any]: ...
    def _repr_html_(self) -> str: ...
    @property
    def default_stream(self) -> Stream: ...
    def memory_info(self) -> tuple[int, int]: ...
    def synchronize(self) -> None: ...
    def make_current(self) -> None: ...
    def can_access_peer(self, other: DeviceLike) -> bool: ...
    def enable_peer_access(self, other: DeviceLike) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: type[BaseException] | BaseException | TracebackType | None) -> Literal[False]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class DeviceAllocation:
    def free(self) -> None: ...
    @property
    def ptr(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def _as_parameter_(self) -> Any: ...
    @property
    def _is_shared(self) -> bool: ...
    def as_buffer(self, size: SupportsIndex, offset: SupportsIndex = 0) -> memoryview: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __int__(self) -> int: ...
    def __index__(self) -> int: ...

@disjoint_base
class Stream:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(self, non_blocking: bool = False, priority: int = 0, device: DeviceLike = None) -> None: ...
    @staticmethod
    def from_handle(handle: int, device: DeviceLike = None, owner: Any = None) -> Stream: ...
    @property
    def _as_parameter_(self) -> Any: ...
    @property
    def handle(self) -> int: ...
    @property
    def device(self) -> Device: ...
    @property
    def is_default(self) -> bool: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool: ...
    def wait_event(self, event: Event) -> None: ...
    def wait_stream(self, other: StreamLike) -> None: ...
    def record(self, event: Event | None = None) -> Event: ...
    def launch_host_function(self, function: Callable[..., object], *arguments: object) -> None: ...
    def begin_capture(self, mode: Literal["relaxed", "thread_local", "global"] = "relaxed") -> None: ...
    def end_capture(self) -> Graph: ...
    @property
    def is_capturing(self) -> bool: ...
    def __cuda_stream__(self) -> tuple[int, int]: ...
    def __await__(self) -> Generator[Any]: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: type[BaseException] | BaseException | TracebackType | None) -> Literal[False]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Graph:
    def __new__(
        cls, stream: StreamLike = None, mode: Literal["relaxed", "thread_local", "global"] = "relaxed"
    ) -> Self: ...
    def __enter__(self) -> Self: ...
    def _repr_html_(self) -> str: ...
    def __exit__(self, *exception: object) -> bool: ...
    def launch(self, stream: StreamLike = None) -> None: ...
    def replay(self, stream: StreamLike = None) -> None: ...
    def upload(self, stream: StreamLike = None) -> None: ...
    def create_condition(self, default_value: int | None = None) -> GraphCondition: ...
    def if_then(self, condition: GraphCondition) -> GraphBody: ...
    def if_else(self, condition: GraphCondition) -> tuple[GraphBody, GraphBody]: ...
    def while_loop(self, condition: GraphCondition) -> GraphBody: ...
    def switch(self, condition: GraphCondition, count: int) -> tuple[GraphBody, ...]: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def nodes(self) -> list[GraphNode]: ...
    @overload
    def update(self, what: Graph, /) -> None: ...
    @overload
    def update(
        self,
        what: GraphNode,
        /,
        *arguments: Any,
        grid: int | Sequence[int] | None = None,
        block: int | Sequence[int] | None = None,
        shared: int | None = None,
        strided: bool = False,
    ) -> None: ...
    @property
    def device(self) -> Device: ...

@final
class GraphCondition(KernelArgument):
    @property
    def handle(self) -> int: ...
    @property
    def default_value(self) -> int | None: ...

@final
class GraphBody:
    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> bool: ...

@final
class GraphNode:
    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str | None: ...
    @property
    def index(self) -> int: ...

@disjoint_base
class Event:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        timing: bool = True,
        blocking_sync: bool = False,
        interprocess: bool = False,
        device: DeviceLike = None,
    ) -> None: ...
    @property
    def _as_parameter_(self) -> Any: ...
    @property
    def handle(self) -> int: ...
    @property
    def device(self) -> Device: ...
    def ipc_handle(self) -> bytearray: ...
    @staticmethod
    def from_ipc_handle(handle: Buffer) -> Event: ...
    def record(self, stream: StreamLike = None) -> Self: ...
    def synchronize(self) -> None: ...
    def query(self) -> bool: ...
    def elapsed_time(self, end: Event) -> float: ...
    def time_since(self, start: Event) -> float: ...
    def time_till(self, end: Event) -> float: ...
    def __await__(self) -> Generator[Any]: ...

@final
class PinnedMemory:
    @property
    def _as_parameter_(self) -> Any: ...
    @property
    def ptr(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def device(self) -> Device: ...

@final
class Kernel:
    def __new__(
        cls,
        source: str | bytes | bytearray | PathLike[str] | Sequence[str | PathLike[str]],
        name: str | None = None,
        options: str | Sequence[str] = (),
        *,
        compiler: str | None = None,
        extern_c: bool = False,
        cache: bool = True,
        device: DeviceLike = None,
        lineinfo: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Self: ...
    @overload
    def __getitem__(self, key: str, /) -> Kernel: ...
    @overload
    def __getitem__(self, key: tuple[Any, ...], /) -> Launcher: ...
    @overload
    def __getitem__(self, key: LaunchConfig, /) -> ConfiguredLauncher: ...
    def __call__(self, *_args: Any, **_kwargs: Any) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def device(self) -> Device: ...
    @property
    def handle(self) -> int: ...
    @property
    def parameters(self) -> tuple[str, ...] | None: ...
    @property
    def log(self) -> str: ...
    @property
    def registers(self) -> int: ...
    @property
    def shared(self) -> int: ...
    @property
    def local(self) -> int: ...
    @property
    def constant(self) -> int: ...
    @property
    def max_threads(self) -> int: ...
    @property
    def suggested_block(self) -> int: ...
    @property
    def num_regs(self) -> int: ...
    @property
    def shared_size_bytes(self) -> int: ...
    @property
    def local_size_bytes(self) -> int: ...
    @property
    def const_size_bytes(self) -> int: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def ptx_version(self) -> int: ...
    @property
    def binary_version(self) -> int: ...
    max_dynamic_shared_size_bytes: int
    preferred_shared_memory_carveout: int
    non_portable_cluster_size_allowed: bool
    @property
    def required_cluster(self) -> tuple[int, int, int] | None: ...
    def prepare(self, types: str | Sequence[Any]) -> Kernel: ...
    def set_cache_config(self, preference: int) -> None: ...
    def active_blocks(self, block: int | Sequence[int], shared: int = 0) -> int: ...
    def occupancy(self, block: int | Sequence[int], dynamic_shared: int = 0) -> Occupancy: ...
    def template(self, *arguments: Any) -> Kernel: ...
    def suggested_shape(self, shared: int = 0, limit: int = 0) -> tuple[int, int]: ...
    def max_cluster_size(self, block: int | Sequence[int], shared: int = 0) -> int: ...
    def max_active_clusters(self, config: LaunchConfig) -> int: ...

@final
class Launcher:
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

@final
class LaunchConfig:
    def __new__(
        cls,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        shared: int = 0,
        stream: StreamLike = None,
        *,
        cluster: int | Sequence[int] | None = None,
        cluster_scheduling_policy: str | None = None,
        cooperative: bool = False,
        programmatic_dependent_launch: bool = False,
        priority: int | None = None,
        preferred_shared_memory_carveout: int | None = None,
    ) -> Self: ...
    def replace(self, **changes: Any) -> LaunchConfig: ...
    @property
    def grid(self) -> tuple[int, int, int]: ...
    @property
    def block(self) -> tuple[int, int, int]: ...
    @property
    def shared(self) -> int: ...
    @property
    def stream(self) -> StreamLike: ...
    @property
    def cluster(self) -> tuple[int, int, int] | None: ...
    @property
    def cluster_scheduling_policy(self) -> str | None: ...
    @property
    def cooperative(self) -> bool: ...
    @property
    def programmatic_dependent_launch(self) -> bool: ...
    @property
    def priority(self) -> int | None: ...
    @property
    def preferred_shared_memory_carveout(self) -> int | None: ...

@final
class ConfiguredLauncher:
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...

@final
class Module:
    def __new__(
        cls,
        source: str | bytes | bytearray | PathLike[str] | Sequence[str | PathLike[str]],
        options: str | Sequence[str] = (),
        *,
        instances: Sequence[str] = (),
        compiler: str | None = None,
        extern_c: bool = False,
        cache: bool = True,
        device: DeviceLike = None,
        lineinfo: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> Self: ...
    @classmethod
    def from_file(cls, path: str | PathLike[str], *, device: DeviceLike = None) -> Self: ...
    @classmethod
    def from_bytes(cls, image: Buffer, *, device: DeviceLike = None) -> Self: ...
    def get_function(self, name: str) -> Kernel: ...
    def template(self, name: str, *arguments: Any) -> Kernel: ...
    def __getitem__(self, name: str, /) -> Kernel: ...
    def get_global(self, name: str) -> tuple[int, int]: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def image(self) -> bytes: ...
    @property
    def ptx(self) -> str: ...
    @property
    def sass(self) -> str: ...
    @property
    def assembly(self) -> str: ...
    @property
    def log(self) -> str: ...
    @property
    def device(self) -> Device: ...

@final
class TextureArray:
    def __new__(
        cls,
        shape: ShapeLike,
        dtype: DTypeLike = "float32",
        channels: int = 1,
        *,
        layered: bool = False,
        surface: bool = False,
        device: DeviceLike = None,
    ) -> Self: ...
    def set(self, source: ArrayLike | GPUArray, stream: StreamLike = None) -> None: ...
    def get(self, stream: StreamLike = None) -> NDArray[Any]: ...
    def to_gpu(self, stream: StreamLike = None) -> GPUArray: ...
    def _copy_box(
        self, memory: GPUArray, at: tuple[int, int, int], written: bool, stream: StreamLike = None
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> numpy.dtype[Any]: ...
    @property
    def channels(self) -> int: ...
    @property
    def layered(self) -> bool: ...
    @property
    def surface(self) -> bool: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def handle(self) -> int: ...
    @property
    def device(self) -> Device: ...

@final
class Texture:
    def __new__(
        cls,
        source: TextureArray | GPUArray,
        *,
        address_mode: str | Sequence[str] = "clamp",
        filter_mode: str = "point",
        read_mode: str = "element",
        normalized_coords: bool = False,
        border_color: float | Sequence[float] = 0.0,
        channels: int = 1,
    ) -> Self: ...
    @property
    def handle(self) -> int: ...
    @property
    def source(self) -> TextureArray | GPUArray: ...
    @property
    def device(self) -> Device: ...

@final
class Surface:
    def __new__(cls, array: TextureArray) -> Self: ...
    @property
    def handle(self) -> int: ...
    @property
    def source(self) -> TextureArray: ...
    @property
    def device(self) -> Device: ...

@disjoint_base
class KernelArgument:
    def __new__(cls, data: bytes, lenders: Sequence[tuple[object, bool]]) -> Self: ...
    def tobytes(self) -> bytes: ...

@final
class TensorMap(KernelArgument):
    def __new__(
        cls,
        array: GPUArray,
        box: int | Sequence[int],
        *,
        swizzle: str | None = None,
        interleave: str | None = None,
        element_strides: int | Sequence[int] | None = None,
        l2_promotion: str | None = None,
        oob_fill: str | None = "zero",
        readonly: bool = False,
    ) -> Self: ...
    @property
    def array(self) -> GPUArray: ...
    @property
    def box(self) -> tuple[int, ...]: ...
    @property
    def device(self) -> Device: ...

@final
class References:
    def __new__(cls, module: Module) -> Self: ...
    def size(self, name: str) -> int: ...
    def bind(self, name: str, value: Texture | Surface) -> None: ...
    def call_before_launch(self, function: Callable[[], object]) -> None: ...

@final
class LaunchTimer:
    def __call__(self, *args: Any, **kwargs: Any) -> float: ...

@final
class Function:
    def __new__(cls, kernel: Kernel, references: References | None = None) -> Self: ...
    def __call__(
        self,
        *args: Any,
        block: int | Sequence[int] | None = None,
        grid: int | Sequence[int] | None = None,
        stream: StreamLike = None,
        shared: int | None = None,
        texrefs: Sequence[Any] | None = None,
        time_kernel: bool | None = None,
        **others: Any,
    ) -> float | None: ...
    def prepare(self, arg_types: str | Sequence[Any], texrefs: Sequence[Any] | None = None) -> Self: ...
    def prepared_call(
        self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, shared_size: int = 0
    ) -> None: ...
    def prepared_async_call(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        stream: StreamLike,
        *args: Any,
        shared_size: int = 0,
    ) -> None: ...
    def prepared_timed_call(
        self, grid: int | Sequence[int], block: int | Sequence[int], *args: Any, shared_size: int = 0
    ) -> LaunchTimer: ...
    def get_attribute(self, attr: int) -> int: ...
    def set_attribute(self, attr: int, value: int) -> None: ...
    def set_cache_config(self, fc: int) -> None: ...
    def param_set_texref(self, tr: object) -> None: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def name(self) -> str: ...
    @property
    def handle(self) -> int: ...
    @property
    def max_threads_per_block(self) -> int: ...
    @property
    def shared_size_bytes(self) -> int: ...
    @property
    def const_size_bytes(self) -> int: ...
    @property
    def local_size_bytes(self) -> int: ...
    @property
    def num_regs(self) -> int: ...
    @property
    def ptx_version(self) -> int: ...
    @property
    def binary_version(self) -> int: ...
    @property
    def max_dynamic_shared_size_bytes(self) -> int: ...
    @property
    def preferred_shared_memory_carveout(self) -> int: ...

def load_source(
    text: str,
    options: str | Sequence[str] | None = None,
    compiler: str | None = None,
    extern_c: bool = False,
    cache: bool | str | PathLike[str] | None = None,
) -> Module: ...
def compile_source(
    text: str,
    options: str | Sequence[str] | None = None,
    compiler: str | None = None,
    extern_c: bool = False,
    cache: bool | str | PathLike[str] | None = None,
) -> tuple[bytes, str]: ...
def device_attribute(number: int, device: DeviceLike = None) -> int: ...
def context_limit(number: int) -> int: ...
def set_context_limit(number: int, value: int) -> None: ...
def context_cache_preference() -> int: ...
def set_context_cache_preference(preference: int) -> None: ...
def context_handle(device: DeviceLike = None) -> int: ...
def link(
    parts: Sequence[tuple[int, bytes, str]],
    max_registers: int | None = None,
    debug: bool = False,
    line_info: bool = False,
) -> tuple[bytes, str]: ...

@disjoint_base
class HostArgument:
    array: Any
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(self, array: Any) -> None: ...

def backend_name() -> Literal["cpu", "cuda", "hip"]: ...
def config() -> dict[str, Any]: ...
def show_config() -> None: ...
def device_count() -> int: ...
def current_device() -> int: ...
def set_default_device(device: DeviceLike) -> None: ...
def set_device(device: DeviceLike) -> None: ...
def synchronize(device: DeviceLike = None) -> None: ...
def reset_device(device: DeviceLike = None) -> None: ...
def device_properties(device: DeviceLike) -> dict[str, Any]: ...
def memory_info(device: DeviceLike = None) -> tuple[int, int]: ...
def driver_version() -> int: ...
def can_access_peer(device: DeviceLike, peer: DeviceLike) -> bool: ...
def enable_peer_access(device: DeviceLike, peer: DeviceLike) -> None: ...
def current_stream(device: DeviceLike = None) -> Stream: ...
def default_stream(device: DeviceLike = None) -> Stream: ...
def allocate_device(nbytes: SupportsIndex, device: DeviceLike = None) -> DeviceAllocation: ...
def raise_freed(name: str) -> NoReturn: ...
def allocate_pitched(
    width: SupportsIndex, height: SupportsIndex, access_size: SupportsIndex
) -> tuple[DeviceAllocation, int]: ...
def allocate_managed(nbytes: SupportsIndex, mem_flags: SupportsIndex) -> DeviceAllocation: ...
def attach_managed(memory: DeviceAllocation, mem_flags: SupportsIndex, stream: StreamLike) -> None: ...
def prefetch_managed(
    address: AddressLike, nbytes: SupportsIndex, device: SupportsIndex, stream: StreamLike
) -> None: ...
def advise_managed(address: AddressLike, nbytes: SupportsIndex, advice: str, device: SupportsIndex) -> None: ...
def address_range(address: AddressLike) -> tuple[int, int]: ...
def address_view(address: SupportsIndex, nbytes: SupportsIndex) -> memoryview: ...
def device_address(address: SupportsIndex) -> int: ...
def share_memory(address: AddressLike) -> bytearray: ...
def open_shared_memory(handle: Buffer) -> DeviceAllocation: ...
def array_at(
    address: AddressLike,
    shape: ShapeLike,
    dtype: DTypeLike,
    strides: Sequence[SupportsIndex] | None = None,
    stream: StreamLike = None,
    offset: SupportsIndex = 0,
) -> GPUArray: ...
def copy_array(target: GPUArray, source: GPUArray, stream: StreamLike) -> None: ...
def ndarray_at(
    owner: Any, address: SupportsIndex, shape: ShapeLike, dtype: DTypeLike, order: str = "C"
) -> NDArray[Any]: ...
def memory_statistics(device: DeviceLike = None) -> dict[str, int]: ...
def memory_release_threshold(device: DeviceLike = None) -> int: ...
def set_memory_release_threshold(nbytes: int, device: DeviceLike = None) -> None: ...
def set_memory_limit(nbytes: int | None, device: DeviceLike = None) -> None: ...
def memory_limit(device: DeviceLike = None) -> int | None: ...
def _choose_allocator(allocator: Any) -> None: ...
def get_allocator() -> Any: ...
def set_pinned_limit(nbytes: int, device: DeviceLike = None) -> None: ...
def pinned_limit() -> int: ...
def set_host_cache_limit(nbytes: int) -> None: ...
def host_cache_limit() -> int: ...
def trim_memory(keep: int = 0, device: DeviceLike = None) -> None: ...
def empty_pinned(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    portable: bool = False,
    mapped: bool = False,
    write_combined: bool = False,
    device: DeviceLike = None,
) -> NDArray[Any]: ...
def zeros_pinned(
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    order: Order = "C",
    *,
    portable: bool = False,
    mapped: bool = False,
    write_combined: bool = False,
    device: DeviceLike = None,
) -> NDArray[Any]: ...
def empty_like_pinned(
    ary: ArrayLike | GPUArray,
    *,
    portable: bool = False,
    mapped: bool = False,
    write_combined: bool = False,
    device: DeviceLike = None,
) -> NDArray[Any]: ...
def raw_allocate(nbytes: int, device: DeviceLike = None) -> int: ...
def raw_free(address: int) -> None: ...
def raw_allocate_plain(nbytes: int) -> int: ...
def raw_allocate_managed(nbytes: int, of_host: bool = False) -> int: ...
def raw_allocate_async(nbytes: int, stream: StreamLike) -> int: ...
def raw_free_async(address: int, stream: StreamLike) -> None: ...
def pointer_attributes(address: int) -> tuple[Literal["host", "device", "managed"], int, int, int] | None: ...
def raw_copy(
    dst: int, src: int, nbytes: int, kind: CopyKind = "default", stream: StreamLike = None, wait: bool = False
) -> None: ...
def raw_copy_rows(
    dst: int,
    dst_pitch: int,
    src: int,
    src_pitch: int,
    width: int,
    height: int,
    kind: CopyKind = "default",
    stream: StreamLike = None,
) -> None: ...
def raw_fill(dst: int, value: int, nbytes: int, stream: StreamLike = None) -> None: ...
def host_allocate(nbytes: int, portable: bool = False, mapped: bool = False, write_combined: bool = False) -> int: ...
def host_free(address: int) -> None: ...
def host_register(address: int, nbytes: int, portable: bool = False, mapped: bool = False) -> None: ...
def host_unregister(address: int) -> None: ...
def error_name(code: int) -> str: ...
def error_text(code: int) -> str: ...
def asarray(
    obj: Any,
    dtype: DTypeLike | None = None,
    order: OrderACFK = None,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
) -> GPUArray: ...
def from_dlpack(
    x: Any,
    /,
    *,
    device: DeviceLike = None,
    copy: bool | None = None,
    stream: StreamLike = None,
) -> GPUArray: ...
def from_pointer(
    address: AddressLike,
    shape: ShapeLike,
    dtype: DTypeLike | None = None,
    strides: ShapeLike | None = None,
    *,
    owner: Any = None,
    stream: StreamLike = None,
    device: DeviceLike = None,
    readonly: bool = False,
) -> GPUArray: ...

@final
class _ThreadsAllocator:
    def __new__(cls, allocator: Any, is_inherited: bool = False) -> Self: ...
    def put_back(self) -> None: ...

def _joined(parts: Sequence[Any], axis: int) -> GPUArray | None: ...
def _may_overlap(one: GPUArray, other: GPUArray) -> bool: ...
def _order_by_event(array: GPUArray, event: Event, record: bool) -> None: ...
def _c_name(dtype: DTypeLike) -> str | None: ...
def _dtype_of_c_name(name: str) -> numpy.dtype[Any] | None: ...

@disjoint_base
class ElementwiseKernel:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        arguments: str | Sequence[Any],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: str | Sequence[str] | None = None,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> None: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> list[str]: ...

@disjoint_base
class ReductionKernel:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        dtype_out: DTypeLike,
        neutral: str | complex,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Any] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: str | Sequence[str] | None = None,
        preamble: str = "",
    ) -> None: ...
    def __call__(self, *args: Any, **kwargs: Any) -> GPUArray: ...
    def __reduce__(self) -> tuple[Any, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> list[str]: ...

@disjoint_base
class InclusiveScanKernel:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        dtype: DTypeLike,
        scan_expr: str,
        neutral: str | complex | None = None,
        name_prefix: str = "scan",
        options: str | Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None: ...
    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | Literal["new"] | None = None,
        allocator: Callable[[int], Any] | None = None,
        stream: StreamLike = None,
    ) -> GPUArray: ...

@disjoint_base
class ExclusiveScanKernel:
    def __new__(cls, *args: Any, **kwargs: Any) -> Self: ...
    def __init__(
        self,
        dtype: DTypeLike,
        scan_expr: str,
        neutral: str | complex | None = None,
        name_prefix: str = "scan",
        options: str | Sequence[str] | None = None,
        preamble: str = "",
        devices: Any = None,
    ) -> None: ...
    def __call__(
        self,
        input_ary: GPUArray,
        output_ary: GPUArray | Literal["new"] | None = None,
        allocator: Callable[[int], Any] | None = None,
        stream: StreamLike = None,
    ) -> GPUArray: ...
