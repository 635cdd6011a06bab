"""The class `RandomSource`, which fills arrays with random numbers of one stream."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.stream_position import StreamPosition

Parameter = float | _core.GPUArray


class RandomSource:
    """Random stream and the position in it, from which several threads may draw.

    Each draw advances the position. The kernel of a captured draw runs at each launch of its graph, so the host cannot
    track the position. After the first captured draw, the position is therefore stored in device memory, where kernels
    read and advance it.
    """

    def __init__(self, device: _core.Device, position: StreamPosition) -> None:
        self.device = device
        self._position = _core._RandomPlace(device, position.key, position.numbers())
        self._device_position: _core.GPUArray | None = None
        self._lock = threading.RLock()

    def position(self) -> StreamPosition:
        """Return the position in the random stream; the host waits if the position is stored in device memory."""
        with self._lock:
            key, numbers = self._position.read()
            return StreamPosition.read(key, numbers if self._device_position is None else self._device_position.get())

    def set_position(self, position: StreamPosition) -> None:
        """Set the position in the random stream."""
        with self._lock:
            if self._device_position is None:
                self._position.write(position.key, position.numbers())
                return
            if list(position.key) != list(self._position.read()[0]):
                raise ValueError("a captured graph draws from this generator: the key of its stream stays")
            self._device_position.set(np.array(position.numbers(), np.uint64))

    def update(self, change: Callable[[StreamPosition], None]) -> None:
        """Change the position by a function, atomically with respect to draws of other threads."""
        with self._lock:
            while True:
                position = self.position()
                old = position.numbers()
                change(position)
                if self._device_position is not None:
                    self.set_position(position)
                    return
                if self._position.replace(old, position.numbers()):
                    return

    def skip(self, count: int) -> None:
        """Advance the position by `count` 64-bit numbers."""
        self.update(lambda position: position.advance(count))

    def create(
        self,
        size: Any,
        dtype: Any,
        distribution: str,
        bounds: tuple[int, int, int] = (0, 0, 0),
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> _core.GPUArray:
        """Create an array and fill it with random numbers, as `draw` does."""
        size = () if size is None else size
        result = self._position.made(size, dtype, distribution, bounds, scale)
        if result is None:
            result = _core.empty(size, dtype, device=self.device)
            self.draw(result, distribution, bounds=bounds, scale=scale)
        return result

    def draw(
        self,
        target: _core.GPUArray,
        distribution: str,
        *,
        bounds: tuple[int, int, int] = (0, 0, 0),
        scale: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        """Fill an array with random numbers.

        Parameters
        ----------
        target : GPUArray
            Array of any layout.
        distribution : str
            Name of a distribution in the native module.
        bounds, scale : optional
            Parameters of the distribution, which the kernel receives.
        """
        self._draw(lambda there: self._position.draw(target, distribution, bounds, scale, there))

    def sample(self, target: _core.GPUArray, sampler: str, *parameters: Parameter) -> None:
        """Fill an array with numbers that a sampler draws.

        Parameters
        ----------
        target : GPUArray
            Array of any layout.
        sampler : str
            Name of a sampler in the native module.
        *parameters : float or GPUArray
            Up to three numbers, or arrays with one float64 value per element in C order.
        """
        padded = [*parameters, 0.0, 0.0, 0.0]
        a, b, c = (0.0 if isinstance(one, _core.GPUArray) else one for one in padded[:3])
        x, y, z = (one if isinstance(one, _core.GPUArray) else None for one in padded[:3])
        self._draw(lambda there: self._position.sample(target, sampler, (a, b, c), (x, y, z), there))

    def _draw(self, call: Callable[[_core.GPUArray | None], bool]) -> None:
        if call(None):
            return
        with self._lock:
            self._move_to_device()
            call(self._device_position)

    def _move_to_device(self) -> None:
        """Move the position to device memory, by a copy on a stream that is not captured."""
        if self._device_position is not None:
            return
        numbers = np.array(self._position.leave()[1], np.uint64)
        with _core.Stream(device=self.device) as side_stream:
            self._device_position = _core.asarray(numbers, device=self.device)
            side_stream.synchronize()
