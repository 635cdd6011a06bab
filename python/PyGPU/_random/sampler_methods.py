"""Base class of the classes whose methods draw random numbers by a sampler of the native module."""

from __future__ import annotations

from typing import Any

from PyGPU import _core
from PyGPU._random.parameters import prepared
from PyGPU._random.random_source import RandomSource


class SamplerMethods:
    """Base class of classes with methods that draw random numbers by a sampler of the native module."""

    _source: RandomSource

    @property
    def device(self) -> _core.Device:
        """Device of new arrays."""
        return self._source.device

    def _sampled(
        self, name: str, arguments: tuple[Any, ...], size: Any, dtype: Any, sampler: str | None = None
    ) -> _core.GPUArray:
        """Create an array and fill it by a sampler, which by default is named like NumPy's method."""
        shape, parameters = prepared(name, arguments, size, self.device)
        result = _core.empty(shape, dtype, device=self.device)
        self._source.sample(result, sampler or name, *parameters)
        return result
