"""Define, for each public name, a call with a pending array.

For some names, guessed arguments are tried until a call succeeds. For the other names, tables contain the call.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from typing import Any

import PyGPU

Call = Callable[[Any, Any], Any]


def listed(names: str) -> set[str]:
    return set(names.split())


# Guesses of arguments, tried in turn until a call of a public function succeeds.
# `f` is the function, and `x` is a float64 array of shape (3, 3).
GUESSES: tuple[Call, ...] = (
    lambda f, x: f(x),
    lambda f, x: f(x, x),
    lambda f, x: f([x, x]),
    lambda f, x: f(x, 0),
    lambda f, x: f(x, 2),
    lambda f, x: f(x, 0, 1),
    lambda f, x: f(x, x, x),
    lambda f, x: f(x, [0, 1]),
    lambda f, x: f(x > 2, x),
    lambda f, _: f(),
    lambda f, _: f(3),
)


def whole(x: Any) -> Any:
    return x.astype("int64")


FUNCTIONS: dict[str, Call] = {
    "apply_along_axis": lambda f, x: f(lambda row: row.sum(), 0, x),
    "apply_over_axes": lambda f, x: f(PyGPU.sum, x, [0]),
    "bincount": lambda f, x: f(whole(x).ravel()),
    "broadcast_to": lambda f, x: f(x, (2, 3, 3)),
    "can_access_peer": lambda f, _: f(0, PyGPU.device_count() - 1) if PyGPU.device_count() > 1 else None,
    "unpackbits": lambda f, x: f(x.astype("uint8")),
    "unravel_index": lambda f, x: f(whole(x).ravel() % 9, (3, 3)),
    "vander": lambda f, x: f(x.ravel()),
    "compress": lambda f, x: f([True, False, True], x, 0),
    "convolve": lambda f, x: f(x[0], x[1]),
    "correlate": lambda f, x: f(x[0], x[1]),
    "cumulative_prod": lambda f, x: f(x, axis=0),
    "cumulative_sum": lambda f, x: f(x, axis=0),
    "device_properties": lambda f, _: f(0),
    "dsplit": lambda f, x: f(x.reshape(3, 1, 3), 3),
    "frombuffer": lambda f, _: f(b"12345678"),
    "histogram2d": lambda f, x: f(x.ravel(), x.ravel()),
    "histogramdd": lambda f, x: f(x),
    "info": lambda f, _: f(PyGPU.sum),
    "mintypecode": lambda f, _: f("d"),
    "polydiv": lambda f, x: f(x[0], x[1][:2]),
    "polyfit": lambda f, x: f(x[0], x[1], 1),
    "roots": lambda f, x: f(x[0]),
    "typename": lambda f, _: f("d"),
    "fromfunction": lambda f, _: f(lambda i, j: i + j, (3, 3)),
    "fromiter": lambda f, _: f(range(3), float),
    "fromstring": lambda f, _: f("1 2", sep=" "),
    "full": lambda f, _: f((3,), 2.0),
    "geomspace": lambda f, _: f(1, 9, 3),
    "iinfo": lambda f, _: f("int8"),
    "indices": lambda f, _: f((2, 2)),
    "interp": lambda f, x: f(x.ravel(), [0.0, 9.0], [0.0, 1.0]),
    "kaiser": lambda f, _: f(5, 2.0),
    "linspace": lambda f, _: f(0, 1, 3),
    "logspace": lambda f, _: f(0, 1, 3),
    "mask_indices": lambda f, _: f(3, PyGPU.triu),
    "loadtxt": lambda f, _: f(io.StringIO("1 2")),
    "genfromtxt": lambda f, _: f(io.StringIO("1 2")),
    "piecewise": lambda f, x: f(x, [x > 2], [1.0, 2.0]),
    "polymul": lambda f, x: f(x[0], x[1]),
    "put": lambda f, x: f(x, [0, 1], 5.0),
    "put_along_axis": lambda f, x: f(x, PyGPU.to_gpu([[0, 1, 2]]), 5.0, 0),
    "take_along_axis": lambda f, x: f(x, PyGPU.to_gpu([[0, 1, 2]]), 0),
    "ravel_multi_index": lambda f, x: f((whole(x) % 3, whole(x) % 2), (3, 3)),
    "reshape": lambda f, x: f(x, (9,)),
    "save": lambda f, x: f(io.BytesIO(), x),
    "savetxt": lambda f, x: f(io.StringIO(), x),
    "savez": lambda f, x: f(io.BytesIO(), x),
    "savez_compressed": lambda f, x: f(io.BytesIO(), x),
    "searchsorted": lambda f, x: f(x.ravel(), 3.0),
    "select": lambda f, x: f([x > 2], [x]),
    "set_host_cache_limit": lambda f, _: f(PyGPU.host_cache_limit()),
    "set_memory_limit": lambda f, _: f(None),
    "set_memory_release_threshold": lambda f, _: f(PyGPU.memory_release_threshold()),
    "set_pinned_limit": lambda f, _: f(PyGPU.pinned_limit()),
    "set_printoptions": lambda f, _: f(),
    "set_device": lambda f, _: f(0),
    "set_allocator": lambda f, _: f(None),
    "einsum": lambda f, x: f("ij,jk", x, x),
    "einsum_path": lambda f, x: f("ij,jk", x, x),
    "digitize": lambda f, x: f(x, [2.0, 5.0]),
    "fill_diagonal": lambda f, x: f(x, 0.0),
    "copyto": lambda f, x: f(x, 3.0),
    "place": lambda f, x: f(x, x > 2, [7.0]),
    "putmask": lambda f, x: f(x, x > 2, 7.0),
    "tile": lambda f, x: f(x, 2),
    "to_gpu_async": lambda f, _: f([1.0, 2.0], stream=PyGPU.Stream()),
    "synchronize": lambda f, _: f(),
}
for _name in ("and", "or", "xor", "left_shift", "right_shift"):
    FUNCTIONS[f"bitwise_{_name}"] = lambda f, x: f(whole(x), whole(x))
for _name in ("gcd", "lcm", "left_shift", "right_shift"):
    FUNCTIONS[_name] = lambda f, x: f(whole(x), whole(x))

# Public functions that the tests do not call: a call would change the process, or would need another process or files.
NOT_CALLED = {
    "enable_peer_access": "needs two devices, and stays: tests/backend/test_peer_copies.py",
    "open_shared": "needs another process: tests/gpu/test_ipc.py",
    "reset_device": "ends all arrays: test_exit_and_fork.py",
    "set_default_device": "would stay",
    "fromfile": "reads a file into new memory",
    "row_stack": "warns that NumPy has deprecated it",
    "setbufsize": "changes NumPy's settings",
    "seterr": "changes NumPy's settings",
    "seterrcall": "changes NumPy's settings",
    "load": "reads a file into new memory",
    "as_cupy": "hides an installed CuPy from the tests that follow",
} | ({"roots": "hipSOLVER has no eigenvalues of general matrices"} if PyGPU.backend_name() == "hip" else {})

# The tests read every attribute of an array. A method in this dictionary is also called,
# by the function of its entry, which passes suitable arguments.
METHODS: dict[str, Callable[[Any], Any]] = {
    "astype": lambda x: x.astype("float32"),
    "allocate": lambda x: x.allocate(),
    "argpartition": lambda x: x.argpartition(1),
    "choose": lambda x: whole(x).choose([1] * 20),
    "compress": lambda x: x.compress([True, False, True], 0),
    "dot": lambda x: x.dot(x),
    "dump": lambda x: x.dump(io.BytesIO()),
    "fill": lambda x: x.fill(3.0),
    "tofile": lambda x: x.tofile(os.devnull),
    "get_async": lambda x: (x.get_async(), PyGPU.synchronize())[0],
    "mul_add": lambda x: x.mul_add(2.0, x, 3.0),
    "partition": lambda x: x.partition(1),
    "put": lambda x: x.put([0], 5.0),
    "record_stream": lambda x: x.record_stream(PyGPU.Stream()),
    "repeat": lambda x: x.repeat(2),
    "reshape": lambda x: x.reshape(9),
    "scatter_add": lambda x: x.scatter_add(0, 2.0),
    "scatter_max": lambda x: x.scatter_max(0, 2.0),
    "scatter_min": lambda x: x.scatter_min(0, 2.0),
    "searchsorted": lambda x: x.ravel().searchsorted(2.0),
    "set": lambda x: x.set([[1.0] * 3] * 3),
    "set_async": lambda x: x.set_async([[1.0] * 3] * 3),
    "set_val": lambda x: x.set_val(0, 4.0),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "take": lambda x: x.take([0, 1]),
    "to_device": lambda x: x.to_device("cpu"),
    "view": lambda x: x.view("int64"),
    "__getitem__": lambda x: x[1:],
    "__setitem__": lambda x: x.__setitem__(0, 3.0),
    "__contains__": lambda x: 3.0 in x,
    "__float__": lambda x: float(PyGPU.sum(x)),
    "__int__": lambda x: int(PyGPU.sum(x)),
    "__bool__": lambda x: bool(PyGPU.sum(x)),
    "__complex__": lambda x: complex(PyGPU.sum(x)),
    "__index__": lambda x: (PyGPU.sum(whole(x))).__index__(),
    "__format__": lambda x: f"{x}",
    "__deepcopy__": lambda x: x.__deepcopy__({}),
    "__array_function__": lambda x: x.__array_function__(__import__("numpy").sum, (type(x),), (x,), {}),
    "__array_ufunc__": lambda x: __import__("numpy").add(x, x),
    "__lshift__": lambda x: whole(x) << 1,
    "__rlshift__": lambda x: 1 << whole(x),
    "__rshift__": lambda x: whole(x) >> 1,
    "__rrshift__": lambda x: 1 >> whole(x),
    "__and__": lambda x: whole(x) & 1,
    "__rand__": lambda x: 1 & whole(x),
    "__or__": lambda x: whole(x) | 1,
    "__ror__": lambda x: 1 | whole(x),
    "__xor__": lambda x: whole(x) ^ 1,
    "__rxor__": lambda x: 1 ^ whole(x),
    "__invert__": lambda x: ~whole(x),
    "__ilshift__": lambda x: whole(x).__ilshift__(1),
    "__irshift__": lambda x: whole(x).__irshift__(1),
    "__iand__": lambda x: whole(x).__iand__(1),
    "__ior__": lambda x: whole(x).__ior__(1),
    "__ixor__": lambda x: whole(x).__ixor__(1),
    "__reduce_ex__": lambda x: x.__reduce_ex__(2),
    "__rmatmul__": lambda x: x.__rmatmul__(x),
    "__matmul__": lambda x: x @ x,
    "__imatmul__": lambda x: x.__imatmul__(x),
}

# Public functions that neither enqueue work on a device nor query the device, so pending operations stay pending.
QUIET = listed(
    """
    array_split as_argtype as_pycuda atleast_1d atleast_2d atleast_3d backend_name base_repr binary_repr
    broadcast_arrays broadcast_shapes can_access_peer can_cast common_type config current_device
    current_stream default_stream device_count device_properties driver_version einsum_path empty empty_like
    empty_like_pinned empty_pinned finfo fliplr flipud format_float_positional format_float_scientific
    fusion_report get_allocator get_array_module get_include get_printoptions host_cache_limit hsplit iinfo
    iscomplexobj getbufsize geterr geterrcall info isdtype isfortran isrealobj isscalar issubdtype iterable
    ix_ memory_limit memory_release_threshold min_scalar_type mintypecode ndim typename permute_dims
    pinned_limit printoptions promote_types real_if_close result_type set_allocator set_host_cache_limit
    set_memory_release_threshold set_pinned_limit set_printoptions shape show_config size split transpose
    using_allocator vsplit zeros_pinned
    """
)

# Functions that only call ufuncs or reductions, whose operations PyGPU defers.
COMPOSED = listed(
    """
    angle around average clip corrcoef count_nonzero diff ediff1d fix fromfunction gradient histogram2d
    histogramdd interp isclose isin isneginf isposinf median nan_to_num nanmax nanmean nanmin nanpercentile
    nanprod nanquantile nansum nanvar norm outer percentile polyadd polyder polyint polysub polyval ptp
    quantile round sort_complex trapezoid tril triu unique_all unique_counts unwrap
    """
)

# Attributes that do not depend on the values of an array. Reading such an attribute does not flush.
QUIET_ATTRIBUTES = listed(
    """
    T __array_namespace__ __array_priority__ __class_getitem__ __dask_tokenize__ __dict__
    __dlpack_c_exchange_api__ __dlpack_device__ __getitem__ __iter__ __len__ __module__ __pygpu_c_api__
    __sizeof__ _block _grid allocate base conj conjugate device dtype flag_c_contiguous flags flat
    host_array host_data itemsize last_status mem_size nbytes ndim reduced_view shape size strides transpose
    """
)

# Operators and methods that PyGPU defers: a call records an operation and launches no kernel.
WAITING_ATTRIBUTES = listed(
    """
    __abs__ __add__ __and__ __array_function__ __array_ufunc__ __eq__ __floordiv__ __ge__ __gt__
    __invert__ __le__ __lshift__ __lt__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__ __radd__
    __rand__ __rfloordiv__ __rlshift__ __rmod__ __rmul__ __ror__ __round__ __rpow__ __rrshift__
    __rshift__ __rsub__ __rtruediv__ __rxor__ __sub__ __truediv__ __xor__ all any argmax argmin astype
    clip max mean min mul_add prod ptp round sum var
    """
)

# Attributes that raise an error for the tested array, whether operations are pending or not.
REFUSED_ATTRIBUTES = {
    "__array__": "an array of a GPU is not moved to the host without being asked",
    "__array_interface__": "likewise",
    "__delitem__": "arrays have no elements to be deleted",
    "__setstate__": "what unpickling calls: test_values.py",
    "bind_to_texref": "takes a texture reference of an old program",
    "bind_to_texref_ext": "likewise",
    "share": "takes memory that was made for that",
    "to_gpu": "of an array that has a host side",
}
