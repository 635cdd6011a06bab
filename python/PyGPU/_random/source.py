"""The draws of a generator: what NumPy does in host memory, and what kernels do elsewhere and in captures."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.place import Place


class Source:
    """A stream of random numbers on a device, which several threads may draw from.

    In host memory it is a generator of NumPy's. Elsewhere it is a place, which moves on when something is drawn. A
    launch that is captured draws whenever its graph runs, which nobody on the host counts: from the first one on the
    place lies in device memory, where the kernels read it and move it on.
    """

    def __init__(self, device: _core.Device, place: Place) -> None:
        self.device = device
        self._place = _core._RandomPlace(device, place.key, place.numbers())
        self._there: _core.GPUArray | None = None
        self._numpy: np.random.Generator | None = None
        self._lock = threading.RLock()
        if device.kind == "cpu":
            self._numpy = np.random.Generator(np.random.Philox(0))
            self._numpy.bit_generator.state = place.state()

    def numpys(self) -> np.random.Generator | None:
        """Give NumPy's generator where it draws: in host memory, unless that is captured or ever was."""
        if self._numpy is not None and _core.current_stream(self.device).is_capturing:
            self._settle()
        return self._numpy

    def state(self) -> dict[str, Any]:
        """Describe the place as NumPy does; for one in device memory the host waits."""
        with self._lock:
            if self._numpy is not None:
                return dict(self._numpy.bit_generator.state)
            key, numbers = self._place.read()
            return Place.read(key, numbers if self._there is None else self._there.get()).state()

    def set_state(self, state: Any) -> None:
        """Go to a place that NumPy describes."""
        place = Place.of_state(state)
        with self._lock:
            if self._numpy is not None:
                self._numpy.bit_generator.state = state
            elif self._there is not None:
                if list(place.key) != list(self._place.read()[0]):
                    raise ValueError("a captured graph draws from this generator: the key of its stream stays")
                self._there.set(np.array(place.numbers(), np.uint64))
            else:
                self._place.write(place.key, place.numbers())

    def skip(self, count: int) -> None:
        """Move on by numbers of 64 bits."""
        with self._lock:
            place = Place.of_state(self.state())
            place.pass_numbers(count)
            self.set_state(place.state())

    def made(
        self,
        size: Any,
        dtype: Any,
        distribution: str,
        bounds: tuple[int, int, int] = (0, 0, 0),
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> _core.GPUArray:
        """Make an array and fill it, as `draw` does."""
        size = () if size is None else size
        made = self._place.made(size, dtype, distribution, bounds, scale)
        if made is None:
            made = _core.empty(size, dtype, device=self.device)
            self.draw(made, distribution, bounds=bounds, scale=scale)
        return made

    def draw(
        self,
        target: _core.GPUArray,
        distribution: str,
        *,
        bounds: tuple[int, int, int] = (0, 0, 0),
        scale: tuple[float, float] = (0.0, 1.0),
        means: _core.GPUArray | None = None,
    ) -> None:
        """Fill an array.

        Parameters
        ----------
        target : GPUArray
            Of any layout.
        distribution : str
            A name that the native module knows.
        bounds, scale, means : optional
            What the kernel is told.
        """
        if self._place.draw(target, distribution, bounds, scale, means, None):
            return
        with self._lock:
            self._settle()
            self._place.draw(target, distribution, bounds, scale, means, self._there)

    def _settle(self) -> None:
        """Put the place into device memory, beside the capture that is under way."""
        with self._lock:
            if self._there is not None:
                return
            if self._numpy is not None:
                place = Place.of_state(self._numpy.bit_generator.state)
                self._place.write(place.key, place.numbers())
                self._numpy = None
            numbers = np.array(self._place.leave()[1], np.uint64)
            with _core.Stream(device=self.device) as beside:
                self._there = _core.asarray(numbers, device=self.device)
                beside.synchronize()
