"""Test the lifetime of arrays: references, cycles, views, subclasses, threads, and process exit."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import sysconfig
import threading
import weakref
from typing import Any

import numpy as np
import pytest

import PyGPU
from support import assert_same, at_once, pair


def dies(reference: weakref.ref[Any]) -> bool:
    """Return whether a garbage collection destroys the object to which a weak reference refers."""
    gc.collect()
    return reference() is None


class Named(PyGPU.GPUArray):
    """Define a subclass that records every array created from it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.name = "made by init"

    def __array_finalize__(self, other: Any) -> None:
        self.name = f"from {other.name}"


# PyGPU creates arrays in three ways: by a fast path in Rust, by pyo3, and as views. Each array must be a normal Python
# object.
MAKERS = {
    "empty": lambda: PyGPU.empty((3,)),
    "zeros": lambda: PyGPU.zeros((3,)),
    "constructor": lambda: PyGPU.GPUArray((3,)),
    "to_gpu": lambda: PyGPU.to_gpu(np.zeros(3)),
    "arange": lambda: PyGPU.arange(3),
    "slice": lambda: PyGPU.zeros(5)[1:4],
    "transpose": lambda: PyGPU.zeros((3, 1)).T,
    "reshape": lambda: PyGPU.zeros((3, 1)).reshape(3),
    "gather": lambda: PyGPU.zeros(5)[[0, 1, 2]],
    "copy": lambda: PyGPU.zeros(3).copy(),
    "row": lambda: next(iter(PyGPU.zeros((2, 3)))),
    "dtype view": lambda: PyGPU.zeros(3).view("int64"),
    "subclass": lambda: Named(3),
    "view of subclass": lambda: Named(5)[1:4],
}
makers = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@makers
def test_array_supports_weak_references(make: Any) -> None:
    array = make()
    called: list[Any] = []
    reference = weakref.ref(array, called.append)
    assert reference() is array
    assert weakref.getweakrefcount(array) == 1
    del array
    assert reference() is None
    assert called == [reference]


@makers
def test_array_accepts_attributes(make: Any) -> None:
    array = make()
    array.note = ["text"]
    assert array.note == ["text"]
    assert vars(array)["note"] == ["text"]
    array.__dict__["more"] = 1
    assert array.more == 1
    del array.note
    with pytest.raises(AttributeError):
        _ = array.note


@makers
def test_array_in_reference_cycle_is_collected(make: Any) -> None:
    array = make()
    array.itself = array
    reference = weakref.ref(array)
    del array
    assert dies(reference)


@makers
def test_array_whose_attribute_is_its_own_view_is_collected(make: Any) -> None:
    array = make()
    array.part = array[1:]
    array.part.whole = array
    references = weakref.ref(array), weakref.ref(array.part)
    del array
    assert dies(references[0])
    assert dies(references[1])


@makers
def test_collector_visits_array_and_objects_that_array_refers_to(make: Any) -> None:
    array = make()
    assert gc.is_tracked(array)
    assert any(found is array for found in gc.get_objects())
    array.held = held = ["held"]
    referents = gc.get_referents(array)
    assert any(found is array.__dict__ or found is held for found in referents)
    if array.base is not None:
        assert any(found is array.base for found in referents)


@makers
def test_attributes_are_released_when_array_is_dropped(make: Any) -> None:
    class Part:
        pass

    array, part = make(), Part()
    array.part = part
    reference = weakref.ref(part)
    del part
    assert not dies(reference)
    del array
    assert dies(reference)


def test_cycle_of_array_and_its_host_mirror_is_collected() -> None:
    class Host(np.ndarray):
        pass

    host = np.zeros(3).view(Host)
    array = PyGPU.GPUArray(host)
    host.device_side = array
    reference = weakref.ref(array)
    del host, array
    assert dies(reference)


def test_view_keeps_memory_and_owner_alive() -> None:
    host, array = pair((1000,), "int32")
    view = array[10:20]
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is not None
    filler = [PyGPU.zeros(1000, "int32") for _ in range(20)]
    assert_same(view, host[10:20])
    assert view.base is reference()
    del view, filler
    assert dies(reference)


def test_base_of_nested_view_is_array_that_owns_memory_not_first_view() -> None:
    _, array = pair((1000,))
    middle = array[10:]
    reference = weakref.ref(middle)
    last = middle[::2].T[1:]
    assert last.base is array
    del middle
    assert dies(reference)


