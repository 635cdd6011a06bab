"""What a soak does to an array and to its NumPy twin. Every operation does the same to both, or compares them.

A pair's two arrays share memory with those of other pairs in the same way, so that a write through one view must show
in every other. Nothing here reads device memory from the host.
"""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import PyGPU

RECORD = np.dtype([("id", "i4"), ("position", "f4", (2,))])
DTYPES = [
    *map(np.dtype, ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")),
    *map(np.dtype, ("float16", "float32", "float64", "complex64", "complex128", "V3")),
    RECORD,
]
# What every consumer of DLPack knows.
COMMON = {np.dtype(name) for name in ("int8", "int32", "int64", "uint8", "float32", "float64", "complex64")}
WIDTHS = {1: "uint8", 2: "int16", 4: "float32", 8: "int64", 16: "complex128"}
_BYTES = np.random.default_rng(0).integers(0, 256, 1 << 21, dtype=np.uint8)
LARGEST = 1 << 16


class Pair(NamedTuple):
    """An array and what it must hold."""

    device: PyGPU.GPUArray
    host: np.ndarray


class Wrapped:
    """A producer that is not PyGPU's own class, so that the capsule is really made and taken."""

    def __init__(self, array: PyGPU.GPUArray) -> None:
        self.array = array

    def __dlpack__(self, **keywords: Any) -> Any:
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.array.__dlpack_device__()


class Described:
    """An object with one of the array interfaces, and nothing else."""

    def __init__(self, name: str, array: PyGPU.GPUArray) -> None:
        self.array = array
        setattr(self, name, getattr(array, name))


class Dice:
    """Random arguments, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def chance(self, of: int) -> bool:
        return self.random.randrange(of) == 0

    def dtype(self) -> np.dtype[Any]:
        return self.random.choice(DTYPES)

    def order(self) -> str:
        return self.random.choice("CF")

    def shape(self) -> tuple[int, ...]:
        if self.chance(200):
            return (self.random.randrange(1, LARGEST),)
        rank = self.random.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))
        return tuple(
            self.random.choice((0, 1, 1, 2, 3, 4, 5, 8) if rank > 1 else (0, 1, 2, 7, 64)) for _ in range(rank)
        )

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any], order: str = "C") -> np.ndarray:
        """Random bytes as an ndarray with memory of its own."""
        count = int(np.prod(shape, dtype=np.int64))
        start = self.random.randrange(1 << 20)
        raw = _BYTES[start : start + count * dtype.itemsize]
        flat = (raw & 1).view(dtype) if dtype.kind == "b" else raw.view(np.uint8).copy().view(dtype)
        return np.array(flat.reshape(shape), order=order)

    def slice(self) -> slice:
        bound = lambda: self.random.choice((None, None, self.random.randrange(-6, 7)))  # noqa: E731
        return slice(bound(), bound(), self.random.choice((None, None, 1, 2, -1, -2, 3)))

    def item(self, length: int) -> Any:
        return self.random.randrange(-length, length) if length and self.chance(4) else self.slice()

    def key(self, shape: tuple[int, ...]) -> Any:
        """A basic key that fits."""
        count = self.random.randrange(len(shape) + 1)
        items = [self.item(length) for length in shape[:count]]
        if self.chance(4):
            # What follows it names the last axes.
            behind = self.random.randrange(len(shape) - count + 1)
            items += [Ellipsis, *(self.item(length) for length in shape[len(shape) - behind :])]
        if self.chance(6):
            items.insert(self.random.randrange(len(items) + 1), None)
        return items[0] if len(items) == 1 and self.chance(2) else tuple(items)

    def scalar(self, dtype: np.dtype[Any]) -> Any:
        number = self.random.randrange(100)
        return np.zeros((), dtype)[()] if dtype.kind == "V" else dtype.type(number % 2 if dtype.kind == "b" else number)


Made = Pair | None
Operation = Callable[[Dice, Pair, Any], Made]


def make(dice: Dice, where: Any) -> Pair:
    """A new pair on a device."""
    shape, dtype, order = dice.shape(), dice.dtype(), dice.order()
    host = dice.values(shape, dtype, order)
    match dice.random.randrange(8 if dtype.kind != "V" else 4):
        case 0:
            device = PyGPU.empty(shape, dtype, order, device=where)
            device.set(host)
        case 1:
            device = PyGPU.zeros(shape, dtype, order, device=where)
            host = np.zeros(shape, dtype, order)
        case 2:
            device = PyGPU.asarray(host.copy("K"), device=where, copy=True)
        case 3 | 4:
            device = PyGPU.to_gpu(host, device=where)
        case 5:
            value = dice.scalar(dtype)
            device, host = PyGPU.full(shape, value, dtype, order, device=where), np.full(shape, value, dtype, order)
        case 6:
            count = dice.random.randrange(100)
            device, host = PyGPU.arange(count, dtype="int32", device=where), np.arange(count, dtype="int32")
        case _:
            device, host = PyGPU.ones(shape, dtype, order, device=where), np.ones(shape, dtype, order)
    return Pair(device, host)


# Views


def take_part(dice: Dice, pair: Pair, _: Any) -> Made:
    key = dice.key(pair.host.shape)
    part = pair.host[key]
    # An ndarray gives a scalar for a full integer index, which shares nothing.
    return Pair(pair.device[key], part if isinstance(part, np.ndarray) else pair.host[(*_tuple(key), ...)])


def _tuple(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def refuse_key(dice: Dice, pair: Pair, _: Any) -> Made:
    for key in ((0,) * (pair.host.ndim + 1), (pair.host.shape or (0,))[0] + dice.random.randrange(3)):
        try:
            pair.device[key]
        except IndexError:
            continue
        raise AssertionError(f"the key {key} is not refused for shape {pair.host.shape}")
    return None


def turn(dice: Dice, pair: Pair, _: Any) -> Made:
    axes = dice.random.sample(range(pair.host.ndim), pair.host.ndim)
    if dice.chance(2):
        return Pair(pair.device.transpose(axes), pair.host.transpose(axes))
    return Pair(pair.device.T, pair.host.T)


def move_axes(dice: Dice, pair: Pair, _: Any) -> Made:
    rank = pair.host.ndim
    if rank == 0:
        return Pair(PyGPU.expand_dims(pair.device, 0), np.expand_dims(pair.host, 0))
    first, second = dice.random.randrange(-rank, rank), dice.random.randrange(rank)
    match dice.random.randrange(5):
        case 0:
            return Pair(pair.device.swapaxes(first, second), pair.host.swapaxes(first, second))
        case 1:
            return Pair(PyGPU.moveaxis(pair.device, first, second), np.moveaxis(pair.host, first, second))
        case 2:
            return Pair(PyGPU.flip(pair.device, first), np.flip(pair.host, first))
        case 3:
            return Pair(pair.device.squeeze(), pair.host.squeeze())
        case _ if rank > 5:
            return None
        case _:
            return Pair(PyGPU.expand_dims(pair.device, second), np.expand_dims(pair.host, second))


def reshape(dice: Dice, pair: Pair, _: Any) -> Made:
    order = dice.order()
    shape: list[int] = []
    rest = pair.host.size
    for factor in (2, 3, 5, 8):
        if rest and rest % factor == 0 and dice.chance(2):
            shape.append(factor)
            rest //= factor
    shape.insert(dice.random.randrange(len(shape) + 1), rest)
    if dice.chance(3):
        return Pair(pair.device.ravel(order), pair.host.ravel(order))
    return Pair(pair.device.reshape(shape, order=order), pair.host.reshape(shape, order=order))


def broadcast(dice: Dice, pair: Pair, _: Any) -> Made:
    if pair.host.ndim > 4 or pair.host.size > 4096:
        return None
    shape = tuple(dice.random.choice((1, 2, 3)) if length == 1 else length for length in pair.host.shape)
    shape = (dice.random.randrange(4), *shape) if dice.chance(2) else shape
    return Pair(PyGPU.broadcast_to(pair.device, shape), np.broadcast_to(pair.host, shape))


def diagonal(dice: Dice, pair: Pair, _: Any) -> Made:
    if pair.host.ndim < 2:
        return None
    offset = dice.random.randrange(-3, 4)
    device, host = pair.device.diagonal(offset), pair.host.diagonal(offset)
    # NumPy's is read-only for the time being; its memory is shared all the same.
    host.flags.writeable = pair.host.flags.writeable
    return Pair(device, host)


def see_as(dice: Dice, pair: Pair, _: Any) -> Made:
    host = pair.host
    if host.dtype.kind in "bV" or not host.ndim or (host.shape[-1] != 1 and host.strides[-1] != host.itemsize):
        return None
    width = dice.random.choice(tuple(WIDTHS))
    if width > host.itemsize and host.shape[-1] * host.itemsize % width:
        return None
    return Pair(pair.device.view(WIDTHS[width]), host.view(WIDTHS[width]))


# Copies


def copy_array(dice: Dice, pair: Pair, _: Any) -> Made:
    match dice.random.randrange(4):
        case 0:
            return Pair(copy.copy(pair.device), pair.host.copy("K"))
        case 1:
            return Pair(copy.deepcopy(pair.device), pair.host.copy("K"))
        case 2:
            made = PyGPU.empty_like(pair.device)
            made[...] = pair.device
            return Pair(made, pair.host.copy("K"))
        case _:
            order = dice.random.choice("CFAK")
            return Pair(pair.device.copy(order), pair.host.copy(order))


def move_to(dice: Dice, pair: Pair, where: Any) -> Made:
    return Pair(PyGPU.asarray(pair.device, device=where, copy=True), pair.host.copy("K"))


def gather(dice: Dice, pair: Pair, _: Any) -> Made:
    if pair.host.ndim == 0 or pair.host.size > 4096:
        return None
    length = pair.host.shape[0]
    if dice.chance(2):
        chosen: Any = [dice.random.randrange(-length, length) for _ in range(dice.random.randrange(6) if length else 0)]
        chosen = np.array(chosen, np.int64)
    else:
        chosen = np.array([dice.chance(2) for _ in range(length)], bool)
    made = Pair(pair.device[chosen], pair.host[chosen])
    assert equal(made.device.get(), made.host), "a gather gives other values"
    # Which axis runs fastest in the copy is nobody's promise, and later views depend on it.
    return Pair(made.device, np.ascontiguousarray(made.host)) if made.device.flags.c_contiguous else None


def pickled(dice: Dice, pair: Pair, _: Any) -> Made:
    protocol = dice.random.randrange(2, pickle.HIGHEST_PROTOCOL + 1)
    # An ndarray's pickle keeps C or F order and no other.
    twin = pickle.loads(pickle.dumps(pair.host.copy("K"), protocol))
    return Pair(pickle.loads(pickle.dumps(pair.device, protocol)), twin)


# Writes


def refuses_writing(pair: Pair) -> bool:
    """Whether the array is read-only, and then that it says so."""
    if pair.device.flags.writeable:
        return False
    try:
        pair.device.fill(0)
    except ValueError:
        return True
    raise AssertionError("a read-only array was written")


def fill(dice: Dice, pair: Pair, _: Any) -> Made:
    if not refuses_writing(pair):
        value = dice.scalar(pair.host.dtype)
        pair.device.fill(value)
        pair.host[...] = value
    return None


def assign(dice: Dice, pair: Pair, other: Pair) -> Made:
    """A part set to a scalar, to host values, to another array, or to another part of itself."""
    if refuses_writing(pair):
        return None
    key = dice.key(pair.host.shape)
    part = pair.host[(*_tuple(key), ...)] if not isinstance(pair.host[key], np.ndarray) else pair.host[key]
    match dice.random.randrange(4):
        case 0:
            source: Any = dice.scalar(pair.host.dtype)
            pair.device[key] = source
        case 1:
            source = dice.values(part.shape, pair.host.dtype, dice.order())
            pair.device[key] = source
        case 2 if other.host.dtype == pair.host.dtype and other.host.shape == part.shape:
            source = other.host.copy()
            pair.device[key] = other.device
        case 2:
            source = dice.values(part.shape, pair.host.dtype)
            pair.device[key] = PyGPU.to_gpu(source)
        case _:
            # Read where it is written, backwards.
            source = part[::-1].copy() if part.ndim else part.copy()
            pair.device[key] = pair.device[key][::-1] if part.ndim else pair.device[key]
    part[...] = source
    return None


def set_values(dice: Dice, pair: Pair, _: Any) -> Made:
    if not refuses_writing(pair):
        source = dice.values(pair.host.shape, pair.host.dtype, dice.order())
        pair.device.set(source)
        pair.host[...] = source
    return None


def set_async(dice: Dice, pair: Pair, stream: Any) -> Made:
    if refuses_writing(pair):
        return None
    source = PyGPU.empty_like_pinned(pair.host)
    source[...] = dice.values(pair.host.shape, pair.host.dtype)
    pair.device.set_async(source, stream=stream)
    pair.host[...] = source
    return None


# Reads


def equal(got: np.ndarray, wanted: np.ndarray) -> bool:
    return got.shape == wanted.shape and got.dtype == wanted.dtype and got.tobytes() == wanted.tobytes()


def get(dice: Dice, pair: Pair, _: Any) -> Made:
    if dice.chance(2):
        assert equal(pair.device.get(pagelocked=dice.chance(4)), pair.host), "get() gives other values"
        return None
    target = np.zeros((2, *pair.host.shape), pair.host.dtype)
    pair.device.get(target[1, ...])
    assert equal(target[1], pair.host), "get(target) gives other values"
    assert not target[0].tobytes().strip(b"\0"), "get(target) wrote beside the target"
    return None


def get_async(dice: Dice, pair: Pair, stream: Any) -> Made:
    target = PyGPU.empty_like_pinned(pair.host)
    assert pair.device.get_async(stream, target) is target
    stream.synchronize()
    assert equal(target, pair.host), "get_async() gives other values"
    return None


def ask(dice: Dice, pair: Pair, _: Any) -> Made:
    device, host = pair
    assert (device.shape, device.size, device.nbytes, device.dtype) == (host.shape, host.size, host.nbytes, host.dtype)
    assert device.flags.c_contiguous == host.flags.c_contiguous
    assert device.flags.f_contiguous == host.flags.f_contiguous
    if host.ndim and host.shape[0] < 9:
        rows = zip(device, range(host.shape[0]), strict=True)
        assert all(equal(row.get(), host[number, ...]) for row, number in rows), "iteration gives other values"
    return None


def hold_host_side(dice: Dice, pair: Pair, _: Any) -> Made:
    """PybindGPU's way: an ndarray that is uploaded and refreshed."""
    side = dice.values(dice.shape(), dice.random.choice(DTYPES[:14]))
    device = PyGPU.GPUArray(side)
    device.to_device()
    wanted = side.copy()
    side[...] = 0
    device.to_host()
    assert equal(side, wanted), "to_host() gives other values"
    return Pair(device, wanted)


# Sharing


def can_be_described(host: np.ndarray, device: PyGPU.GPUArray) -> bool:
    """Whether DLPack has words for the array: strides in elements, and elements at multiples of their size."""
    if host.dtype.kind == "V":
        return False
    odd = any(stride % host.itemsize for stride, n in zip(host.strides, host.shape, strict=True) if n > 1)
    return host.size == 0 or not (odd or device.ptr % host.itemsize)


def share_with_itself(dice: Dice, pair: Pair, stream: Any) -> Made:
    device, host = pair
    if dice.chance(2):
        return Pair(PyGPU.from_dlpack(device), host.view())
    if not can_be_described(host, device):
        return None
    if dice.chance(3):
        on_host = PyGPU.from_dlpack(device, device="cpu", copy=True)
        return Pair(on_host, host.copy("K"))
    shared = PyGPU.from_dlpack(Wrapped(device), stream=None if device.device.kind == "cpu" else stream)
    return Pair(shared, host.view())


def share_with_numpy(dice: Dice, pair: Pair, _: Any) -> Made:
    """Host memory both ways; device memory by a copy that is asked for."""
    device, host = pair
    if not can_be_described(host, device):
        return None
    if device.device.kind != "cpu":
        assert equal(np.from_dlpack(device, device="cpu", copy=True), host), (
            "from_dlpack to the host gives other values"
        )
        return None
    by_interface = dice.chance(2)
    shared = np.asarray(Described("__array_interface__", device)) if by_interface else np.from_dlpack(device)
    assert equal(shared, host), "NumPy sees other values"
    if device.flags.writeable and shared.flags.writeable and shared.size:
        value = dice.scalar(host.dtype)
        shared[...] = value
        host[...] = value
    return None


def take_from_numpy(dice: Dice, pair: Pair, _: Any) -> Made:
    """An ndarray that only PyGPU keeps alive from here on."""
    source = dice.values(dice.shape(), dice.random.choice(DTYPES[:14]), dice.order())
    wanted = source.copy("K")
    if dice.chance(2):
        return Pair(PyGPU.from_dlpack(source), wanted)
    return Pair(PyGPU.asarray(source, device="cpu"), wanted)


VIEWS: dict[str, Operation] = {
    "index": take_part, "transpose": turn, "axes": move_axes, "reshape": reshape, "broadcast": broadcast,
    "diagonal": diagonal, "view": see_as,
}  # fmt: skip
COPIES: dict[str, Operation] = {"copy": copy_array, "gather": gather, "pickle": pickled}
WRITES: dict[str, Operation] = {"fill": fill, "set": set_values}
READS: dict[str, Operation] = {"get": get, "attributes": ask, "refused key": refuse_key}
SHARING: dict[str, Operation] = {
    "NumPy": share_with_numpy, "from NumPy": take_from_numpy, "host side": hold_host_side,
}  # fmt: skip
WITH_STREAM: dict[str, Operation] = {"set_async": set_async, "get_async": get_async, "DLPack": share_with_itself}
