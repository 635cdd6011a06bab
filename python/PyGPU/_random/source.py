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
        self._place = place
        self._there: _core.GPUArray | None = None
        self._numpy: np.random.Generator | None = None
        self._lock = threading.RLock()
        self._is_cpu = device.kind == "cpu"
        if self._is_cpu:
            self._numpy = np.random.Generator(np.random.Philox(0))
            self._numpy.bit_generator.state = place.state()

    def numpys(self) -> np.random.Generator | None:
        """Give NumPy's generator where it draws: in host memory, unless that is captured or ever was."""
        if self._numpy is not None and _core.current_stream(self.device).is_capturing:
            with self._lock:
                self._settle()
        return self._numpy

    def state(self) -> dict[str, Any]:
        """Describe the place as NumPy does; for one in device memory the host waits."""
        with self._lock:
            if self._numpy is not None:
                return dict(self._numpy.bit_generator.state)
            if self._there is not None:
                self._place.read(self._there.get())
            return self._place.state()

    def set_state(self, state: Any) -> None:
        """Go to a place that NumPy describes."""
        place = Place.of_state(state)
        with self._lock:
            if self._numpy is not None:
                self._numpy.bit_generator.state = state
            elif self._there is not None:
                if place.key != self._place.key:
                    raise ValueError("a captured graph draws from this generator: the key of its stream stays")
                self._there.set(np.array(place.numbers(), np.uint64))
            self._place = place

    def skip(self, count: int) -> None:
        """Move on by numbers of 64 bits."""
        with self._lock:
            place = Place.of_state(self.state())
            place.pass_numbers(count)
            self.set_state(place.state())

    def draw(
        self,
        target: _core.GPUArray,
        distribution: str,
        *,
        halves: bool = False,
        shared: bool = False,
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
        halves : bool, optional
            Whether an element takes half a number.
        shared : bool, optional
            Whether a half that is left over is kept for the next call.
        bounds, scale, means : optional
            What the kernel is told.
        """
        if target.device != self.device:
            raise ValueError(f"the array is on {target.device} and the generator on {self.device}")
        is_normal = distribution == "normal"
        count = target.size
        if halves and not shared:
            count = (count + 1) // 2
        elif is_normal:
            count += count % 2
        from_even = is_normal and not halves
        with self._lock:
            if self._there is None and _core.current_stream(self.device).is_capturing:
                self._settle()
            key, there = self._place.key, self._there
            where = self._place.numbers() if there is None else there
            _core._draw(target, distribution, halves, key, where, bounds, scale, means)
            if there is not None:
                _core._advance_place(there, key, count, shared, from_even)
            elif shared:
                self._place.pass_halves(count)
            else:
                self._place.pass_numbers(count, from_even=from_even)

    def _settle(self) -> None:
        """Put the place into device memory, beside the capture that is under way."""
        if self._numpy is not None:
            self._place = Place.of_state(self._numpy.bit_generator.state)
            self._numpy = None
        if self._there is None:
            with _core.Stream(device=self.device) as beside:
                self._there = _core.asarray(np.array(self._place.numbers(), np.uint64), device=self.device)
                beside.synchronize()
