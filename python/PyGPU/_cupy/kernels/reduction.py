"""CuPy's class `ReductionKernel`, a kernel that reduces along axes by C++ expressions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.kernels.arguments import ArrayForm, as_array, extent, first_element, scalar_cast
from PyGPU._cupy.kernels.c_text import tokens
from PyGPU._cupy.kernels.cached_sources import CachedSources
from PyGPU._cupy.kernels.parameters import TypeMap, check_kernel_name, parse_parameters, resolve
from PyGPU._cupy.kernels.reduction_plan import Nest, combine_axes, kept_shape, plan_threads, reduced_axes
from PyGPU._cupy.kernels.reduction_source import (
    ReductionText,
    axis_source,
    compile_text,
    finish_source,
    state_dtype,
    total_kernel,
)

__all__ = ["ReductionKernel"]

_Array = _core.GPUArray
_SHORT = 1 << 31
# Maximum number of elements that one launch reduces to one value. More elements are reduced by two launches, the first
# of which uses the whole device.
_FEW = 1 << 13
# Maximum number of launches that a kernel keeps for calls with arrays of the same dtypes, shapes and strides.
_MOST_LAUNCHES = 64
_MOST_BLOCKS = (1 << 31) - 1
# Maximum number of threads of a block, by backend. The CPU backend runs the threads of a block one after another.
_THREADS = {"cuda": 512, "hip": 256, "cpu": 16}


@dataclass(frozen=True)
class _PreparedLaunch:
    """Launch for inputs of one set of dtypes, shapes and strides."""

    native: Any
    plan: tuple[Any, ...]
    """Arguments that follow the inputs and outputs."""
    outputs: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
    """Shape and dtype of each output."""
    grid: int
    block: int

    def __call__(self, inputs: Sequence[Any]) -> Any:
        """Allocate the outputs, launch, and return the first output."""
        outputs = [_core.empty(shape, dtype) for shape, dtype in self.outputs]
        self.native(*inputs, *outputs, *self.plan, grid=self.grid, block=self.block)
        return outputs[0]


class ReductionKernel(CachedSources):
    """Kernel that reduces arrays along axes by C++ expressions.

    Parameters
    ----------
    in_params, out_params : str
        Declarations of inputs and outputs, as for `ElementwiseKernel`.
    map_expr : str
        Expression for the value of an element, such as ``'x * x'``.
    reduce_expr : str
        Expression that combines two values ``a`` and ``b``, such as ``'a + b'``. It must be associative and
        commutative.
    post_map_expr : str
        Expression that assigns the reduced value ``a`` to the outputs, such as ``'y = sqrt(a)'``, or ``'y = a.sum'``.
    identity : str or number or None
        Reduced value of an array without elements; with None, such an array raises an error.
    name : str, optional
        Name of the kernel in profilers.
    reduce_type : str, optional
        C++ type of the reduced values; defaults to the type of the first output.
    reduce_dims : bool, optional
        Accepted for compatibility with CuPy; it has no effect, because PyGPU merges axes itself.
    preamble : str, optional
        Code before the kernel: functions, types, macros.
    options : tuple of str, optional
        Options of the compiler.

    Raises
    ------
    ValueError
        If a declaration or the name is invalid.

    Notes
    -----
    ``kernel(*inputs, *outputs, out=None, axis=None, keepdims=False, stream=None, block_size=None)`` launches and
    returns the first output, as in CuPy. Outputs are allocated if the call does not pass them. ``_in_ind.size()`` and
    ``_out_ind.size()`` are the numbers of elements and of results.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> from PyGPU import cupy
    >>> norm = cupy.ReductionKernel('T x', 'T y', 'x * x', 'a + b', 'y = sqrt(a)', '0', 'norm')
    >>> x = PyGPU.to_gpu(np.array([[3, 4], [6, 8]], dtype=np.float32))
    >>> norm(x, axis=1).tolist()
    [5.0, 10.0]
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        map_expr: str,
        reduce_expr: str,
        post_map_expr: str,
        identity: Any,
        name: str = "reduce_kernel",
        reduce_type: str | None = None,
        reduce_dims: bool = True,
        preamble: str = "",
        options: tuple[str, ...] = (),
    ) -> None:
        check_kernel_name(name)
        self.in_params = parse_parameters(in_params, True)
        self.out_params = parse_parameters(out_params, False)
        if not self.out_params:
            raise ValueError(f"ReductionKernel {name} has no output: declare one, such as 'T y'")
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.name = self.__name__ = name
        self.identity = "" if identity is None else str(identity)
        self.map_expr, self.reduce_expr, self.post_map_expr = map_expr, reduce_expr, post_map_expr
        self.reduce_type = self.out_params[0].ctype if reduce_type is None else reduce_type
        self.reduce_dims, self.preamble, self.options = reduce_dims, preamble, tuple(options)
        self._text = ReductionText(
            name, map_expr, reduce_expr, post_map_expr, self.identity, self.reduce_type, preamble, self.options
        )
        self._state = (in_params, out_params, map_expr, reduce_expr, post_map_expr, identity, name, reduce_type)
        first = self.out_params[0].name
        self._is_plain_end = self.nout == 1 and tokens(post_map_expr.rstrip("; \n")) == [first, "=", "a"]
        self._has_raw = any(one.raw for one in (*self.in_params, *self.out_params))
        self._types: dict[tuple[Any, ...], TypeMap] = {}
        self._kernels: dict[tuple[Any, ...], Any] = {}
        self._launches: dict[tuple[Any, ...], _PreparedLaunch] = {}
        super().__init__()

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        axis: Any = None,
        keepdims: bool = False,
        stream: Any = None,
        block_size: int | None = None,
    ) -> Any:
        """Launch the kernel, and return its first output."""
        is_plain = out is None and stream is None and block_size is None
        key = self._launch_key(args, axis, keepdims) if is_plain else None
        if key is not None and (prepared := self._launches.get(key)) is not None:
            return prepared(args)
        inputs, outputs = self._arguments(args, out)
        if block_size is not None and block_size <= 0:
            raise ValueError(f"block_size must be greater than zero, and is {block_size}")
        shapes = [
            one.shape
            for one, parameter in zip(inputs, self.in_params, strict=True)
            if isinstance(one, _Array) and not parameter.raw
        ]
        if not shapes:
            raise ValueError(f"Loop size is undecided. {self.name} needs an input that is an array and not raw")
        shape = shapes[0] if shapes.count(shapes[0]) == len(shapes) else np.broadcast_shapes(*shapes)
        types = self._resolve(inputs, outputs)
        reduced = reduced_axes(axis, len(shape))
        out_shape = kept_shape(shape, reduced, keepdims)
        if not outputs:
            if any(one.raw for one in self.out_params):
                raise ValueError("Output array size is Undecided: give the raw outputs as arguments")
            outputs = [_core.empty(out_shape, dtype) for dtype in types.outputs]
        for parameter, array in zip(self.out_params, outputs, strict=True):
            if not parameter.raw and array.shape != out_shape:
                raise ValueError(
                    f"Out shape is mismatched: {parameter.name} has the shape {array.shape}, and the result {out_shape}"
                )
        result = outputs[0]
        if 0 in out_shape:
            return result
        if not self.identity and 0 in shape:
            raise ValueError(
                f"zero-size array to reduction operation {self.name} which has no identity: the shape is {shape}, "
                f"reduced along the axes {reduced}"
            )
        for position, dtype in enumerate(types.inputs):
            if not isinstance(inputs[position], _Array):
                cast = scalar_cast(type(inputs[position]), dtype)
                inputs[position] = inputs[position] if cast is None else cast(inputs[position])
        state = state_dtype(self._text, types)
        is_total = len(reduced) == len(shape) and not (self._has_raw or self._text.has_positions)
        if is_total and state is not None and block_size is None and math.prod(shape) > _FEW:
            self._reduce_all(inputs, outputs, types, state, shape, stream)
            return result
        prepared = self._reduce_axes(inputs, outputs, types, shape, reduced, stream, block_size)
        if key is not None and len(self._launches) < _MOST_LAUNCHES:
            self._launches[key] = prepared
        return result

    def _launch_key(self, args: Sequence[Any], axis: Any, keepdims: bool) -> tuple[Any, ...] | None:
        """Return the key of a prepared launch, or None if the call needs all checks."""
        if len(args) != self.nin or self._has_raw or not (axis is None or isinstance(axis, int | tuple)):
            return None
        key: list[Any] = [axis, keepdims, _core.Device().index]
        for one in args:
            if type(one) is not _Array:
                return None
            key += (one.dtype, one.shape, one.strides)
        return tuple(key)

    def _arguments(self, args: Sequence[Any], out: Any) -> tuple[list[Any], list[Any]]:
        if len(args) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name}. It must be either {self.nin} or {self.nargs} (with "
                f"outputs), but given {len(args)}."
            )
        inputs, outputs = [as_array(one) for one in args[: self.nin]], [as_array(one) for one in args[self.nin :]]
        if out is not None:
            if self.nout != 1:
                raise NotImplementedError(
                    f"out= is for one output, and {self.name} has {self.nout}: give them as arguments"
                )
            if outputs:
                raise ValueError("cannot specify 'out' as both a positional and keyword argument")
            outputs = [as_array(out)]
        if not all(isinstance(one, _Array) for one in outputs):
            raise TypeError("Output arguments type must be cupy.ndarray: an output is an array on the device")
        return inputs, outputs

    def _resolve(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> TypeMap:
        key = tuple([one.dtype if isinstance(one, _Array) else None for one in (*inputs, *outputs)])
        types = self._types.get(key)
        if types is None:
            types = resolve(self.in_params, self.out_params, key[: self.nin], [one.dtype for one in outputs])
            self._types[key] = types
        return types

    def _kernel(self, key: tuple[Any, ...], build: Callable[[], Any]) -> Any:
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = self._kernels.setdefault(key, build())
        return kernel

    def _reduce_all(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        types: TypeMap,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        stream: Any,
    ) -> None:
        """Reduce all elements to one value by PyGPU's `ReductionKernel`, then apply the user's `post_map_expr`."""
        is_array = tuple([isinstance(one, _Array) for one in inputs])
        text, params = self._text, (*self.in_params, *self.out_params)
        total = self._kernel(
            ("total", types, is_array), lambda: total_kernel(text, self.in_params, types, is_array, dtype)
        )
        if self._is_plain_end and types.outputs[0] == dtype and outputs[0].flags.writeable:
            self._record(types, is_array, f"{text.map_expr}; {text.reduce_expr}; {text.post_map_expr}")
            total(*inputs, out=outputs[0], stream=stream)
            return
        state = total(*inputs, stream=stream)
        device = _core.Device().index

        def build() -> Any:
            source = finish_source(text, params, self.nin, types, is_array)
            self._record(types, is_array, source)
            return compile_text(source, text, device)

        finish = self._kernel(("finish", types, is_array, device), build)
        scalars = [one for one, array in zip(inputs, is_array, strict=True) if not array]
        finish(state, *scalars, *outputs, math.prod(shape), grid=1, block=1, stream=stream)

    def _reduce_axes(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        types: TypeMap,
        shape: tuple[int, ...],
        reduced: tuple[int, ...],
        stream: Any,
        block_size: int | None,
    ) -> _PreparedLaunch:
        """Reduce along axes by a kernel whose blocks compute several results; return the launch."""
        params = (*self.in_params, *self.out_params)
        args = [*inputs, *outputs]
        kept_nest, reduced_nest = self._nests(args, shape, reduced)
        device = _core.Device()
        threads = _THREADS[device.kind]
        if block_size is not None:
            threads = 1 << (min(block_size, 1024).bit_length() - 1)
        plan = plan_threads(kept_nest, reduced_nest, threads)
        forms = [
            (ArrayForm.of(one) if parameter.raw else ArrayForm(0, False, False)) if isinstance(one, _Array) else None
            for one, parameter in zip(args, params, strict=True)
        ]
        ranks = (len(kept_nest.lengths), len(reduced_nest.lengths))
        is_short = kept_nest.size < _SHORT and reduced_nest.size < _SHORT

        def build() -> Any:
            source = axis_source(self._text, params, self.nin, types, forms, ranks, threads, is_short)
            self._record(types, [form is not None for form in forms], source)
            return compile_text(source, self._text, device.index)

        launch = self._kernel(("axes", types, tuple(forms), ranks, threads, is_short, device.index), build)
        extents = []
        for position, form in enumerate(forms):
            if form is None:
                continue
            if params[position].raw:
                extents.append(extent(args[position].shape, args[position].strides))
                args[position] = first_element(args[position], form)
        blocks = min(_MOST_BLOCKS, -(-kept_nest.size // plan.results))
        nests = kept_nest.parameter(), reduced_nest.parameter()
        numbers = kept_nest.size, reduced_nest.size, plan.results, plan.lanes, plan.along
        rest, block = (*nests, *extents, *numbers), plan.results * plan.lanes
        launch(*args, *rest, grid=blocks, block=block, stream=stream)
        return _PreparedLaunch(launch, rest, tuple([(one.shape, one.dtype) for one in outputs]), blocks, block)

    def _nests(self, args: Sequence[Any], shape: tuple[int, ...], reduced: tuple[int, ...]) -> tuple[Nest, Nest]:
        """Return two loop nests: one over the axes of the result, and one over the reduced axes.

        In the second nest, the outputs have stride 0.
        """
        kept = [axis for axis in range(len(shape)) if axis not in reduced]
        along_kept, along_reduced = [], []
        for position, array in enumerate(args):
            parameter = (*self.in_params, *self.out_params)[position]
            if parameter.raw or not isinstance(array, _Array):
                continue
            if position < self.nin:
                strides = _core.broadcast_to(array, shape).strides if array.shape != shape else array.strides
                along_kept.append([strides[axis] for axis in kept])
                along_reduced.append([strides[axis] for axis in reduced])
            else:
                own = list(array.strides)
                if array.ndim == len(shape):
                    own = [own[axis] for axis in kept]
                along_kept.append(own)
                along_reduced.append([0] * len(reduced))
        return (
            combine_axes([shape[axis] for axis in kept], along_kept),
            combine_axes([shape[axis] for axis in reduced], along_reduced),
        )

    def _record(self, types: TypeMap, is_array: Sequence[bool], source: str) -> None:
        dtypes = (*types.inputs, *types.outputs)
        has_array = (*is_array, *([True] * (len(dtypes) - len(is_array))))
        self._cached_codes[tuple(dtype.char for dtype, array in zip(dtypes, has_array, strict=True) if array)] = source

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (*self._state, self.reduce_dims, self.preamble, self.options)

    def __repr__(self) -> str:
        listed = ", ".join(one.declaration() for one in (*self.in_params, *self.out_params))
        return f"<ReductionKernel {self.name}({listed})>"
