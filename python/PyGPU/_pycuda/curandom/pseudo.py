"""PyCUDA's pseudo-random generators. Each class draws from a separate stream of Philox4x64-10."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._pycuda.curandom import seeds
from PyGPU._pycuda.curandom.generator_base import Base
from PyGPU._random.random_source import RandomSource
from PyGPU._random.stream_position import StreamPosition

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "Philox4_32_10RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
]

SeedGetter = Callable[[int], _core.GPUArray]


class PseudoRandom(Base):
    """Pseudo-random generator, whose random stream depends on the seeds and on the name of its class."""

    has_box_muller = True

    def __init__(self, seed_getter: SeedGetter | None = None, offset: int = 0) -> None:
        super().__init__()
        if seed_getter is None:
            seed_values = np.random.randint(0, (1 << 31) - 1, self._count).astype(np.int32)
        else:
            seed_array: Any = seed_getter(self._count)
            if not (
                isinstance(seed_array, _core.GPUArray)
                and seed_array.dtype == np.int32
                and seed_array.size == self._count
            ):
                raise TypeError(f"seed must be GPUArray of integers of right length: {self._count} of int32")
            seed_values = seed_array.get()
        digest = hashlib.blake2b(
            seed_values.tobytes(), digest_size=16, person=type(self).__name__.encode()[:16]
        ).digest()
        key = (int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little"))
        position = StreamPosition(key)
        position.advance(int(offset) * self._count)
        self._source = RandomSource(self._device, position)

    def _uniform(self, data: _core.GPUArray) -> None:
        seeds.fill_uniform(self._source, data, bits=self.generator_bits, excludes_zero=True)

    def _normal(self, data: _core.GPUArray, mean: float, stddev: float) -> None:
        self._source.draw(data, "normal", scale=(mean, stddev))

    def _poisson(self, data: _core.GPUArray, mean: float | None) -> None:
        means = data.astype(np.float64) if mean is None else float(mean)
        if isinstance(means, _core.GPUArray) and not means.flags.c_contiguous:
            means = means.copy("C")
        self._source.sample(data, "poisson", means)

    def _skip(self, numbers: int) -> None:
        self._source.skip(numbers)

    def call_skip_ahead_sequence(self, i: int, stream: Any = None) -> None:
        """Skip ahead by `i` sequences of 2**130 numbers each.

        Parameters
        ----------
        i : int
            Number of sequences to skip.
        stream : Stream, optional
            Accepted for compatibility with PyCUDA; it has no effect, because skipping needs no work on a device.
        """
        self._source.skip(int(i) << 130)

    def call_skip_ahead_sequence_array(self, i: _core.GPUArray, stream: Any = None) -> None:
        """Skip ahead by as many sequences as the largest element of `i`; the host waits for `i`.

        Parameters
        ----------
        i : GPUArray
            Number of sequences to skip for each generator; only the largest number is used.
        stream : Stream, optional
            Stream on which the work runs; defaults to the thread's current stream.
        """
        with seeds.on_stream(stream):
            self.call_skip_ahead_sequence(int(i.max().item()))


class XORWOWRandomNumberGenerator(PseudoRandom):
    """Pseudo-random generator with the interface of PyCUDA's XORWOW generator.

    Parameters
    ----------
    seed_getter : callable, optional
        Function that takes a number and returns a GPUArray of that many int32 seeds; by default the seeds are drawn
        from `numpy.random`.
    offset : int, optional
        Number of random numbers to skip in each part of the stream.

    Notes
    -----
    The numbers come from Philox4x64-10 instead of XORWOW, and differ from cuRAND's numbers for the same seed.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> curandom.XORWOWRandomNumberGenerator().gen_uniform((2, 3), "float32").shape
    (2, 3)
    """


class MRG32k3aRandomNumberGenerator(PseudoRandom):
    """Pseudo-random generator with the interface of PyCUDA's MRG32k3a generator.

    Parameters
    ----------
    seed_getter, offset : optional
        As for `XORWOWRandomNumberGenerator`. The numbers come from Philox4x64-10 as well, and not from MRG32k3a.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> curandom.MRG32k3aRandomNumberGenerator().gen_normal(4, "float64").size
    4
    """

    def call_skip_ahead_subsequence(self, i: int, stream: Any = None) -> None:
        """Skip ahead by `i` subsequences of 2**76 numbers each.

        Parameters
        ----------
        i : int
            Number of subsequences to skip.
        stream : Stream, optional
            Accepted for compatibility with PyCUDA; it has no effect, because skipping needs no work on a device.
        """
        self._source.skip(int(i) << 76)

    def call_skip_ahead_subsequence_array(self, i: _core.GPUArray, stream: Any = None) -> None:
        """Skip ahead by as many subsequences as the largest element of `i`; the host waits for `i`.

        Parameters
        ----------
        i : GPUArray
            Number of subsequences to skip for each generator; only the largest number is used.
        stream : Stream, optional
            Stream on which the work runs; defaults to the thread's current stream.
        """
        with seeds.on_stream(stream):
            self.call_skip_ahead_subsequence(int(i.max().item()))


class Philox4_32_10RandomNumberGenerator(PseudoRandom):
    """Pseudo-random generator with the interface of PyCUDA's Philox4x32-10 generator.

    Parameters
    ----------
    seed_getter, offset : optional
        As for `XORWOWRandomNumberGenerator`. The numbers come from Philox4x64-10 and not from Philox4x32-10.

    Examples
    --------
    >>> from PyGPU import curandom
    >>> curandom.Philox4_32_10RandomNumberGenerator().gen_poisson(4, "uint32", 3.0).dtype
    dtype('uint32')
    """
