"""Convert the bytes of a fuzzer's input into Python objects: ordinary objects, unusual objects, and forged exports of
memory.

Equal inputs always give equal objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import PyGPU
from dlpack_forge import BFLOAT, CPU, CUDA, FLOAT, INT, LEGACY, UINT, VERSIONED, Forged

NUMBERS = (2**31 - 1, 2**31, 2**62, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, -(2**31))
TYPESTRS = (
    "<f4",
    "<i8",
    "|u1",
    "|b1",
    "<c16",
    "<f2",
    "|V3",
    "|V0",
    ">f4",
    "=f4",
    "<f16",
    "<U2",
    "|O",
    "<M8[s]",
    "",
    "f",
    "é4",
)
HALF = 2048


class Bytes:
    """Read an input byte by byte, and return zeros after its end."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    @property
    def is_empty(self) -> bool:
        return self.at >= len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def below(self, bound: int) -> int:
        return self.byte() % bound

    def choose(self, choices: Any) -> Any:
        return choices[self.below(len(choices))]

    def chance(self, of: int) -> bool:
        return self.below(of) == of - 1

    def small(self) -> int:
        return self.below(14) - 5

    def number(self) -> int:
        if not self.chance(8):
            return self.small()
        return self.choose(NUMBERS) if self.chance(2) else int.from_bytes(bytes(self.byte() for _ in range(8)), "big")


