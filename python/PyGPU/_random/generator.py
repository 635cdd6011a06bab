"""`Generator`: NumPy's class over arrays of a device."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random import choosing
from PyGPU._random.place import Place
from PyGPU._random.source import Source

__all__ = ["Generator", "default_rng"]

_FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def _is_number(given: Any) -> bool:
    return not isinstance(given, _core.GPUArray) and np.ndim(given) == 0


def _refuse(name: str, dtype: Any) -> TypeError:
    return TypeError(f"Unsupported dtype {np.dtype(dtype)!r} for {name}: it is float32 or float64")


class Generator:
    """Random numbers of many distributions, drawn on a device.

    Parameters
    ----------
    bit_generator : numpy.random.Philox
        Where the stream begins; it is read once, and does not move on.
    device : Device, str or int, optional
        Where arrays are made; by default the one that is current when the generator is made.

    Notes
    -----
    `random`, `uniform` with two numbers, `random_raw`, `bytes`, and `integers` of 32 and 64 bits are NumPy's, bit for
    bit, for the same Philox: `integers` as long as no draw is refused, which for a range that is a power of two never
    happens. The others have the same distribution. On a CPU all are NumPy's own. A generator may be used by several
    threads, and in captures: each launch of the graph draws further numbers.

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
        where = _core.Device(device)
        self._source = Source(where, Place.of_state(bit_generator.state))
        self._seeds = getattr(bit_generator, "seed_seq", None)

    @property
    def device(self) -> _core.Device:
        """Where arrays are made."""
        return self._source.device

    @property
    def state(self) -> dict[str, Any]:
        """The place in the stream as NumPy describes it: `numpy.random.Philox` takes it, and the other way round."""
        return self._source.state()

    @state.setter
    def state(self, state: Any) -> None:
        self._source.set_state(state)

    @property
    def bit_generator(self) -> np.random.Philox:
        """A bit generator of NumPy's at the same place, which goes its own way from here on."""
        copied = np.random.Philox(0)
        copied.state = self.state
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.state, self._seeds)

    def __repr__(self) -> str:
        return f"Generator(Philox) on {self.device}"

    def spawn(self, n_children: int) -> list[Generator]:
        """Make generators whose streams are independent of this one and of each other, as NumPy's are.

        Parameters
        ----------
        n_children : int
            How many.

        Examples
        --------
        >>> import PyGPU
        >>> len(PyGPU.random.default_rng(1).spawn(2))
        2
        """
        if not hasattr(self._seeds, "spawn"):
            raise TypeError(
                "The underlying SeedSequence does not implement spawning: make the generator by default_rng(seed)"
            )
        return [Generator(np.random.Philox(seeds), self.device) for seeds in self._seeds.spawn(n_children)]

    def advance(self, delta: int) -> Generator:
        """Move on by so many blocks of four numbers, as `numpy.random.Philox.advance` does.

        Parameters
        ----------
        delta : int
            How many.

        Examples
        --------
        >>> import PyGPU
        >>> rng, other = PyGPU.random.default_rng(1), PyGPU.random.default_rng(1)
        >>> bool(rng.random(5)[4] == other.advance(1).random())
        True
        """
        moved = self.bit_generator
        moved.advance(delta)
        self.state = moved.state
        return self

    def _wrap(self, values: Any) -> _core.GPUArray:
        return _core.asarray(np.asarray(values), device=self.device, copy=False)

    def _into(self, out: _core.GPUArray | None, size: Any, dtype: Any) -> _core.GPUArray:
        if out is None:
            return _core.empty(() if size is None else size, dtype, device=self.device)
        if not isinstance(out, _core.GPUArray):
            raise TypeError(f"out is no GPUArray but a {type(out).__name__}")
        if out.dtype != dtype:
            raise TypeError(f"Supplied output array has the wrong type. Expected {np.dtype(dtype)}, got {out.dtype}")
        if size is not None and out.shape != np.broadcast_shapes(size):
            raise ValueError("size must match out.shape when used together")
        return out

    def _standard(
        self,
        name: str,
        distribution: str,
        size: Any,
        dtype: Any,
        out: _core.GPUArray | None,
        scale: tuple[float, float],
    ) -> _core.GPUArray:
        kind = np.dtype(dtype)
        if kind not in _FLOATS:
            raise _refuse(name, dtype)
        if (numpys := self._source.numpys()) is not None:
            if out is None:
                return self._wrap(getattr(numpys, name)(size, kind))
            target = self._into(out, size, kind)
            target[...] = getattr(numpys, name)(target.shape, kind)
            return target
        target = self._into(out, size, kind)
        halves = kind.itemsize == 4
        shared = halves and distribution == "uniform"
        self._source.draw(target, distribution, halves=halves, shared=shared, scale=scale)
        return target

    def _scaled(self, name: str, distribution: str, size: Any, parameters: tuple[Any, Any]) -> _core.GPUArray:
        """Draw of a distribution with a place and a width, which may be arrays."""
        place, width = parameters
        if _is_number(place) and _is_number(width):
            target = self._into(None, size, np.float64)
            self._source.draw(target, distribution, scale=(float(place), float(width)))
            return target
        given = [
            one if isinstance(one, _core.GPUArray) else _core.asarray(one, device=self.device) for one in parameters
        ]
        shape = np.broadcast_shapes(given[0].shape, given[1].shape) if size is None else size
        drawn = self._into(None, shape, np.float64)
        self._source.draw(drawn, distribution)
        drawn *= given[1]
        drawn += given[0]
        return drawn

    def random(self, size: Any = None, dtype: Any = np.float64, out: _core.GPUArray | None = None) -> _core.GPUArray:
        """Draw from 0 on, below 1, all alike: NumPy's bits.

        Parameters
        ----------
        size : int or tuple of ints, optional
            The shape; without it the result has no axes.
        dtype : data-type, optional
            float64 or float32.
        out : GPUArray, optional
            Where they go.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).random((2, 3)).shape
        (2, 3)
        """
        return self._standard("random", "uniform", size, dtype, out, (0.0, 1.0))

    def standard_normal(
        self, size: Any = None, dtype: Any = np.float64, out: _core.GPUArray | None = None
    ) -> _core.GPUArray:
        """Draw normally distributed numbers of mean 0 and deviation 1, by Box and Muller's method.

        Parameters
        ----------
        size, dtype, out : optional
            As in `random`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).standard_normal(4, dtype="float32").dtype
        dtype('float32')
        """
        return self._standard("standard_normal", "normal", size, dtype, out, (0.0, 1.0))

    def standard_exponential(
        self,
        size: Any = None,
        dtype: Any = np.float64,
        method: str = "zig",
        out: _core.GPUArray | None = None,
    ) -> _core.GPUArray:
        """Draw exponentially distributed numbers of mean 1, by the logarithm.

        Parameters
        ----------
        size, dtype, out : optional
            As in `random`.
        method : {'zig', 'inv'}, optional
            Taken as NumPy takes it.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).standard_exponential(9) >= 0).all())
        True
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"method is 'zig' or 'inv', not {method!r}")
        return self._standard("standard_exponential", "exponential", size, dtype, out, (0.0, 1.0))

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw from `low` on, below `high`, all alike.

        Parameters
        ----------
        low, high : number or array_like, optional
        size : int or tuple of ints, optional
            The shape; by default that of `low` and `high`.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).uniform(-1, 1, 9) < 1).all())
        True
        """
        if (done := self._by_numpy("uniform", (low, high), size)) is not None:
            return done
        if _is_number(low) and _is_number(high) and not np.isfinite(float(high) - float(low)):
            raise OverflowError("high - low range exceeds valid bounds")
        width = high - low if _is_number(low) == _is_number(high) else np.subtract(high, low)
        return self._scaled("uniform", "uniform", size, (low, width))

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw normally distributed numbers.

        Parameters
        ----------
        loc, scale : number or array_like, optional
            The mean and the deviation.
        size : int or tuple of ints, optional
            The shape; by default that of `loc` and `scale`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).normal(10, 2, size=(2, 2)).shape
        (2, 2)
        """
        if (done := self._by_numpy("normal", (loc, scale), size)) is not None:
            return done
        if _is_number(scale) and scale < 0:
            raise ValueError("scale < 0")
        return self._scaled("normal", "normal", size, (loc, scale))

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw numbers whose logarithm is normally distributed.

        Parameters
        ----------
        mean, sigma : number or array_like, optional
            Of the logarithm.
        size : int or tuple of ints, optional
            The shape; by default that of `mean` and `sigma`.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).lognormal(0, 1, 9) > 0).all())
        True
        """
        if (done := self._by_numpy("lognormal", (mean, sigma), size)) is not None:
            return done
        if _is_number(sigma) and sigma < 0:
            raise ValueError("sigma < 0")
        drawn = self._scaled("normal", "normal", size, (mean, sigma))
        return _core.exp(drawn, out=drawn)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw exponentially distributed numbers.

        Parameters
        ----------
        scale : number or array_like, optional
            The mean.
        size : int or tuple of ints, optional
            The shape; by default that of `scale`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).exponential(2.0, 5).size
        5
        """
        if (done := self._by_numpy("exponential", (scale,), size)) is not None:
            return done
        if _is_number(scale) and scale < 0:
            raise ValueError("scale < 0")
        return self._scaled("exponential", "exponential", size, (0.0, scale))

    def poisson(self, lam: Any = 1.0, size: Any = None) -> _core.GPUArray:
        """Draw how often something happens that happens `lam` times in the mean: 64-bit integers.

        Parameters
        ----------
        lam : number or array_like, optional
            The mean.
        size : int or tuple of ints, optional
            The shape; by default that of `lam`.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).poisson(3.5, 5).dtype
        dtype('int64')
        """
        if (done := self._by_numpy("poisson", (lam,), size)) is not None:
            return done
        if _is_number(lam):
            if not lam >= 0:
                raise ValueError("lam < 0 or lam is NaN")
            counts = self._into(None, size, np.int64)
            self._source.draw(counts, "poisson", scale=(float(lam), 0.0))
            return counts
        given = lam if isinstance(lam, _core.GPUArray) else _core.asarray(lam, device=self.device)
        means = _core.empty(given.shape if size is None else size, np.float64, device=self.device)
        means[...] = given
        self._source.draw(means, "poisson", means=means)
        return means.astype(np.int64)

    def _by_numpy(self, name: str, parameters: tuple[Any, ...], size: Any) -> _core.GPUArray | None:
        numpys = self._source.numpys()
        if numpys is None:
            return None
        given = [one.get() if isinstance(one, _core.GPUArray) else one for one in parameters]
        return self._wrap(getattr(numpys, name)(*given, size))

    def integers(
        self, low: Any, high: Any = None, size: Any = None, dtype: Any = np.int64, endpoint: bool = False
    ) -> _core.GPUArray:
        """Draw whole numbers from `low` on, below `high`, all alike.

        Parameters
        ----------
        low, high : int
            Without `high` they are from 0 on, below `low`. Arrays are taken on a CPU only.
        size : int or tuple of ints, optional
            The shape; without it the result has no axes.
        dtype : data-type, optional
            Of integers or bools.
        endpoint : bool, optional
            Whether `high` itself is drawn too.

        Examples
        --------
        >>> import PyGPU
        >>> bool((PyGPU.random.default_rng(1).integers(6, size=9) < 6).all())
        True
        """
        if (numpys := self._source.numpys()) is not None:
            bounds = [one.get() if isinstance(one, _core.GPUArray) else one for one in (low, high)]
            return self._wrap(numpys.integers(*bounds, size, dtype, endpoint))
        kind = np.dtype(dtype)
        if kind.kind not in "biu":
            raise TypeError(f"Unsupported dtype {kind!r} for integers")
        if high is None:
            low, high = 0, low
        if not (_is_number(low) and _is_number(high)):
            raise TypeError(
                "integers(): bounds that are arrays are taken on a CPU only; draw with random() and multiply"
            )
        least, most = operator.index(low), operator.index(high) - (not endpoint)
        limits = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        if least < limits[0]:
            raise ValueError(f"low is out of bounds for {kind}")
        if most > limits[1]:
            raise ValueError(f"high is out of bounds for {kind}")
        if least > most:
            raise ValueError("low > high" if endpoint else "low >= high")
        target = self._into(None, size, kind)
        self._draw_whole(target, least, most - least)
        return target

    def _draw_whole(self, target: _core.GPUArray, least: int, width: int) -> None:
        base = least & (1 << 64) - 1
        if width == 0:
            target.fill(least)
        elif width < 1 << 32:
            bounds = (width + 1, (1 << 32) % (width + 1), base)
            self._source.draw(target, "bounded", halves=True, shared=True, bounds=bounds)
        elif width == (1 << 64) - 1:
            self._source.draw(target, "raw", bounds=(0, 0, base))
        else:
            self._source.draw(target, "bounded", bounds=(width + 1, (1 << 64) % (width + 1), base))

    def random_raw(self, size: Any = None) -> _core.GPUArray:
        """Draw 64-bit numbers as the stream has them: those of `numpy.random.Philox.random_raw`.

        Parameters
        ----------
        size : int or tuple of ints, optional
            The shape; without it the result has no axes.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).random_raw(2).dtype
        dtype('uint64')
        """
        if (numpys := self._source.numpys()) is not None:
            return self._wrap(np.asarray(numpys.bit_generator.random_raw(size), np.uint64))
        target = self._into(None, size, np.uint64)
        self._source.draw(target, "raw")
        return target

    def bytes(self, length: int) -> bytes:
        """Draw bytes of the host, for which it waits: NumPy's.

        Parameters
        ----------
        length : int
            How many.

        Examples
        --------
        >>> import PyGPU
        >>> len(PyGPU.random.default_rng(1).bytes(10))
        10
        """
        if (numpys := self._source.numpys()) is not None:
            return numpys.bytes(length)
        return bytes(self.integers(1 << 32, size=-(-length // 4), dtype=np.uint32).get().tobytes()[:length])

    def permutation(self, x: Any, axis: int = 0) -> _core.GPUArray:
        """Put the numbers below `x`, or the elements of an array along an axis, in a random order.

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
        return choosing.permutation(self, x, axis)

    def shuffle(self, x: _core.GPUArray, axis: int = 0) -> None:
        """Put the elements of an array along an axis in a random order, where they lie.

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
        choosing.shuffle(self, x, axis)

    def choice(
        self, a: Any, size: Any = None, replace: bool = True, p: Any = None, axis: int = 0, shuffle: bool = True
    ) -> _core.GPUArray:
        """Take some of the numbers below `a`, or of the elements of an array along an axis.

        Parameters
        ----------
        a : int or array_like
        size : int or tuple of ints, optional
            How many; without it one.
        replace : bool, optional
            Whether one may be taken again.
        p : array_like, optional
            How likely each one is; all alike by default.
        axis : int, optional
        shuffle : bool, optional
            Taken as NumPy takes it; what is taken is in a random order always.

        Examples
        --------
        >>> import PyGPU
        >>> PyGPU.random.default_rng(1).choice(5, 3, replace=False).size
        3
        """
        return choosing.choice(self, a, size, replace, p, axis, shuffle)


def _restored(state: Any, seeds: Any) -> Generator:
    bits = np.random.Philox(0 if seeds is None else seeds)
    bits.state = state
    made = Generator(bits)
    made._seeds = seeds
    return made


def default_rng(seed: Any = None, device: Any = None) -> Generator:
    """Make a generator.

    Parameters
    ----------
    seed : int, sequence of ints, numpy.random.SeedSequence, numpy.random.Philox or Generator, optional
        Where it begins: a number as `numpy.random.Philox` takes it. By default nobody can tell.
    device : Device, str or int, optional
        Where arrays are made; the current one by default.

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
