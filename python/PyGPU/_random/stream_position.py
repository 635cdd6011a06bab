"""The class `StreamPosition`: a position in Philox's random stream, convertible to and from NumPy's format."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core

_WORD = (1 << 64) - 1
_COUNTERS = 1 << 256


def block(counter: int, key: tuple[int, int]) -> list[int]:
    """Compute the four 64-bit numbers that Philox generates from one value of its counter."""
    return _core._philox(_to_words(counter), key)


def _from_words(words: Any) -> int:
    return sum(int(word) << 64 * index for index, word in enumerate(words))


def _to_words(number: int) -> list[int]:
    return [number >> shift & _WORD for shift in (0, 64, 128, 192)]


class StreamPosition:
    """Position in a random stream: the next number's index, and the unused half of the last 64-bit number, if any.

    Parameters
    ----------
    key : tuple of two ints
        Key of Philox, which identifies the stream.
    number : int, optional
        Number of 64-bit numbers before the position. The counter value ``c`` generates the numbers 4c to 4c + 3.
        NumPy begins with counter value 1, so the default is 4.
    half : int or None, optional
        The 32 unused bits of the last 64-bit number, which the next draw of 32 bits returns.
    """

    __slots__ = ("half", "key", "number")

    def __init__(self, key: tuple[int, int], number: int = 4, half: int | None = None) -> None:
        self.key = key
        self.number = number
        self.half = half

    @classmethod
    def from_state(cls, state: Any) -> StreamPosition:
        """Create the position from the state of a NumPy bit generator."""
        if state.get("bit_generator") != "Philox":
            raise ValueError(f"the state is of {state.get('bit_generator')!r}, and PyGPU's generators are Philox")
        key = (int(state["state"]["key"][0]), int(state["state"]["key"][1]))
        counter, offset = _from_words(state["state"]["counter"]), int(state["buffer_pos"])
        number = 4 * ((counter + 1) % _COUNTERS) if offset >= 4 else 4 * counter + offset
        return cls(key, number, int(state["uinteger"]) if state["has_uint32"] else None)

    def state(self) -> dict[str, Any]:
        """Return the position as the state of a NumPy bit generator."""
        counter, offset = divmod(self.number, 4)
        if offset == 0:
            counter, offset = (counter - 1) % _COUNTERS, 4
        return {
            "bit_generator": "Philox",
            "state": {"counter": np.array(_to_words(counter), np.uint64), "key": np.array(self.key, np.uint64)},
            "buffer": np.array(block(counter, self.key), np.uint64),
            "buffer_pos": offset,
            "has_uint32": int(self.half is not None),
            "uinteger": self.half or 0,
        }

    def numbers(self) -> list[int]:
        """Return the position in the format that kernels read."""
        return [*_to_words(self.number // 4), self.number % 4, int(self.half is not None), self.half or 0, 0]

    @classmethod
    def read(cls, key: Any, numbers: Any) -> StreamPosition:
        """Create the position from the format that kernels write."""
        return cls(
            (key[0], key[1]), 4 * _from_words(numbers[:4]) + int(numbers[4]), int(numbers[6]) if numbers[5] else None
        )

    def advance(self, count: int) -> None:
        """Advance the position by `count` 64-bit numbers."""
        self.number = (self.number + count) % (4 * _COUNTERS)

    def advance_blocks(self, count: int) -> None:
        """Advance the position by `count` blocks of four numbers, and drop the current block's rest, as NumPy does."""
        philox: Any = np.random.Philox(0)
        philox.state = self.state()
        philox.advance(count)
        advanced = StreamPosition.from_state(philox.state)
        self.number, self.half = advanced.number, advanced.half
