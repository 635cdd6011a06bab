"""Draws of a generator: by NumPy for host memory, by kernels for device memory and in captures."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._random.stream_position import StreamPosition


class Source:
    """Stream of random numbers on a device, which several threads may share.

    On the CPU a NumPy generator draws the numbers. On a GPU kernels draw them, from a position in the stream that
    advances with each draw. A captured launch draws whenever its graph runs, and the host does not count these
    draws. From the first captured draw on, the position is therefore in device memory, where kernels read and
    advance it.
    """

    def __init__(self, device: _core.Device, position: StreamPosition) -> None:
        self.device = device
        self._position = _core._RandomPlace(device, position.key, position.numbers())
        self._device_position: _core.GPUArray | None = None
        self._numpy: np.random.Generator | None = None
        self._lock = threading.RLock()
        if device.kind == "cpu":
            self._numpy = np.random.Generator(np.random.Philox(0))
            self._numpy.bit_generator.state = position.state()

    def numpy_generator(self) -> np.random.Generator | None:
        """Return NumPy's generator on the CPU; None on a GPU, and after the first draw in a capture."""
        if self._numpy is not None and _core.current_stream(self.device).is_capturing:
            self._move_to_device()
        return self._numpy

    def state(self) -> dict[str, Any]:
        """Return the position in NumPy's format; for a position in device memory the host waits."""
        with self._lock:
            if self._numpy is not None:
                return dict(self._numpy.bit_generator.state)
            key, numbers = self._position.read()
            return StreamPosition.read(
                key, numbers if self._device_position is None else self._device_position.get()
            ).state()

    def set_state(self, state: Any) -> None:
        """Set the position from NumPy's format."""
        position = StreamPosition.from_state(state)
        with self._lock:
            if self._numpy is not None:
                self._numpy.bit_generator.state = state
            elif self._device_position is not None:
                if list(position.key) != list(self._position.read()[0]):
                    raise ValueError("a captured graph draws from this generator: the key of its stream stays")
                self._device_position.set(np.array(position.numbers(), np.uint64))
            else:
                self._position.write(position.key, position.numbers())

    def skip(self, count: int) -> None:
        """Advance the position by `count` 64-bit numbers."""
        with self._lock:
            position = StreamPosition.from_state(self.state())
            position.advance(count)
            self.set_state(position.state())

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
        means: _core.GPUArray | None = None,
    ) -> None:
        """Fill an array with random numbers.

        Parameters
        ----------
        target : GPUArray
            Array of any layout.
        distribution : str
            Name of a distribution in the native module.
        bounds, scale, means : optional
            Parameters of the distribution, which the kernel receives.
        """
        if self._position.draw(target, distribution, bounds, scale, means, None):
            return
        with self._lock:
            self._move_to_device()
            self._position.draw(target, distribution, bounds, scale, means, self._device_position)

    def _move_to_device(self) -> None:
        """Copy the position to device memory, on a stream that is not being captured."""
        with self._lock:
            if self._device_position is not None:
                return
            if self._numpy is not None:
                position = StreamPosition.from_state(self._numpy.bit_generator.state)
                self._position.write(position.key, position.numbers())
                self._numpy = None
            numbers = np.array(self._position.leave()[1], np.uint64)
            with _core.Stream(device=self.device) as side_stream:
                self._device_position = _core.asarray(numbers, device=self.device)
                side_stream.synchronize()
