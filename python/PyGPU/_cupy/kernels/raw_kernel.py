"""CuPy's class `RawKernel`, a kernel that is written in CUDA C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PyGPU import _core
from PyGPU._cupy.kernels.function import Function
from PyGPU._cupy.kernels.raw_source import RawSource, check_backend

__all__ = ["RawKernel"]

_ATTRIBUTES = (
    "max_threads_per_block",
    "shared_size_bytes",
    "const_size_bytes",
    "local_size_bytes",
    "num_regs",
    "ptx_version",
    "binary_version",
    "cache_mode_ca",
    "max_dynamic_shared_size_bytes",
    "preferred_shared_memory_carveout",
)
_CACHE_MODE_CA = 7


class RawKernel:
    """Kernel from a source in CUDA C++, compiled once for each device.

    Parameters
    ----------
    code : str
        The source.
    name : str
        Name of the kernel in the source.
    options : tuple of str, optional
        Compiler options in nvcc's syntax, also if PyGPU uses another compiler: ``('-DN=3', '-std=c++17')``.
    backend : {'nvrtc', 'nvcc'}, optional
        The compiler on NVIDIA's GPUs. ``'nvcc'`` requests nvcc; if nvcc is not installed, the device's default compiler
        is used.
    translate_cucomplex : bool, optional
        Whether the functions of ``cuComplex.h`` are replaced by functions of ``complex<T>``.
    enable_cooperative_groups : bool, optional
        Whether all blocks run concurrently, so that the kernel may synchronize the grid.
    jitify : bool, optional
        Must be false.

    Raises
    ------
    NotSupportedError
        If `jitify` is true.
    CompileError
        If the source does not compile; raised by the first launch and by `compile`.

    Notes
    -----
    ``kernel(grid, block, arguments, *, shared_mem=0, stream=None)`` launches on the current device. `grid` and `block`
    are tuples of up to three ints. Arguments are arrays, addresses, NumPy and Python scalars, records of structured
    dtypes and None. For an array of any element type and strides, the kernel receives the array's address. A Python
    scalar is converted to the declared type of the parameter.

    Examples
    --------
    >>> import numpy as np
    >>> import PyGPU
    >>> from PyGPU import cupy
    >>> add = cupy.RawKernel(r'''
    ... extern "C" __global__ void add(const float *x, const float *y, float *z) {
    ...     int i = blockDim.x * blockIdx.x + threadIdx.x;
    ...     z[i] = x[i] + y[i];
    ... }''', 'add')
    >>> x = PyGPU.arange(4, dtype=np.float32)
    >>> z = PyGPU.empty_like(x)
    >>> add((1,), (4,), (x, x, z))
    >>> z.tolist()
    [0.0, 2.0, 4.0, 6.0]
    """

    def __init__(
        self,
        code: str,
        name: str,
        options: tuple[str, ...] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool | None = None,
    ) -> None:
        for value in (code, name):
            if not isinstance(value, str):
                raise TypeError(f"RawKernel(code, name) takes two str, not {type(value).__name__}")
        check_backend(backend, options, jitify)
        instances = (name,) if "<" in name else ()
        source = RawSource(code, None, options, backend, bool(translate_cucomplex), instances)
        self._set(source, name, bool(enable_cooperative_groups))

    def _set(self, source: RawSource, name: str, is_cooperative: bool) -> None:
        self._source = source
        self.name = self.__name__ = name
        self.code = source.code
        self.file_path = source.path
        self.options = source.options
        self.backend = source.backend
        self.translate_cucomplex = source.translate_cucomplex
        self.name_expressions = source.name_expressions or None
        self.enable_cooperative_groups = is_cooperative
        self._functions: dict[int, Function] = {}
        # Launch function of the kernel on the only device, stored so that later calls skip the look-up.
        # `_only_launch` is None before the first call, with several devices, and for cooperative launches.
        self._only_launch: Callable[..., Any] | None = None

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Any = None,
    ) -> None:
        """Launch the kernel on the current device.

        Parameters
        ----------
        grid, block : tuple of int
            Number of blocks, and number of threads of a block, along each axis.
        args : tuple
            The kernel's arguments.
        shared_mem : int, optional
            Size in bytes of a block's dynamic shared memory.
        stream : Stream, optional
            The stream; by default the current stream.
        """
        launch = self._only_launch
        if launch is None:
            self._launch_anywhere(grid, block, args, shared_mem, stream)
            return
        try:
            if stream is None and not shared_mem:
                launch(*args, block=block, grid=grid)
            else:
                launch(*args, block=block, grid=grid, stream=stream, shared=shared_mem)
        except (TypeError, ValueError) as error:
            self.kernel.relaunch(error, grid, block, args, shared_mem, stream)

    def _launch_anywhere(
        self, grid: Sequence[int], block: Sequence[int], args: Sequence[Any], shared_mem: int, stream: Any
    ) -> None:
        function = self.kernel
        function(grid, block, args, shared_mem, stream, self.enable_cooperative_groups)
        if not self.enable_cooperative_groups and _core.device_count() == 1:
            self._only_launch = function.launch

    @property
    def kernel(self) -> Function:
        """The compiled kernel of the current device."""
        device = _core.Device().index
        function = self._functions.get(device)
        if function is None:
            function = self._functions[device] = Function(self._source.kernel(self.name, device))
        return function

    def compile(self, log_stream: Any = None) -> None:
        """Compile the kernel for the current device; a kernel that is already compiled is compiled again.

        Parameters
        ----------
        log_stream : file, optional
            File that receives the compiler's output.

        Raises
        ------
        CompileError
            If the source does not compile.
        """
        module = self._source.recompile(_core.Device().index)
        self._functions.clear()
        self._only_launch = None
        write_log(module, log_stream)
        _ = self.kernel

    @property
    def attributes(self) -> dict[str, int]:
        """Dict of the kernel's attributes by their names."""
        return {name: getattr(self, name) for name in _ATTRIBUTES}

    @property
    def max_threads_per_block(self) -> int:
        """Maximum number of threads of a block of this kernel."""
        return self.kernel.kernel.max_threads_per_block

    @property
    def shared_size_bytes(self) -> int:
        """Size in bytes of a block's static shared memory."""
        return self.kernel.kernel.shared_size_bytes

    @property
    def const_size_bytes(self) -> int:
        """Size in bytes of the kernel's constant memory."""
        return self.kernel.kernel.const_size_bytes

    @property
    def local_size_bytes(self) -> int:
        """Size in bytes of a thread's local memory."""
        return self.kernel.kernel.local_size_bytes

    @property
    def num_regs(self) -> int:
        """Number of registers of a thread; 0 on the CPU."""
        return self.kernel.kernel.num_regs

    @property
    def ptx_version(self) -> int:
        """Version of the virtual architecture: 10 * major + minor."""
        return self.kernel.kernel.ptx_version

    @property
    def binary_version(self) -> int:
        """Version of the device's architecture: 10 * major + minor."""
        return self.kernel.kernel.binary_version

    @property
    def cache_mode_ca(self) -> int:
        """Whether the kernel was compiled with ``-Xptxas --dlcm=ca``; -1 if the driver reports no cache mode."""
        try:
            return self.kernel.launch.get_attribute(_CACHE_MODE_CA)
        except (ValueError, _core.NotSupportedError):
            return -1

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """Maximum size in bytes of a block's dynamic shared memory; can be set.

        A launch that requires more raises the maximum, within the device's limit. Without a GPU, the maximum is always
        the limit, and setting it has no effect.
        """
        return self.kernel.kernel.max_dynamic_shared_size_bytes

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, value: int) -> None:
        self.kernel.kernel.max_dynamic_shared_size_bytes = value

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """Percentage of a multiprocessor's on-chip memory that is preferred as shared memory; can be set.

        Without a GPU, setting it has no effect.
        """
        return self.kernel.kernel.preferred_shared_memory_carveout

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, value: int) -> None:
        self.kernel.kernel.preferred_shared_memory_carveout = value

    def __getstate__(self) -> tuple[RawSource, str, bool]:
        return self._source, self.name, self.enable_cooperative_groups

    def __setstate__(self, state: Any) -> None:
        if not (
            isinstance(state, tuple)
            and [type(part) for part in state[1:]] == [str, bool]
            and isinstance(state[0], RawSource)
        ):
            raise TypeError(f"the state of a pickled RawKernel is its source, name and flag, not {state!r:.200}")
        self._set(*state)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @classmethod
    def _of_module(cls, source: RawSource, name: str, is_cooperative: bool) -> RawKernel:
        """Create a `RawKernel` for a kernel of a `RawModule`."""
        kernel = cls.__new__(cls)
        kernel._set(source, name, is_cooperative)
        _ = kernel.kernel  # The access compiles the module, and raises an error if the kernel is missing.
        return kernel


def no_texref(name: str) -> Exception:
    """Return the exception that functions for texture references raise."""
    return _core.NotSupportedError(
        f"get_texref({name!r}): CUDA 12 has removed texture references, and CuPy its method get_texref: pass a texture "
        "object, PyGPU.Texture or cupy.cuda.texture.TextureObject, for a parameter of the type cudaTextureObject_t"
    )


def write_log(module: _core.Module, log_stream: Any) -> None:
    """Write the compiler's output for a compiled module to `log_stream`, unless `log_stream` is None."""
    if log_stream is not None:
        log_stream.write(module.log)
