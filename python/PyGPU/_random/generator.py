"""The class `Generator`, which corresponds to NumPy's class and creates device arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random import permutation
from PyGPU._random.distributions import Distributions
from PyGPU._random.integers import integers
from PyGPU._random.random_source import RandomSource
from PyGPU._random.stream_position import StreamPosition

__all__ = ["Generator", "default_rng"]


class Generator(Distributions):
    """Generator of random numbers of many distributions, drawn on a device.

    Parameters
    ----------
    bit_generator : numpy.random.Philox
        NumPy's generator, whose state is the initial position of the stream. The state is read once and not advanced.
    device : Device, str or int, optional
        Device of new arrays; defaults to the device that is current when the generator is created.

    Notes
    -----
    For the same Philox, `random`, `uniform` with two numbers, `random_raw`, `bytes`, and `integers` of 32 and 64 bits
    return the same bits as NumPy. `integers` differs from NumPy if a draw is rejected, which never happens if the
    range's length is a power of two. Other methods return numbers of the same distribution. The numbers do not depend
    on the backend. A generator may be used by several threads and in captures: each launch of the graph draws further
    numbers. A parameter that is a device array is checked by its extrema, for which the host waits, except in a
    capture.

    Examples
    --------
    >>> import numpy as np, PyGPU
    >>> rng = PyGPU.random.Generator(np.random.Philox(key=7))
    >>> bool((rng.random(3).get() == np.random.Generator(np.random.Philox(key=7)).random(3)).all())
    True
    """

    def __init__(self, bit_generator: Any, device: Any = None) -> None:
        if isinstance(bit_generator, type) or not hasattr(bit_generator, "state"):
            raise TypeError(f"Generator() takes a numpy.random.Philox, and default_rng() a seed; not {bit_generator!r}")
        target_device = _core.Device(device)
        self._source = RandomSource(target_device, StreamPosition.from_state(bit_generator.state))
        self._seeds = getattr(bit_generator, "seed_seq", None)

    @property
    def state(self) -> dict[str, Any]:
        """Position in the stream in NumPy's format, which `numpy.random.Philox` accepts and returns."""
        return self._source.position().state()

    @state.setter
    def state(self, state: Any) -> None:
        self._source.set_position(StreamPosition.from_state(state))

    @property
    def bit_generator(self) -> np.random.Philox:
        """NumPy bit generator with a copy of this generator's state; draws from one do not affect the other."""
        philox_state: Any = np.random.Philox(0)
        philox_state.state = self.state
        philox: np.random.Philox = philox_state
        return philox

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.state, self._seeds)

    def __repr__(self) -> str:
        return f"Generator(Philox) on {self.device}"

    def spawn(self, n_children: int) -> list[Generator]:
        """Create generators whose streams are independent of this generator's stream and of each other, as in NumPy.

        Parameters
        ----------
        n_children : int
            Number of generators.

        Examples
        --------
        >>> import PyGPU
        >>> len(PyGPU.random.default_rng(1).spawn(2))
        2
        """
        if self._seeds is None or not hasattr(self._seeds, "spawn"):
            raise TypeError(
                "The underlying SeedSequence does not implement spawning: make the generator by default_rng(seed)"
            )
        return [Generator(np.random.Philox(seeds), self.device) for seeds in self._seeds.spawn(n_children)]

    def advance(self, delta: int) -> Generator:
        """Advance the stream by blocks of four numbers, as `numpy.random.Philox.advance`.

        Parameters
        ----------
        delta : int
            Number of blocks.

        Examples
        --------
        >>> import PyGPU
        >>> rng, other = PyGPU.random.default_rng(1), PyGPU.random.default_rng(1)
        >>> bool(rng.random(5)[4] == other.advance(1).random())
        True
        """
        self._source.update(lambda position: position.advance_blocks(delta))
        return self

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> _core.GPUArray:
        """Draw uniform integers from `low` (inclusive) to `high` (exclusive).

        Parameters
        ----------
        low, high : int or array_like of ints
            Bounds of the range; if `high` is omitted, the range is from 0 to `low`. The host reads bounds that are
            device arrays, except in a capture.
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.
        dtype : data-type, optional
            Integer type or bool.
        endpoint : bool, optional
            Whether the range includes `high`.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).integers(6, size=9) < 6).all())
        True
        """
        return integers(self._source, low, high, size, dtype, endpoint)

    def random_raw(self, size: Any = None) -> _core.GPUArray:
        """Draw the raw 64-bit numbers of the stream, which equal those of `numpy.random.Philox.random_raw`.

        Parameters
        ----------
        size : int or tuple of ints, optional
            Shape of the result; defaults to (), a single number.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).random_raw(2).dtype
        dtype('uint64')
        """
        return self._source.create(size, np.uint64, "raw")

    def bytes(self, length: int) -> bytes:
        """Draw random bytes, which equal NumPy's bytes, and copy them to the host; the host waits for the copy.

        Parameters
        ----------
        length : int
            Number of bytes.

        Examples
        --------
        >>> import PyGPU
        >>> len(PyGPU.random.default_rng(1).bytes(10))
        10
        """
        length = int(length)
        return bytes(self.integers(1 << 32, size=-(-length // 4), dtype=np.uint32).get().tobytes()[:length])

    def permutation(self, x: Any, axis: int = 0) -> _core.GPUArray:
        """Permute the numbers below `x`, or the elements of an array along an axis, randomly.

        Parameters
        ----------
        x : int or array_like
        axis : int, optional

        Examples
        --------
        >>> import PyGPU
        >>> sorted(PyGPU.random.default_rng(1).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        return permutation.permutation(self, x, axis)

    def permuted(self, x: Any, *, axis: int | None = None, out: _core.GPUArray | None = None) -> _core.GPUArray:
        """Permute the elements along an axis, independently for each row or column.

        Parameters
        ----------
        x : array_like
        axis : int, optional
            Axis along which elements move; by default each element may move to any position.
        out : GPUArray, optional
            Output array, which may be `x`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).permuted([[1, 2], [3, 4]], axis=1).sum(1).tolist()
        [3, 7]
        """
        return permutation.permuted(self, x, axis, out)

    def shuffle(self, x: _core.GPUArray, axis: int = 0) -> None:
        """Shuffle the elements of an array along an axis in place.

        Parameters
        ----------
        x : GPUArray
        axis : int, optional

        Examples
        --------
        >>> import PyGPU
        >>> a = PyGPU.arange(4)
        >>> PyGPU.random.default_rng(1).shuffle(a)
        >>> sorted(a.tolist())
        [0, 1, 2, 3]
        """
        permutation.shuffle(self, x, axis)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> _core.GPUArray:
        """Draw a sample of the numbers below `a`, or of the elements of an array along an axis.

        Parameters
        ----------
        a : int or array_like
        size : int or tuple of ints, optional
            Size of the sample; defaults to one element.
        replace : bool, optional
            Whether to draw with replacement.
        p : array_like, optional
            Probability of each element; defaults to equal probabilities.
        axis : int, optional
        shuffle : bool, optional
            Accepted for compatibility with NumPy; it has no effect, because the sample is always in random order.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).choice(5, 3, replace=False).size
        3
        """
        return permutation.choice(self, a, size, replace, p, axis, shuffle)


def _restored(state: Any, seeds: Any) -> Generator:
    philox = np.random.Philox(0 if seeds is None else seeds)
    philox.state = state
    generator = Generator(philox)
    generator._seeds = seeds
    return generator


def default_rng(seed: Any = None, device: Any = None) -> Generator:
    """Create a random generator that draws on a device.

    Parameters
    ----------
    seed : int, sequence of ints, numpy.random.SeedSequence, numpy.random.Philox or Generator, optional
        Seed, as for `numpy.random.Philox`; by default unpredictable.
    device : Device, str or int, optional
        Device of new arrays; defaults to the current device.

    Examples
    --------
    >>> import PyGPU
    >>> a, b = (PyGPU.random.default_rng(5).random(3) for _ in range(2))
    >>> bool((a == b).all())
    True
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, np.random.Generator):
        seed = seed.bit_generator
    return Generator(seed if isinstance(seed, np.random.BitGenerator) else np.random.Philox(seed), device)
