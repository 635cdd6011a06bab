"""Define array operations: creation, views, copies, writes, reads."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np

import PyGPU
from soak_operations.operation_registry import device_of, in_numbers, of_moderate_size, operation, with_axes, writeable
from soak_operations.random_choices import DTYPES, NUMPYS_OWN, SMALL

if TYPE_CHECKING:
    from soak import Held, Soak

# Operations that create arrays.


@operation(6)
def to_gpu(soak: Soak) -> Held:
    shape, dtype = soak.choices.shape(), soak.choices.choice(DTYPES)
    source = soak.choices.strided_values(shape, dtype)
    return soak.hold(PyGPU.to_gpu(source, device=device_of(soak)), source.copy("K"))


@operation(4)
def allocate(soak: Soak) -> Held:
    """Allocate an uninitialized array, and write all its elements at once."""
    shape, dtype, order = soak.choices.shape(), soak.choices.choice(DTYPES), soak.choices.order()
    array = PyGPU.empty(shape, dtype, order, device=device_of(soak))
    twin = np.empty(shape, dtype, order)
    twin[...] = soak.choices.values(shape, dtype)
    array.set(twin)
    return soak.hold(array, twin)


@operation(3)
def filled(soak: Soak) -> Held:
    shape, dtype, order = soak.choices.shape(), soak.choices.choice(NUMPYS_OWN), soak.choices.order()
    value, device = soak.choices.randrange(100), device_of(soak)
    match soak.choices.randrange(3):
        case 0:
            return soak.hold(PyGPU.zeros(shape, dtype, order, device=device), np.zeros(shape, dtype, order))
        case 1:
            return soak.hold(PyGPU.ones(shape, dtype, order, device=device), np.ones(shape, dtype, order))
    return soak.hold(PyGPU.full(shape, value, dtype, order, device=device), np.full(shape, value, dtype, order))


@operation(2)
def filled_like(soak: Soak) -> Held | None:
    if (held := soak.pick(in_numbers)) is None:
        return None
    value, order = soak.choices.randrange(100), soak.choices.choice("CFAK")
    array, twin = PyGPU.full_like(held.array, value, order=order), np.full_like(held.twin, value, order=order)
    return soak.hold(array, twin)


@operation(1)
def arange(soak: Soak) -> Held:
    bounds = soak.choices.randrange(10), soak.choices.randrange(40), soak.choices.randint(1, 3)
    dtype = soak.choices.choice(["int16", "int64", "float32"])
    return soak.hold(PyGPU.arange(*bounds, dtype=dtype, device=device_of(soak)), np.arange(*bounds, dtype=dtype))


@operation(3)
def asarray_of_ndarray(soak: Soak) -> Held:
    """Create an array from an ndarray by `asarray`.

    On the CPU the memory is shared, so writes may change the ndarray. On a device the values are uploaded.
    """
    shape, dtype = soak.choices.shape(), soak.choices.choice(DTYPES)
    source, twin = soak.choices.strided_twins(shape, dtype)
    array = PyGPU.asarray(source, device=device_of(soak))
    return soak.hold(array, twin if array.device.kind == "cpu" else twin.copy("K"))


# Operations that create views. PyGPU returns a view whenever NumPy does.


def view_of(soak: Soak, held: Held, name: str, *args: Any) -> Held:
    """Apply the method or function `name` to an array and its NumPy counterpart, and hold the resulting views.

    If NumPy raises an error, PyGPU must raise an error too, and the array itself is returned.
    """
    soak.note(name, args)

    def call(package: Any, array: Any) -> Any:
        return getattr(array, name)(*args) if hasattr(np.ndarray, name) else getattr(package, name)(array, *args)

    try:
        twin = call(np, held.twin)
    except (ValueError, TypeError, IndexError) as error:
        try:
            call(PyGPU, held.array)
        except (ValueError, TypeError, IndexError):
            return held
        raise AssertionError(f"NumPy refuses {name}{args}: {error}") from error
    return soak.hold(call(PyGPU, held.array), twin, held.family if np.may_share_memory(twin, held.twin) else None)


@operation(12)
def index(soak: Soak) -> Held | None:
    held = soak.pick()
    return held and view_of(soak, held, "__getitem__", soak.choices.basic_key(held.twin.shape))


@operation(4)
def transpose(soak: Soak) -> Held | None:
    held = soak.pick()
    return held and view_of(soak, held, "transpose", soak.choices.sample(range(held.twin.ndim), held.twin.ndim) or None)


@operation(4)
def reshape(soak: Soak) -> Held | None:
    if (held := soak.pick(of_moderate_size)) is None:
        return None
    shape, order = soak.choices.same_size(held.twin.size), soak.choices.choice("CFA")
    soak.note(shape, order)
    twin = held.twin.reshape(shape, order=order)
    array = held.array.reshape(shape, order=order)
    return soak.hold(array, twin, held.family if np.may_share_memory(twin, held.twin) else None)


@operation(2)
def broadcast(soak: Soak) -> Held | None:
    held = soak.pick(lambda held: held.twin.nbytes < SMALL // 64 and held.twin.ndim < 8)
    return held and view_of(soak, held, "broadcast_to", soak.choices.broadcast(held.twin.shape))


@operation(3)
def view(soak: Soak) -> Held | None:
    """View the bytes of an array as another dtype, except bool, for which all bytes must be 0 or 1."""
    held = soak.pick(in_numbers)
    return held and view_of(soak, held, "view", soak.choices.choice(NUMPYS_OWN[1:]))


@operation(3)
def flip(soak: Soak) -> Held | None:
    held = soak.pick(with_axes)
    return held and view_of(soak, held, "flip", soak.choices.randrange(held.twin.ndim))


@operation(4)
def rearrange(soak: Soak) -> Held | None:
    """Create a view by one of the less common functions for views."""
    if (held := soak.pick(with_axes)) is None:
        return None
    first, second = (soak.choices.randrange(-held.twin.ndim, held.twin.ndim) for _ in range(2))
    match soak.choices.randrange(6):
        case 0:
            return view_of(soak, held, "swapaxes", first, second)
        case 1:
            return view_of(soak, held, "moveaxis", first, second)
        case 2:
            return view_of(soak, held, "diagonal", soak.choices.randint(-2, 2), first, second)
        case 3:
            return view_of(soak, held, "squeeze")
        case 4 if held.twin.ndim < 8:
            return view_of(soak, held, "expand_dims", first)
    return view_of(soak, held, "ravel", soak.choices.choice("CF")) if of_moderate_size(held) else held


# Operations that copy arrays.


@operation(4)
def copied(soak: Soak) -> Held | None:
    if (held := soak.pick()) is None:
        return None
    if soak.choices.chance(4):
        return soak.hold(copy.deepcopy(held.array), held.twin.copy("K"))
    order = soak.choices.choice("CFAK")
    soak.note(order)
    return soak.hold(held.array.copy(order), held.twin.copy(order))


@operation(4)
def gather(soak: Soak) -> Held | None:
    """Select elements by a key whose arrays are on the host or on the device."""
    if (held := soak.pick(lambda held: with_axes(held) and of_moderate_size(held))) is None:
        return None
    key = soak.choices.advanced_key(held.twin.shape)
    soak.note(key)
    on_device = soak.choices.chance(3) and isinstance(key, np.ndarray)
    ours = PyGPU.to_gpu(key, device=held.array.device) if on_device else key
    array, twin = held.array[ours], held.twin[key]
    # The memory layout of NumPy's result depends on NumPy's algorithm, but PyGPU's result is in C order.
    return soak.hold(array, np.array(twin, order="C") if array.flags.c_contiguous else twin)


@operation(1)
def pickled(soak: Soak) -> Held | None:
    if (held := soak.pick(of_moderate_size)) is None:
        return None
    protocol = soak.choices.choice([2, 5])
    array, twin = (pickle.loads(pickle.dumps(whole, protocol)) for whole in (held.array, held.twin.copy("K")))
    return soak.hold(array, twin)


@operation(3)
def to_another_device(soak: Soak) -> Held | None:
    if (held := soak.pick()) is None:
        return None
    device = device_of(soak)
    soak.note(str(device))
    return soak.hold(PyGPU.asarray(held.array, device=device, copy=True), held.twin.copy("K"))


# Operations that write into arrays.


@operation(5)
def fill(soak: Soak) -> Held | None:
    if (held := soak.pick(lambda held: writeable(held) and in_numbers(held))) is None:
        return None
    value = soak.choices.randrange(100)
    soak.note(value)
    held.array.fill(value)
    held.twin.fill(value)
    return held


@operation(6)
def set_from_host(soak: Soak) -> Held | None:
    if (held := soak.pick(writeable)) is None:
        return None
    source = soak.choices.strided_values(held.twin.shape, held.twin.dtype)
    held.array.set(source)
    held.twin[...] = source
    return held


@operation(6)
def assign_from_host(soak: Soak) -> Held | None:
    """Assign a host value, which is broadcast, to a part of an array."""
    if (held := soak.pick(writeable)) is None:
        return None
    key = soak.choices.basic_key(held.twin.shape)
    source = soak.choices.strided_values(soak.choices.broadcasting(held.twin[key].shape), held.twin.dtype)
    soak.note(key, source.shape)
    held.array[key] = source
    held.twin[key] = source
    return held


@operation(5)
def assign_from_device(soak: Soak) -> Held | None:
    """Assign an array of the target's dtype and a suitable shape; the array often shares memory with the target."""
    if (held := soak.pick(writeable)) is None:
        return None

    def fits(other: Held) -> bool:
        if other.twin.dtype != held.twin.dtype or other.array.device != held.array.device:
            return False
        lengths = zip(other.twin.shape[::-1], held.twin.shape[::-1], strict=False)
        return other.twin.ndim <= held.twin.ndim and all(a in (b, 1) for a, b in lengths)

    if (source := soak.pick(fits)) is None:
        return None
    held.array[...] = source.array
    held.twin[...] = source.twin
    return held