class Indexed:
    """Return `answer` from `__index__`, even if it is no integer; raise ValueError if `answer` is None."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __index__(self) -> Any:
        if self.answer is None:
            raise ValueError("an index that refuses")
        return self.answer


class Lying:
    """Define a sequence for which `len` may return another number than that of its items."""

    def __init__(self, length: Any, items: list[Any]) -> None:
        self.length, self.items = length, items

    def __len__(self) -> Any:
        return self.length

    def __getitem__(self, index: int) -> Any:
        return self.items[index]


def plain(source: Bytes) -> Any:
    """Return an integer or a tuple of integers, to be used as a shape or as axes."""
    if source.chance(3):
        return source.number()
    return tuple(source.number() for _ in range(source.below(5)))


def thing(source: Bytes, depth: int = 0) -> Any:
    """Return an object of a random kind: numbers, texts, arrays, slices, nested sequences, invalid objects."""
    kind = source.below(26 if depth < 3 else 16)
    match kind:
        case 0 | 1 | 2:
            return source.number()
        case 3:
            return None
        case 4:
            return Ellipsis
        case 5:
            return source.choose((True, False, np.True_))
        case 6:
            return source.choose((0.5, 2.0, float("nan"), float("inf"), 1j, np.float32(1)))
        case 7:
            return source.choose(("", "C", "F", "K", "int32", "cpu", "cuda:0", b"\0", "\ud800"))
        case 8:
            return source.choose((np.int8, np.int64, np.uint64, np.int16))(source.below(7))
        case 9:
            return Indexed(source.choose((1, -2, 2**70, "x", 1.0, None, True)))
        case 10:
            return PyGPU.asarray(np.arange(source.below(4)), device="cpu")
        case 11:
            return np.arange(source.below(5)).astype(source.choose(("int64", "uint8", "float32", "bool", "object")))
        case 12:
            return source.choose(({}, set(), object(), int, range(3), memoryview(b"abc"), frozenset((1, 2))))
        case 13:
            return Lying(source.choose((0, 2, -1, 2**70, "x")), [source.small() for _ in range(source.below(4))])
        case 14:
            return np.array(source.small())
        case 15:
            return np.zeros((source.below(3), source.below(3)), source.choose(("int64", "bool")))
        case 16 | 17 | 18:
            return slice(*(thing(source, 3) if source.chance(8) else _bound(source) for _ in range(3)))
        case 19 | 20 | 21 | 22:
            return tuple(thing(source, depth + 1) for _ in range(source.below(5)))
        case _:
            return [thing(source, depth + 1) for _ in range(source.below(4))]


def _bound(source: Bytes) -> int | None:
    return None if source.chance(3) else source.number()


def key(source: Bytes) -> Any:
    """Return a key for indexing: integers, slices, `...` and `None`."""
    items: list[Any] = []
    for _ in range(source.below(5)):
        match source.below(6):
            case 0 | 1:
                items.append(source.number())
            case 2 | 3:
                items.append(slice(_bound(source), _bound(source), _bound(source)))
            case 4:
                items.append(None)
            case _:
                items.append(Ellipsis)
    return items[0] if len(items) == 1 and source.chance(2) else tuple(items)


class Described:
    """Define an object with one attribute that describes memory, such as `__cuda_array_interface__`."""

    def __init__(self, name: str, said: Any) -> None:
        setattr(self, name, said)


def _maybe_odd(source: Bytes, said: dict[str, Any]) -> dict[str, Any]:
    """With a probability of one third, replace or remove an entry of a dict; return the dict."""
    name = source.choose((*said, "mask", "descr", "offset"))
    if source.chance(3):
        if source.chance(3):
            said.pop(name, None)
        else:
            said[name] = thing(source)
    return said


def cuda_interface(source: Bytes) -> Any:
    """Return a value for `__cuda_array_interface__`; it is rarely valid."""
    said: dict[str, Any] = {
        "shape": plain(source) if source.chance(6) else tuple(source.number() for _ in range(source.below(4))),
        "typestr": source.choose(TYPESTRS),
        "data": (source.choose((0, 64, 4096, 65, 1 << 57, 2**63, -8)), source.chance(2)),
        "version": source.choose((3, 3, 3, 2, 0, 4, -1)),
        "strides": None if source.chance(2) else tuple(source.number() for _ in range(source.below(4))),
        "stream": source.choose((None, None, 1, 2, 0, -1, 7, 2**70)),
    }
    return thing(source) if source.chance(12) else _maybe_odd(source, said)


def host_interface(source: Bytes, memory: np.ndarray) -> Any:
    """Return a value for `__array_interface__`.

    The address in the value is always within `memory`, because NumPy would access any other address unchecked.
    """
    rank = source.below(4)
    said: dict[str, Any] = {
        "shape": tuple(source.below(5) for _ in range(rank)),
        "typestr": source.choose(TYPESTRS),
        "version": source.choose((3, 3, 3, 2, 4)),
        "strides": None if source.chance(2) else tuple(source.small() * 4 for _ in range(rank)),
    }
    if source.chance(4):
        name = source.choose(tuple(said))
        # The replaced values are no integers, because a wrong address, shape or stride would make NumPy access other
        # memory.
        said[name] = source.choose((None, "x", 1.5, (), [], {}, b"<f4", ("a",), object()))
    said["data"] = (memory.ctypes.data + HALF, source.chance(2))
    return said


ELEMENTS = ((FLOAT, 32, 1), (FLOAT, 64, 1), (INT, 8, 1), (UINT, 16, 1), (5, 64, 1), (6, 8, 1), (BFLOAT, 16, 1))


class Claims:
    """Hold the fields of a forged DLPack tensor, which describes existing memory if `is_honest` is true."""

    def __init__(self, source: Bytes) -> None:
        self.forged = Forged(versioned=source.chance(2), deleter=not source.chance(16))
        forged = self.forged
        rank = source.below(4)
        honest = not source.chance(3)
        length = (lambda: source.below(4)) if honest else source.number
        self.shape = tuple(_int64(length()) for _ in range(rank))
        step = source.small if honest else source.number
        self.strides = None if source.chance(3) else tuple(_int64(step()) for _ in range(rank))
        self.element = source.choose(ELEMENTS) if honest else (source.byte(), source.byte(), source.below(3))
        # The described elements begin in the middle of the memory, so that strides of either sign stay inside it.
        forged.memory = np.arange(512, dtype=np.float32)
        address = forged.memory.ctypes.data + 1024
        forged.set(shape=self.shape, strides=self.strides, dtype=self.element, data=address)
        if not honest:
            self._lie(source)
        self.is_honest = honest
        self.byte_offset = forged.tensor.byte_offset

    def _lie(self, source: Bytes) -> None:
        forged = self.forged
        match source.below(8):
            case 0:
                forged.set(data=source.choose((None, 1, 4096, 2**63, 2**64 - 1)))
            case 1:
                forged.set(ndim=source.choose((-1, 65, 2**31 - 1, -(2**31))))
            case 2:
                forged.set(byte_offset=source.choose((1, 8, 2**63, 2**64 - 8)))
            case 3:
                forged.set(
                    device=(source.choose((0, 2, 3, 4, 10, 11, 13, 77, -1)), source.choose((0, 1, -1, 2**31 - 1)))
                )
            case 4:
                forged.tensor.shape = None
            case 5 if forged.versioned:
                forged.set(version=(source.choose((0, 2, 2**32 - 1)), source.byte()))
            case 6 if forged.versioned:
                forged.set(flags=source.choose((1, 2, 3, 4, 2**64 - 1)))
            case _:
                pass

    def elements(self) -> np.ndarray | None:
        """Return the described elements as an ndarray, or None if the tensor does not describe existing memory."""
        if not self.is_honest:
            return None
        width = max(self.element[1] // 8, 1)
        strides = self.strides
        if strides is not None:
            strides = tuple(stride * width for stride in strides)
        start = self.forged.memory.view("u1")[1024:]
        items = np.ndarray(self.shape, f"V{width}", start.data, 0) if strides is None else None
        if items is None:
            low = sum(min(0, (n - 1) * s) for n, s in zip(self.shape, strides, strict=True)) if all(self.shape) else 0
            whole = self.forged.memory.view("u1")
            items = np.ndarray(self.shape, f"V{width}", whole.data, 1024, strides) if low >= -1024 else None
        return items


def _int64(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


class Producer:
    """Export a tensor by DLPack methods that may return any object."""

    def __init__(self, source: Bytes, claims: Claims) -> None:
        name = source.choose((None, None, None, None, LEGACY, VERSIONED, b"used_dltensor"))
        if name in (LEGACY, VERSIONED) and (name == VERSIONED) != claims.forged.versioned:
            # A capsule whose name contradicts the version of its structure has wild pointers, which no consumer can
            # detect.
            name = None
        self.was_named_used = name is not None and name.startswith(b"used_")
        self.capsule = claims.forged.capsule(name)
        self.answer = thing(source) if source.chance(10) else self.capsule
        code = (CPU, 0) if source.chance(2) or claims.is_honest else (CUDA, 0)
        self.code = thing(source) if source.chance(10) else code
        self.refusals = source.below(4) if source.chance(3) else 0

    def __dlpack__(self, **keywords: Any) -> Any:
        if len(keywords) > 3 - self.refusals:
            raise TypeError("a keyword that this producer does not know")
        return self.answer

    def __dlpack_device__(self) -> Any:
        return self.code