def test_base_argument_stays_alive_as_long_as_array_and_views() -> None:
    class Owner:
        pass

    _, memory = pair((4,))
    owner = Owner()
    reference = weakref.ref(owner)
    array = PyGPU.GPUArray((4,), gpudata=memory.ptr, base=owner)
    view = array[1:]
    del owner, array
    assert not dies(reference)
    del view
    assert dies(reference)


def test_object_passed_as_gpudata_stays_alive_as_long_as_array() -> None:
    _, memory = pair((4,))
    reference = weakref.ref(memory)
    array = PyGPU.GPUArray((4,), gpudata=memory)
    del memory
    assert not dies(reference)
    assert array.tolist() == [1, 2, 3, 4]
    del array
    assert dies(reference)


# Tests of subclasses.


def test_views_and_copies_have_same_class_and_call_array_finalize() -> None:
    array = Named((4, 2), "float32")
    assert array.name == "made by init"
    made = [array[0], array.T, array.reshape(8), array.view("int32"), array.copy(), array[[0, 1]], array.ravel("F")]
    made += [PyGPU.flip(array), PyGPU.broadcast_to(array, (2, 4, 2)), PyGPU.zeros_like(array), next(iter(array))]
    for other in made:
        assert type(other) is Named
        assert other.name == "from made by init"


def test_creation_functions_return_gpuarray_not_subclass() -> None:
    for array in (PyGPU.zeros(2), PyGPU.to_gpu(np.zeros(2)), PyGPU.arange(2)):
        assert type(array) is PyGPU.GPUArray


def test_subclass_may_define_slots_new_method_and_second_base_class() -> None:
    class Mixin:
        def hello(self) -> str:
            return f"hello {self.shape}"

    class Slotted(Mixin, PyGPU.GPUArray):
        __slots__ = ("extra",)

        def __new__(cls, count: int, extra: str) -> Slotted:
            return super().__new__(cls, (count,), "int16")

        def __init__(self, count: int, extra: str) -> None:
            super().__init__()
            self.extra = extra

    array = Slotted(3, "more")
    assert (array.hello(), array.extra, array.shape) == ("hello (3,)", "more", (3,))
    array.fill(2)
    assert array[1:].tolist() == [2, 2]
    assert not hasattr(array[1:], "extra")
    reference = weakref.ref(array)
    array.cycle = array
    del array
    assert dies(reference)


def test_error_in_array_finalize_is_raised_without_leak() -> None:
    class Failing(PyGPU.GPUArray):
        def __array_finalize__(self, other: Any) -> None:
            raise ZeroDivisionError("on purpose")

    array = Failing(3)
    call: Any
    for call in (lambda: array[1:], lambda: array.T, array.copy, lambda: next(iter(array))):
        with pytest.raises(ZeroDivisionError):
            call()
    reference = weakref.ref(array)
    array, call = None, None
    assert dies(reference)


def test_assigning_unrelated_class_to_array_raises_type_error() -> None:
    _, array = pair((3,))
    with pytest.raises(TypeError):
        array.__class__ = list


# Tests of leaks.


OPERATIONS = {
    "empty": lambda array: PyGPU.empty((16,)),
    "slice": lambda array: array[1:3],
    "key of two": lambda array: array[1:3, None],
    "refused key": lambda array: _refused(lambda: array[99]),
    "refused view": lambda array: _refused(lambda: array.reshape(7)),
    "refused shape": lambda array: _refused(lambda: PyGPU.empty(-1)),
    "refused dtype": lambda array: _refused(lambda: PyGPU.empty(1, object)),
    "gather": lambda array: array[[0, 1]],
    "iterate": lambda array: list(array),
    "transpose": lambda array: array.T,
    "get": lambda array: array.get(),
    "item": lambda array: array[0].item(),
    "set": lambda array: array.set(HOST),
    "assign": lambda array: array.__setitem__(slice(1, 3), 4.0),
    "attributes": lambda array: (array.shape, array.strides, array.dtype, array.flags, array.device, array.base),
    "over ndarray": lambda array: PyGPU.GPUArray(HOST).to_device(),
    "subclass": lambda array: Named(4)[1:],
    "note": lambda array: setattr(array[1:], "note", []),
    "str": lambda array: str(array),
}
HOST = np.zeros(8)


def _refused(call: Any) -> None:
    with pytest.raises((IndexError, ValueError, TypeError)):
        call()


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation_leaves_reference_counts_unchanged(name: str) -> None:
    array = PyGPU.zeros((8,))
    operation = OPERATIONS[name]
    counted = [array, PyGPU.GPUArray, Named, array.dtype, HOST, array.device, np.dtype("float64"), ()]
    for _ in range(20):
        operation(array)
    array.get()
    gc.collect()
    before = [sys.getrefcount(each) for each in counted]
    objects = len(gc.get_objects())
    for _ in range(200):
        operation(array)
    gc.collect()
    after = [sys.getrefcount(each) for each in counted]
    assert max(abs(b - a) for a, b in zip(before, after, strict=True)) < 50
    assert abs(len(gc.get_objects()) - objects) < 50