@operation(3)
def assign_within(soak: Soak) -> Held | None:
    """Assign between two overlapping parts of one array."""
    if (held := soak.pick(lambda held: writeable(held) and with_axes(held))) is None:
        return None
    length = held.twin.shape[0]
    step = soak.choices.randint(0, 2)
    target, source = slice(step, None), slice(0, max(length - step, 0))
    if soak.choices.chance(2):
        target, source = source, target
    reverse = slice(None, None, soak.choices.choice([1, -1]))
    soak.note(target, source, reverse)
    held.array[target] = held.array[source][reverse]
    held.twin[target] = held.twin[source][reverse]
    return held


@operation(2)
def scatter(soak: Soak) -> Held | None:
    if (held := soak.pick(lambda held: writeable(held) and with_axes(held) and of_moderate_size(held))) is None:
        return None
    key = soak.choices.advanced_key(held.twin.shape, distinct=True)
    value = soak.choices.values(soak.choices.broadcasting(held.twin[key].shape), held.twin.dtype)
    soak.note(key)
    held.array[key] = value
    held.twin[key] = value
    return held


@operation(2)
def by_the_host_side(soak: Soak) -> Held | None:
    if (held := soak.pick(writeable)) is None:
        return None
    host = held.array.get()
    host[...] = soak.choices.values(held.twin.shape, held.twin.dtype)
    held.array.to_device()
    held.twin[...] = host
    return held


# Operations that read arrays on the host.


@operation(3)
def get(soak: Soak) -> Held | None:
    """Download the values of an array, and keep them for a later comparison."""
    if (held := soak.pick(of_moderate_size)) is None:
        return None
    if soak.choices.chance(2):
        values = held.array.get()
    else:
        values = np.empty(held.twin.shape, held.twin.dtype)[::-1] if held.twin.ndim else held.twin.copy()
        held.array.get(values)
    soak.same("get", values, held.twin)
    soak.keep(values)
    return held


@operation(1)
def item(soak: Soak) -> Held | None:
    if (held := soak.pick(lambda held: in_numbers(held) and held.twin.size > 0)) is None:
        return None
    place = soak.choices.randrange(held.twin.size)
    soak.note(place)
    soak.same("item", held.array.item(place), held.twin.item(place))
    return held
