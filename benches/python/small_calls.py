"""Define the small calls that compare.py times, with one statement for each library that supports the call."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """Describe one timed operation, with a statement for each library."""

    group: str
    name: str
    statements: dict[str, str] = field(default_factory=dict)
    # Greatest permitted ratio of PyGPU's time to NumPy's time. `most` applies to all backends, `cpu_most` to the CPU
    # backend if `most` is None.
    most: float | None = None
    cpu_most: float | None = None
    # The only backend that supports the statement, or None if all backends support it.
    backend: str | None = None
    # Whether the statement imports an array of another library.
    # The benchmark times such a statement in a process that has loaded all libraries.
    exchange: bool = False

    def limit(self, *, on_cpu: bool) -> float | None:
        """Return the greatest permitted ratio of PyGPU's time to NumPy's time for the backend in use."""
        return self.cpu_most if self.most is None and on_cpu else self.most


NAMES = {"pygpu": "PyGPU", "numpy": "NumPy", "cupy": "CuPy", "pycuda": "PyCUDA", "pybindgpu": "PybindGPU",
         "numba": "numba-cuda", "core": "cuda.core", "jax": "JAX"}  # fmt: skip
ARRAYS = ("PyGPU", "NumPy", "CuPy", "torch", "PyCUDA", "numba-cuda", "JAX")


def alike(group: str, statement: str, without: tuple[str, ...] = (), most: float | None = None, **others: str) -> Case:
    """Return a case with one statement for all libraries.

    The libraries in `without` have no statement, and the libraries in `others` have a different statement.
    """
    statements = {name: statement for name in ARRAYS if name not in without}
    statements.update(_spelled(others))
    return Case(group, statement, statements, most)


def each(
    group: str,
    name: str,
    cpu_most: float | None = None,
    backend: str | None = None,
    exchange: bool = False,
    **statements: str,
) -> Case:
    """Return a case with a separate statement for each library.

    The statement of the library "floor" (the driver alone) is the name of a loop in driver_calls.py.
    """
    return Case(group, name, _spelled(statements), cpu_most=cpu_most, backend=backend, exchange=exchange)


def _spelled(statements: dict[str, str]) -> dict[str, str]:
    return {NAMES.get(keyword, keyword): text for keyword, text in statements.items()}


VIEWS = [
    alike("view", "a[1:3]", most=1.0, pybindgpu="a[1:3]"),
    alike("view", "a[1]", most=1.0, pybindgpu="a[1]"),
    alike("view", "a[1, 2, 3]"),
    alike("view", "a[..., ::2]", most=1.0, without=("numba-cuda",), pybindgpu="a[..., ::2]"),
    alike("view", "a[..., 1:4:2]", most=1.0, without=("numba-cuda",), pybindgpu="a[..., 1:4:2]"),
    alike("view", "a[None, 1:-1, ::-1]", without=("torch", "PyCUDA", "numba-cuda"), most=1.0),
    alike("view", "a.T", most=1.0, torch="a.permute(2, 1, 0)"),
    alike("view", "a.transpose(2, 0, 1)", torch="a.permute(2, 0, 1)", pycuda="a.transpose((2, 0, 1))", most=1.0),
    alike("view", "a.reshape(32, 16)", most=1.0),
    alike("view", "a.reshape((32, 16))", most=1.0, without=("numba-cuda",)),
    alike("view", "a.reshape(-1)", most=1.0, without=("PyCUDA",)),
    alike("view", "a.ravel()"),
]

PROPERTIES = [
    alike("property", "a.shape", most=1.5, pybindgpu="a.shape"),
    alike("property", "a.strides", most=1.5, without=("JAX",), torch="a.stride()", pybindgpu="a.strides"),
    alike("property", "a.dtype", most=1.5, pybindgpu="a.dtype"),
    alike("property", "a.ndim", most=1.5),
    alike("property", "a.size", most=1.5, torch="a.numel()", pybindgpu="a.size"),
    alike("property", "a.nbytes", most=1.5, pybindgpu="a.nbytes"),
    alike("property", "a.itemsize", most=1.5),
    alike("property", "a.flags", most=1.5, without=("torch", "numba-cuda", "JAX")),
    alike("property", "a.device", most=1.5, without=("PyCUDA", "numba-cuda")),
    alike("property", "len(a)", most=1.5),
    each("property", "ptr", pygpu="a.ptr", numpy="a.ctypes.data", cupy="a.data.ptr", torch="a.data_ptr()",
         pycuda="int(a.gpudata)", pybindgpu="a.ptr", numba="a.device_ctypes_pointer.value",
         jax="a.unsafe_buffer_pointer()", core="int(buffer.handle)"),
]  # fmt: skip

NEW = [
    each("new", "empty((3, 3), f32)", 1.0, pygpu="g.empty((3, 3), f32)", numpy="np.empty((3, 3), f32)",
         cupy="cupy.empty((3, 3), f32)", torch="torch.empty((3, 3), device='cuda')",
         pycuda="gpuarray.empty((3, 3), f32, allocator=pool)", pybindgpu="g.GPUArray((3, 3), dtype='float32')",
         numba="cuda.device_array((3, 3), f32)", core="device.allocate(36, stream=stream)", floor="allocate and free"),
    each("new", "empty((3, 3), dtype=f32)", 1.0, pygpu="g.empty((3, 3), dtype=f32)",
         numpy="np.empty((3, 3), dtype=f32)"),
    each("new", "empty((3, 3), 'float32')", 1.0, pygpu="g.empty((3, 3), 'float32')",
         numpy="np.empty((3, 3), 'float32')"),
    each("new", "empty((3, 3), dtype('f4'))", 1.0, pygpu="g.empty((3, 3), f4)", numpy="np.empty((3, 3), f4)"),
    each("new", "empty((3, 3))", 1.0, pygpu="g.empty((3, 3))", numpy="np.empty((3, 3))"),
    each("new", "empty(9, f32)", 1.0, pygpu="g.empty(9, f32)", numpy="np.empty(9, f32)"),
    each("new", "the class ((3, 3), f32)", pygpu="g.GPUArray((3, 3), f32)", numpy="np.ndarray((3, 3), f32)"),
    each("new", "empty_like(a)", pygpu="g.empty_like(a)", numpy="np.empty_like(a)", cupy="cupy.empty_like(a)",
         torch="torch.empty_like(a)", pycuda="gpuarray.empty_like(a)"),
    each("new", "zeros((3, 3), f32)", pygpu="g.zeros((3, 3), f32)", numpy="np.zeros((3, 3), f32)",
         cupy="cupy.zeros((3, 3), f32)", torch="torch.zeros((3, 3), device='cuda')",
         pycuda="gpuarray.zeros((3, 3), f32, allocator=pool)", jax="jnp.zeros((3, 3), f32)"),
    each("new", "empty(1 MiB)", pygpu="g.empty(1048576, np.uint8)", numpy="np.empty(1048576, np.uint8)",
         cupy="cupy.empty(1048576, np.uint8)", torch="torch.empty(1048576, dtype=torch.uint8, device='cuda')",
         pycuda="gpuarray.empty(1048576, np.uint8, allocator=pool)", core="device.allocate(1048576, stream=stream)"),
    each("new", "a.copy()", pygpu="a.copy()", numpy="a.copy()", cupy="a.copy()", torch="a.clone()",
         pycuda="a.copy()", jax="a.copy()"),
]  # fmt: skip

MOVED = [
    each("moved", "to_gpu(five floats)", pygpu="g.to_gpu(five)", numpy="np.array(five)", cupy="cupy.asarray(five)",
         torch="torch.from_numpy(five).cuda()", pycuda="gpuarray.to_gpu(five, allocator=pool)",
         pybindgpu="g.to_gpu(five)", numba="cuda.to_device(five)", jax="jax.device_put(five)",
         floor="copy 20 bytes to the device"),
    each("moved", "get() of five floats", pygpu="short.get()", numpy="short.copy()", cupy="short.get()",
         torch="short.cpu()", pycuda="short.get()", pybindgpu="short.get()", numba="short.copy_to_host()",
         floor="copy 20 bytes to the host"),
    each("moved", "set(five floats)", pygpu="short.set(five)", numpy="short[...] = five", cupy="short.set(five)",
         pycuda="short.set(five)", pybindgpu="short.set(five)", numba="short.copy_to_device(five)"),
    each("moved", "short[2] = 7", pygpu="short[2] = 7", numpy="short[2] = 7", cupy="short[2] = 7",
         torch="short[2] = 7"),
    each("moved", "short.fill(7)", pygpu="short.fill(7)", numpy="short.fill(7)", cupy="short.fill(7)",
         torch="short.fill_(7)", pycuda="short.fill(7)"),
    each("moved", "float(short[2])", pygpu="float(short[2])", numpy="float(short[2])", cupy="float(short[2])",
         torch="float(short[2])", pycuda="float(short[2].get())", jax="float(short[2])"),
]  # fmt: skip

SHARED = [
    each("shared", "__dlpack__()", pygpu="a.__dlpack__()", numpy="a.__dlpack__()", cupy="a.__dlpack__()",
         torch="a.__dlpack__()", jax="a.__dlpack__()"),
    each("shared", "__dlpack__(max_version)", pygpu="a.__dlpack__(max_version=(1, 0))",
         numpy="a.__dlpack__(max_version=(1, 0))", cupy="a.__dlpack__(max_version=(1, 0))",
         torch="a.__dlpack__(max_version=(1, 0))", jax="a.__dlpack__(max_version=(1, 0))"),
    each("shared", "__dlpack_device__()", pygpu="a.__dlpack_device__()", numpy="a.__dlpack_device__()",
         cupy="a.__dlpack_device__()", torch="a.__dlpack_device__()", jax="a.__dlpack_device__()"),
    each("shared", "np.from_dlpack(a)", backend="cpu", pygpu="np.from_dlpack(a)", numpy="np.from_dlpack(a)"),
    each("shared", "from_dlpack(an ndarray)", backend="cpu", pygpu="g.from_dlpack(host)",
         numpy="np.from_dlpack(host)"),
    each("shared", "__array_interface__", backend="cpu", pygpu="a.__array_interface__",
         numpy="a.__array_interface__"),
    each("shared", "__cuda_array_interface__", backend="cuda", pygpu="a.__cuda_array_interface__",
         cupy="a.__cuda_array_interface__", torch="a.__cuda_array_interface__", pycuda="a.__cuda_array_interface__",
         pybindgpu="a.__cuda_array_interface__()", numba="a.__cuda_array_interface__",
         jax="a.__cuda_array_interface__"),
]  # fmt: skip

# The first two cases have a goal in performance_goals.py. For comparison, the statements of other libraries in these
# cases pass arrays between two libraries without PyGPU.
EXCHANGED = [
    each("exchanged", "from_dlpack(torch's)", exchange=True, pygpu="g.from_dlpack(torchs)",
         numpy="np.from_dlpack(torchs)", cupy="cupy.from_dlpack(torchs)", jax="jnp.from_dlpack(torchs)",
         core="StridedMemoryView.from_dlpack(torchs, stream_ptr=-1)"),
    each("exchanged", "torch.from_dlpack(array)", exchange=True, pygpu="torch.from_dlpack(ours)",
         numpy="torch.from_dlpack(host)", cupy="torch.from_dlpack(cupys)", jax="torch.from_dlpack(jaxs)"),
    each("exchanged", "from_dlpack(CuPy's)", exchange=True, pygpu="g.from_dlpack(cupys)",
         torch="torch.from_dlpack(cupys)", jax="jnp.from_dlpack(cupys)"),
    each("exchanged", "cupy.from_dlpack(array)", exchange=True, pygpu="cupy.from_dlpack(ours)",
         torch="cupy.from_dlpack(torchs)", jax="cupy.from_dlpack(jaxs)"),
    each("exchanged", "asarray(torch's)", exchange=True, pygpu="g.asarray(torchs)", cupy="cupy.asarray(torchs)",
         numba="cuda.as_cuda_array(torchs)"),
]  # fmt: skip

STREAMS = [
    each("stream", "event.record(stream)", pygpu="event.record(stream)", cupy="event.record(stream)",
         torch="event.record(stream)", pycuda="event.record(stream)", pybindgpu="g.cudaEventRecord(event, stream)",
         numba="event.record(stream)", core="stream.record(event)", floor="event record"),
    each("stream", "stream.wait_event(event)", pygpu="stream.wait_event(event)", cupy="stream.wait_event(event)",
         torch="stream.wait_event(event)", pycuda="stream.wait_for_event(event)", numba="event.wait(stream)",
         core="stream.wait(event)", floor="stream wait event"),
    each("stream", "stream.synchronize()", pygpu="stream.synchronize()", cupy="stream.synchronize()",
         torch="stream.synchronize()", pycuda="stream.synchronize()", numba="stream.synchronize()",
         core="stream.sync()", floor="stream synchronize"),
    each("stream", "stream.query()", pygpu="stream.query()", cupy="stream.done", torch="stream.query()",
         pycuda="stream.is_done()", floor="stream query"),
    each("stream", "current_stream()", pygpu="g.current_stream()", cupy="cupy.cuda.get_current_stream()",
         torch="torch.cuda.current_stream()"),
    each("stream", "with stream: pass", pygpu="with stream: pass", cupy="with stream: pass",
         torch="with torch.cuda.stream(stream): pass"),
    each("stream", "stream.handle", pygpu="stream.handle", cupy="stream.ptr", torch="stream.cuda_stream",
         pycuda="stream.handle", core="stream.handle"),
    each("stream", "__cuda_stream__()", pygpu="stream.__cuda_stream__()", numba="stream.__cuda_stream__()",
         core="stream.__cuda_stream__()"),
]  # fmt: skip

CASES = [
    each("loop", "the loop alone", pygpu="pass", numpy="pass"),
    *VIEWS,
    *PROPERTIES,
    *NEW,
    *MOVED,
    *SHARED,
    *EXCHANGED,
    *STREAMS,
    # This case measures only the driver's launch, which is the lower bound of a launch by PyGPU.
    # The program launches.py measures PyGPU's own launch.
    each("kernel", "launch, 5 arguments", backend="cuda", floor="launch, 5 arguments"),
]
