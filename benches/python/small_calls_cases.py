"""The statements that small_calls.py times. One that a library does not have is left out for it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One thing to do, spelled for each library."""

    group: str
    name: str
    statements: dict[str, str] = field(default_factory=dict)
    # The most that PyGPU may take of NumPy's time; `cpu_limit` holds on the CPU backend only.
    most: float | None = None
    cpu_most: float | None = None
    # The only backend that has it.
    backend: str | None = None

    def limit(self, *, on_cpu: bool) -> float | None:
        """The limit that holds where PyGPU computes."""
        return self.cpu_most if self.most is None and on_cpu else self.most


def alike(group: str, statement: str, without: tuple[str, ...] = (), most: float | None = None, **others: str) -> Case:
    """The same statement on arrays, except where a library spells it otherwise."""
    names = ("PyGPU", "NumPy", "CuPy", "torch", "numba-cuda")
    statements = {name: statement for name in names if name not in without}
    statements.update({_named(name): other for name, other in others.items()})
    return Case(group, statement, statements, most)


def each(group: str, name: str, cpu_most: float | None = None, backend: str | None = None, **statements: str) -> Case:
    """A statement of its own for each library."""
    spelled = {_named(library): text for library, text in statements.items()}
    return Case(group, name, spelled, cpu_most=cpu_most, backend=backend)


def _named(keyword: str) -> str:
    return {"numba": "numba-cuda", "core": "cuda.core", "cupy": "CuPy", "numpy": "NumPy", "pygpu": "PyGPU"}.get(
        keyword, keyword
    )


VIEWS = [
    alike("view", "a[1:3]", most=1.0),
    alike("view", "a[1]", most=1.0),
    alike("view", "a[1, 2, 3]", most=None),
    alike("view", "a[..., ::2]", most=1.0),
    alike("view", "a[None, 1:-1, ::-1]", without=("torch", "numba-cuda"), most=1.0),
    alike("view", "a.T", most=1.0, torch="a.permute(2, 1, 0)"),
    alike("view", "a.transpose(2, 0, 1)", torch="a.permute(2, 0, 1)", most=1.0),
    alike("view", "a.reshape(32, 16)", most=1.0),
    alike("view", "a.reshape((32, 16))", most=1.0, without=("numba-cuda",)),
    alike("view", "a.reshape(-1)", most=1.0),
    alike("view", "a.ravel()", most=None),
]

PROPERTIES = [
    alike("property", "a.shape", most=1.5),
    alike("property", "a.strides", most=1.5, torch="a.stride()"),
    alike("property", "a.dtype", most=1.5),
    alike("property", "a.ndim", most=1.5),
    alike("property", "a.size", most=1.5, torch="a.numel()"),
    alike("property", "a.nbytes", most=1.5),
    alike("property", "a.itemsize", most=1.5),
    alike("property", "a.flags", most=1.5, without=("torch",)),
    alike("property", "a.device", most=1.5, without=("numba-cuda",)),
    alike("property", "len(a)", most=1.5),
    each("property", "ptr", pygpu="a.ptr", numpy="a.ctypes.data", cupy="a.data.ptr", torch="a.data_ptr()",
         numba="a.device_ctypes_pointer.value", core="int(buffer.handle)"),
]  # fmt: skip

NEW = [
    each("new", "empty((3, 3), f32)", 1.0, pygpu="g.empty((3, 3), f32)", numpy="np.empty((3, 3), f32)",
         cupy="cupy.empty((3, 3), f32)", torch="torch.empty((3, 3), device='cuda')",
         numba="cuda.device_array((3, 3), f32)", core="device.allocate(36, stream=stream)"),
    each("new", "empty((3, 3), dtype=f32)", 1.0, pygpu="g.empty((3, 3), dtype=f32)",
         numpy="np.empty((3, 3), dtype=f32)"),
    each("new", "empty((3, 3), 'float32')", 1.0, pygpu="g.empty((3, 3), 'float32')",
         numpy="np.empty((3, 3), 'float32')"),
    each("new", "empty((3, 3), dtype('f4'))", 1.0, pygpu="g.empty((3, 3), f4)", numpy="np.empty((3, 3), f4)"),
    each("new", "empty((3, 3))", 1.0, pygpu="g.empty((3, 3))", numpy="np.empty((3, 3))"),
    each("new", "empty(9, f32)", 1.0, pygpu="g.empty(9, f32)", numpy="np.empty(9, f32)"),
    each("new", "the class ((3, 3), f32)", pygpu="g.GPUArray((3, 3), f32)", numpy="np.ndarray((3, 3), f32)"),
    each("new", "empty_like(a)", pygpu="g.empty_like(a)", numpy="np.empty_like(a)", cupy="cupy.empty_like(a)",
         torch="torch.empty_like(a)"),
    each("new", "zeros((3, 3), f32)", pygpu="g.zeros((3, 3), f32)", numpy="np.zeros((3, 3), f32)",
         cupy="cupy.zeros((3, 3), f32)", torch="torch.zeros((3, 3), device='cuda')"),
    each("new", "empty(1 MiB)", pygpu="g.empty(1048576, np.uint8)", numpy="np.empty(1048576, np.uint8)",
         cupy="cupy.empty(1048576, np.uint8)", torch="torch.empty(1048576, dtype=torch.uint8, device='cuda')",
         core="device.allocate(1048576, stream=stream)"),
    each("new", "a.copy()", pygpu="a.copy()", numpy="a.copy()", cupy="a.copy()", torch="a.clone()"),
]  # fmt: skip