@pytest.mark.sampled(on="cuda")
@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("arrays", lambda array: PyGPU.empty((1024,), "uint8")),
        ("views", lambda array: array[1:-1]),
        ("copies", lambda array: array.copy()),
        ("subclasses", lambda array: Named(4)),
        ("noted", lambda array: setattr(array[1:], "note", None)),
        ("host sides", lambda array: PyGPU.GPUArray(HOST)),
        ("fetched", lambda array: array.get()),
    ],
)
def test_creating_thousands_of_objects_leaks_no_memory(name: str, make: Any) -> None:
    array = PyGPU.zeros((64,))

    def make_many(thousands: int) -> None:
        for _ in range(thousands):
            for _ in range(1000):
                make(array)
            # Wait for unfinished work, because the memory that it uses is no leak.
            PyGPU.synchronize()

    make_many(10)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    make_many(40)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1600, f"{name}: {grown} KiB"


def test_threads_may_create_share_and_drop_arrays() -> None:
    host, shared = pair((64, 64), "int32")

    def work(number: int) -> None:
        for step in range(300):
            own = PyGPU.full((50,), number, "int32")
            view = shared[step % 64, :: 1 + step % 3]
            np.testing.assert_array_equal(view.get(), host[step % 64, :: 1 + step % 3])
            own[5:] = own[:-5]
            own.friend = shared[1:]
            assert own.tolist() == [number] * 50
            shared.note = own

    at_once(8, work)


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this interpreter has a GIL")
def test_import_of_pygpu_does_not_enable_gil_in_free_threaded_python() -> None:
    assert not sys._is_gil_enabled()  # type: ignore[attr-defined]


def test_array_may_be_dropped_by_another_thread() -> None:
    made: list[Any] = [PyGPU.zeros(1000) for _ in range(100)]
    thread = threading.Thread(target=made.clear)
    thread.start()
    thread.join()
    assert made == []


EXITS = {
    "globals": "a = PyGPU.zeros(1000); b = a[1:]",
    "cycle": "a = PyGPU.zeros(1000); a.itself = a; a.part = a[1:]; del a",
    "host side": "a = PyGPU.GPUArray(np.zeros(3)); a.to_device(); h = PyGPU.to_gpu(np.zeros(3)).get()",
    "builtins": "import builtins; builtins.kept = PyGPU.zeros(1000); builtins.kept.itself = builtins.kept",
    "modules": "import sys; sys.kept = [PyGPU.zeros(1000)[1:]]; sys.modules['kept'] = PyGPU.zeros(3)",
    "atexit": "import atexit; a = PyGPU.zeros(3); atexit.register(lambda: (a.fill(1), str(a), a[1:].copy()))",
    "del": "PyGPU.zeros(3).fill(1)\nclass K:\n  def __del__(self): PyGPU.zeros(3).fill(1)\nk = K(); k.k = k",
    "thread": "import threading, time; a = PyGPU.zeros(3)\n"
    "def run():\n  while True: a[1:].fill(1); str(a)\n"
    "threading.Thread(target=run, daemon=True).start(); time.sleep(0.05)",
    "thread in Python": "import threading, time\nclass P:\n"
    "  array = PyGPU.zeros(3)\n"
    "  def __dlpack_device__(self): return self.array.__dlpack_device__()\n"
    "  def __dlpack__(self, **given):\n    for _ in range(300): given = dict(given)\n"
    "    return self.array.__dlpack__(**given)\n"
    "def run():\n  while True: PyGPU.from_dlpack(P())\n"
    "threading.Thread(target=run, daemon=True).start(); time.sleep(0.05)",
    "exception": "a = PyGPU.zeros(3); raise SystemExit(0)",
    "class": "class A(PyGPU.GPUArray):\n  pass\nA.one = A(3); A.one.type = A",
    "stream": "s = PyGPU.Stream(); a = PyGPU.to_gpu_async(np.zeros(100), stream=s); a.record_stream(s)",
}


@pytest.mark.parametrize("name", EXITS)
def test_program_with_live_arrays_exits_without_output(name: str) -> None:
    program = f"import numpy as np, PyGPU\n{EXITS[name]}\n"
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
