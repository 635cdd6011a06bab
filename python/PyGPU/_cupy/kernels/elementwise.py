"""CuPy's class `ElementwiseKernel`, a kernel that executes a C++ operation for each element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._cupy.kernels.arguments import ArrayForm, as_array, check_ranges, scalar_cast
from PyGPU._cupy.kernels.c_text import depends_on_block
from PyGPU._cupy.kernels.cached_sources import CachedSources
from PyGPU._cupy.kernels.elementwise_source import (
    KernelText,
    compile_plain,
    indexer,
    is_shaped,
    loop_kernel,
    plain_source,
)
from PyGPU._cupy.kernels.launches import FastLaunch, Launch, LoopLaunch, PlainLaunch, fast_launch
from PyGPU._cupy.kernels.parameters import TEXTURE, Parameter, TypeMap, check_kernel_name, parse_parameters, resolve

__all__ = ["ElementwiseKernel"]

_Array = _core.GPUArray
# This form replaces each array's form in the key of a kernel whose loop PyGPU generates, because one compiled kernel
# with such a loop serves arrays of all layouts.
_ANY_FORM = ArrayForm(1, True, True)


class ElementwiseKernel(CachedSources):
    """Kernel that executes a C++ operation for each element of broadcast arrays.

    Parameters
    ----------
    in_params, out_params : str
        Declarations of inputs and outputs, such as ``'T x, float32 y'`` and ``'T z'``. A single letter is a placeholder
        for the dtype of the arrays that a call passes. An array that is declared ``raw`` is indexed by the operation.
    operation : str
        The operation for one element, in which a parameter's name denotes an element of its array: ``'z = x * x + y'``.
        ``i`` is the index of the element.
    name : str, optional
        Name of the kernel in profilers.
    reduce_dims : bool, optional
        Accepted for compatibility with CuPy; it has no effect, because PyGPU merges axes itself.
    preamble : str, optional
        Code before the kernel: functions, types, macros.
    no_return : bool, optional
        Whether calls return None.
    return_tuple : bool, optional
        Whether calls return a tuple also for a single output.
    options : tuple of str, optional
        Options of the compiler.
    loop_prep, after_loop : str, optional
        Code that a thread executes before its first and after its last element.

    Raises
    ------
    ValueError
        If a declaration or the name is invalid.

    Notes
    -----
    ``kernel(*inputs, *outputs, size=-1, stream=None, block_size=128)`` launches and returns the outputs, which are
    allocated if the call does not pass them. `size` is the number of elements if all arrays are raw. A scalar is
    converted to the type of its parameter. `block_size` applies to kernels that use the threads of a block or have only
    raw arrays; PyGPU chooses the blocks of other kernels.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> from PyGPU import cupy
    >>> squared_difference = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = (x - y) * (x - y)', 'difference2')
    >>> x = PyGPU.arange(4, dtype=np.float32)
    >>> squared_difference(x, 1).tolist()
    [1.0, 0.0, 1.0, 4.0]
    >>> reverse = cupy.ElementwiseKernel('raw T x', 'T y', 'y = x[x.size() - 1 - i]', 'reverse')
    >>> reverse(x, size=4).tolist()
    [3.0, 2.0, 1.0, 0.0]
    """

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        reduce_dims: bool = True,
        preamble: str = "",
        no_return: bool = False,
        return_tuple: bool = False,
        *,
        options: tuple[str, ...] = (),
        loop_prep: str = "",
        after_loop: str = "",
    ) -> None:
        check_kernel_name(name)
        self.in_params = parse_parameters(in_params, True)
        self.out_params = parse_parameters(out_params, False)
        self.params = (*self.in_params, *self.out_params)
        names = [one.name for one in self.params]
        if "i" in names or len(set(names)) < len(names):
            raise ValueError(f"Can not use 'i' as a parameter name, nor a name twice, as in {', '.join(names)}")
        self.nin, self.nout = len(self.in_params), len(self.out_params)
        self.nargs = self.nin + self.nout
        self.name = self.__name__ = name
        self.operation, self.preamble, self.reduce_dims = operation, preamble, reduce_dims
        self.no_return, self.return_tuple = no_return, return_tuple
        self.kwargs = {"options": tuple(options), "loop_prep": loop_prep, "after_loop": after_loop}
        self._text = KernelText(name, operation, preamble, loop_prep, after_loop, tuple(options))
        self._is_by_block = depends_on_block(*self._text.body)
        self._is_indexed = indexer(self._text, 1) == "index"
        # `_launches` maps types of arguments to functions that launch with few checks (`fast_launch`).
        # `_kernels` maps types and array forms to compiled kernels.
        self._launches: dict[tuple[Any, ...], FastLaunch] = {}
        self._kernels: dict[tuple[Any, ...], Launch] = {}
        self._types: dict[tuple[Any, ...], TypeMap] = {}
        super().__init__()

    def __call__(self, *args: Any, size: int = -1, stream: Any = None, block_size: int = 128) -> Any:
        """Launch the kernel, and return its outputs."""
        launch = self._launches.get(tuple([one.dtype if type(one) is _Array else type(one) for one in args]))
        if launch is not None and block_size > 0:
            return launch(args, size, stream, block_size)
        return self.call(args, size, stream, block_size)

    def call(self, arguments: tuple[Any, ...], size: int, stream: Any, block_size: int) -> Any:
        """Check all arguments and launch the kernel; this method serves the first call with each set of argument types.

        Parameters
        ----------
        arguments : tuple
            The arguments of the call.
        size : int
            The number of elements, or -1 if the arguments determine the shape.
        stream : Stream or None
            The stream of the launch; None is the current stream.
        block_size : int
            Number of threads of a block.

        Returns
        -------
        GPUArray, tuple of GPUArray or None
        """
        if block_size <= 0:
            raise ValueError(f"block_size must be greater than zero, and is {block_size}")
        if len(arguments) not in (self.nin, self.nargs):
            raise TypeError(
                f"Wrong number of arguments for {self.name!r}. It must be either {self.nin} or {self.nargs} (with "
                f"outputs), but given {len(arguments)}."
            )
        for argument in arguments:
            override = getattr(argument, "__cupy_override_elementwise_kernel__", None)
            if override is not None:
                return override(self, *arguments, size=size, stream=stream, block_size=block_size)
        args = [as_array(one) for one in arguments]
        shape = self.loop_shape(args, size)
        is_array = [isinstance(one, _Array) for one in args]
        types = self._resolve(args, is_array)
        is_fresh = len(args) == self.nin
        if is_fresh:
            args += self._allocate(shape, types, size)
        else:
            self.check_outputs(args, shape)
        result = self.result(args[self.nin :])
        if 0 in shape:
            return result
        for position, dtype in enumerate(types.inputs):
            if not is_array[position] and dtype != TEXTURE:
                cast = scalar_cast(type(args[position]), dtype)
                args[position] = args[position] if cast is None else cast(args[position])
        launch = self._launch(args, shape, types, is_fresh)
        try:
            launch.run(args, shape, stream, block_size)
        except ValueError:
            check_ranges(args, types.inputs)
            raise
        key = tuple([one.dtype if type(one) is _Array else type(one) for one in arguments])
        if key not in self._launches:
            fast = fast_launch(self, launch, arguments, types)
            if fast is not None:
                self._launches[key] = fast
        return result

    def loop_shape(self, args: Sequence[Any], size: int) -> tuple[int, ...]:
        """Return the broadcast shape of the arrays, over which the kernel loops.

        Parameters
        ----------
        args : sequence
            The arguments of a call.
        size : int
            The number of elements, or -1 if the arguments determine the shape.

        Returns
        -------
        tuple of int
        """
        shapes = [
            one.shape
            for one, parameter in zip(args, self.params, strict=False)
            if isinstance(one, _Array) and not parameter.raw
        ]
        if size != -1:
            if shapes:
                raise ValueError(
                    f"Specified 'size' can be used only if all of the ndarray are 'raw'. {self.name} has arrays of the "
                    f"shapes {', '.join(map(str, shapes))}, which decide the size: omit size={size}"
                )
            return (int(size),)
        if not shapes:
            raise ValueError(
                f"Loop size is undecided. All arrays of {self.name} are raw: give size=, the number of elements"
            )
        return shapes[0] if len(shapes) == 1 else np.broadcast_shapes(*shapes)

    def _resolve(self, args: Sequence[Any], is_array: Sequence[bool]) -> TypeMap:
        key = tuple([one.dtype if isinstance(one, _Array) else _texture_dtype(one) for one in args])
        types = self._types.get(key)
        if types is None:
            if not all(is_array[self.nin :]):
                raise TypeError("Output arguments type must be cupy.ndarray: an output is an array on the device")
            outputs = [one.dtype for one in args[self.nin :]]
            types = resolve(self.in_params, self.out_params, key[: self.nin], outputs)
            self._types[key] = types
        return types

    def _allocate(self, shape: tuple[int, ...], types: TypeMap, size: int) -> list[Any]:
        if size == -1 and any(one.raw for one in self.out_params):
            raise ValueError("Output array size is Undecided: give the raw outputs as arguments, or size=")
        return [_core.empty(shape, dtype) for dtype in types.outputs]

    def check_outputs(self, args: Sequence[Any], shape: tuple[int, ...]) -> None:
        """Raise an error if the shape of an output differs from the broadcast shape.

        Parameters
        ----------
        args : sequence
            The arguments of a call, inputs first.
        shape : tuple of int
            The shape of the loop.

        Raises
        ------
        ValueError
            If the shapes differ.
        """
        for parameter, array in zip(self.out_params, args[self.nin :], strict=True):
            if not parameter.raw and array.shape != shape:
                raise ValueError(
                    f"Out shape is mismatched: {parameter.name} has the shape {array.shape}, and the arguments "
                    f"broadcast to {shape}"
                )

    def result(self, outputs: Sequence[Any]) -> Any:
        """Convert the output arrays to the result of a call of the kernel.

        Parameters
        ----------
        outputs : sequence of GPUArray
            Array for each output parameter.

        Returns
        -------
        GPUArray, tuple of GPUArray or None
            The outputs as the constructor's `no_return` and `return_tuple` request.
        """
        if self.no_return:
            return None
        return outputs[0] if self.nout == 1 and not self.return_tuple else tuple(outputs)

    def _launch(self, args: list[Any], shape: tuple[int, ...], types: TypeMap, is_fresh: bool) -> Launch:
        """Return the compiled kernel for arguments; compile the kernel at the first use.

        If the kernel's source contains its own loop, the method replaces the arrays in `args` by views with the loop's
        shape.
        """
        is_plain = (
            self._is_by_block
            or TEXTURE in types.inputs
            or not any(
                isinstance(one, _Array) and not one_of.raw for one, one_of in zip(args, self.params, strict=True)
            )
        )
        if is_plain:
            for position, parameter in enumerate(self.params):
                array = args[position]
                if not parameter.raw and isinstance(array, _Array) and array.shape != shape:
                    args[position] = _core.broadcast_to(array, shape)

        def form(parameter: Parameter, argument: Any) -> ArrayForm | None:
            if not isinstance(argument, _Array):
                return None
            return ArrayForm.of(argument) if parameter.raw or is_plain else _ANY_FORM

        forms = tuple(map(form, self.params, args))
        device = _core.Device().index if is_plain else -1
        key = (types, forms, is_fresh, len(shape) if self._is_indexed else 1, device)
        launch = self._kernels.get(key)
        if launch is None:
            build = self._plain if is_plain else self._loop
            # If several threads compile the same kernel at once, all threads use the kernel that was stored first.
            launch = self._kernels.setdefault(key, build(types, forms, len(shape), is_fresh, device))
        return launch

    def _shaped(self, forms: Sequence[ArrayForm | None], is_plain: bool) -> list[bool]:
        def needs_shape(parameter: Parameter, form: ArrayForm | None) -> bool:
            if form is None:
                return False
            if parameter.raw:
                return is_shaped(parameter, form, self._text, self.params)
            return is_plain and not form.is_contiguous

        return list(map(needs_shape, self.params, forms))

    def _loop(
        self, types: TypeMap, forms: tuple[ArrayForm | None, ...], ndim: int, is_fresh: bool, device: int
    ) -> Launch:
        """Create a `LoopLaunch`: a kernel whose loop PyGPU generates."""
        shaped = self._shaped(forms, False)
        kernel, source = loop_kernel(self._text, self.params, self.nin, types, forms, shaped, ndim, is_fresh)
        self._record(types, forms, source)
        return LoopLaunch(kernel, forms, self._raw(forms), _positions(shaped), self._is_indexed)

    def _plain(
        self, types: TypeMap, forms: tuple[ArrayForm | None, ...], ndim: int, is_fresh: bool, device: int
    ) -> Launch:
        """Compile a kernel that contains its own loop, and return its `PlainLaunch`."""
        shaped = self._shaped(forms, True)
        source = plain_source(self._text, self.params, types, forms, shaped, ndim)
        kernel = _core.Function(compile_plain(source, self._text, device))
        self._record(types, forms, source)
        return PlainLaunch(kernel, forms, self._raw(forms), _positions(shaped), self._is_indexed)

    def _raw(self, forms: Sequence[ArrayForm | None]) -> tuple[int, ...]:
        return tuple(position for position, one in enumerate(self.params) if one.raw and forms[position] is not None)

    def _record(self, types: TypeMap, forms: Sequence[ArrayForm | None], source: str) -> None:
        dtypes = (*types.inputs, *types.outputs)
        self._cached_codes[tuple(dtype for dtype, form in zip(dtypes, forms, strict=True) if form is not None)] = source

    def __reduce__(self) -> tuple[Any, ...]:
        def declared(parameters: Sequence[Parameter]) -> str:
            return ", ".join(one.declaration() for one in parameters)

        state = (
            declared(self.in_params),
            declared(self.out_params),
            self.operation,
            self.name,
            self.reduce_dims,
            self.preamble,
            self.no_return,
            self.return_tuple,
        )
        return _remake, (type(self), state, self.kwargs)

    def __repr__(self) -> str:
        return f"<ElementwiseKernel {self.name}({', '.join(one.declaration() for one in self.params)})>"


def _texture_dtype(value: Any) -> np.dtype[Any] | None:
    return TEXTURE if isinstance(value, _core.Texture) else None


def _positions(flags: Sequence[bool]) -> tuple[int, ...]:
    return tuple(position for position, flag in enumerate(flags) if flag)


def _remake(kind: type[Any], arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Create a kernel from the arguments of its constructor, as unpickling does."""
    return kind(*arguments, **keywords)