MOVED = [
    each("moved", "to_gpu(five floats)", pygpu="g.to_gpu(five)", numpy="np.array(five)", cupy="cupy.asarray(five)",
         torch="torch.from_numpy(five).cuda()", numba="cuda.to_device(five)"),
    each("moved", "get() of five floats", pygpu="short.get()", numpy="short.copy()", cupy="short.get()",
         torch="short.cpu()", numba="short.copy_to_host()"),
    each("moved", "set(five floats)", pygpu="short.set(five)", numpy="short[...] = five", cupy="short.set(five)",
         numba="short.copy_to_device(five)"),
    each("moved", "short[2] = 7", pygpu="short[2] = 7", numpy="short[2] = 7", cupy="short[2] = 7",
         torch="short[2] = 7"),
    each("moved", "short.fill(7)", pygpu="short.fill(7)", numpy="short.fill(7)", cupy="short.fill(7)",
         torch="short.fill_(7)"),
    each("moved", "float(short[2])", pygpu="float(short[2])", numpy="float(short[2])", cupy="float(short[2])",
         torch="float(short[2])"),
]  # fmt: skip

SHARED = [
    each("shared", "__dlpack__()", pygpu="a.__dlpack__()", numpy="a.__dlpack__()", cupy="a.__dlpack__()",
         torch="a.__dlpack__()"),
    each("shared", "__dlpack__(max_version)", pygpu="a.__dlpack__(max_version=(1, 0))",
         numpy="a.__dlpack__(max_version=(1, 0))", cupy="a.__dlpack__(max_version=(1, 0))",
         torch="a.__dlpack__(max_version=(1, 0))"),
    each("shared", "__dlpack_device__()", pygpu="a.__dlpack_device__()", numpy="a.__dlpack_device__()",
         cupy="a.__dlpack_device__()", torch="a.__dlpack_device__()"),
    each("shared", "from_dlpack(another's)", pygpu="g.from_dlpack(other)", numpy="np.from_dlpack(other)",
         cupy="cupy.from_dlpack(other)", torch="torch.from_dlpack(other)",
         core="StridedMemoryView.from_dlpack(other, stream_ptr=-1)"),
    each("shared", "asarray(another's)", pygpu="g.asarray(other)", numpy="np.asarray(other)",
         cupy="cupy.asarray(other)", torch="torch.as_tensor(other, device='cuda')",
         numba="cuda.as_cuda_array(other)"),
    each("shared", "np.from_dlpack(a)", backend="cpu", pygpu="np.from_dlpack(a)", numpy="np.from_dlpack(a)"),
    each("shared", "__array_interface__", backend="cpu", pygpu="a.__array_interface__",
         numpy="a.__array_interface__"),
    each("shared", "__cuda_array_interface__", backend="cuda", pygpu="a.__cuda_array_interface__",
         cupy="a.__cuda_array_interface__", torch="a.__cuda_array_interface__", numba="a.__cuda_array_interface__"),
]  # fmt: skip

STREAMS = [
    each("stream", "event.record(stream)", pygpu="event.record(stream)", cupy="event.record(stream)",
         torch="event.record(stream)", numba="event.record(stream)", core="stream.record(event)"),
    each("stream", "stream.wait_event(event)", pygpu="stream.wait_event(event)", cupy="stream.wait_event(event)",
         torch="stream.wait_event(event)", numba="event.wait(stream)", core="stream.wait(event)"),
    each("stream", "stream.synchronize()", pygpu="stream.synchronize()", cupy="stream.synchronize()",
         torch="stream.synchronize()", numba="stream.synchronize()", core="stream.sync()"),
    each("stream", "stream.query()", pygpu="stream.query()", cupy="stream.done", torch="stream.query()"),
    each("stream", "current_stream()", pygpu="g.current_stream()", cupy="cupy.cuda.get_current_stream()",
         torch="torch.cuda.current_stream()"),
    each("stream", "with stream: pass", pygpu="with stream: pass", cupy="with stream: pass",
         torch="with torch.cuda.stream(stream): pass"),
    each("stream", "stream.handle", pygpu="stream.handle", cupy="stream.ptr", torch="stream.cuda_stream",
         core="stream.handle"),
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
    *STREAMS,
]
