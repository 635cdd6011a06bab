"""The function `benchmark`, which measures repeated calls of a function on the host and on devices."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from PyGPU import _core
from PyGPU._arguments.argument_errors import describe

__all__ = ["BenchmarkResult", "benchmark"]

_Times = np.ndarray[Any, np.dtype[np.float64]]


class BenchmarkResult:
    """Times that `benchmark` measured for the calls of a function.

    Attributes
    ----------
    name : str
        Name of the function.
    cpu_times : numpy.ndarray
        Time of each call on the host in seconds, until the call returns.
    gpu_times : numpy.ndarray
        Time of each call's work on each device in seconds, by events before and after the call; one row per device.
    """

    def __init__(self, name: str, cpu_times: _Times, gpu_times: _Times, devices: tuple[int, ...]) -> None:
        self.name, self.cpu_times, self.gpu_times = name, cpu_times, gpu_times
        self._devices = devices

    def to_str(self, show_gpu: bool = False) -> str:
        """Format the mean, standard deviation, minimum and maximum of the times in microseconds.

        Parameters
        ----------
        show_gpu : bool, optional
            Whether to include the devices.

        Returns
        -------
        str
        """
        parts = [("CPU", self.cpu_times)]
        if show_gpu:
            parts += [(_label(device), row) for device, row in zip(self._devices, self.gpu_times, strict=True)]
        return f"{self.name:<20s}:{' '.join(_statistics(label, row) for label, row in parts)}"

    def __repr__(self) -> str:
        return self.to_str(show_gpu=True)

    __str__ = __repr__


def _label(device: int) -> str:
    """Return the label of a device's times: ``GPU-0`` as in CuPy, or the device's name on the backend without GPUs."""
    return "device cpu" if _core.backend_name() == "cpu" else f"GPU-{device}"


def _name(func: Callable[..., Any]) -> str:
    """Return the name of a function or kernel."""
    if isinstance(func, _core.Launcher | _core.ConfiguredLauncher):
        func = func.kernel
    if isinstance(func, _core.Kernel):
        return func.name
    return getattr(func, "__name__", type(func).__name__)


def _statistics(label: str, seconds: _Times) -> str:
    """Format mean, standard deviation, minimum and maximum of times, as CuPy does."""
    times = seconds * 1e6
    text = f"    {label}: {times.mean():9.03f} us"
    if times.size > 1:
        text += f"   +/- {times.std():6.03f} (min: {times.min():9.03f} / max: {times.max():9.03f}) us"
    return text


def benchmark(
    func: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: tuple[int, ...] | None = None,
) -> BenchmarkResult:
    """Call a function many times, and measure each call on the host and on devices.

    Parameters
    ----------
    func : callable
        Function to call.
    args : tuple, optional
        Positional arguments of the function.
    kwargs : dict, optional
        Keyword arguments of the function.
    n_repeat : int, optional
        Number of measured calls.
    name : str, optional
        Name to print; defaults to the function's name.
    n_warmup : int, optional
        Number of unmeasured calls before the measured calls.
    max_duration : float, optional
        Seconds after which no further call is made.
    devices : tuple of int, optional
        Numbers of the devices to measure; defaults to the current device.

    Returns
    -------
    BenchmarkResult
        Object with `cpu_times`, `gpu_times` and `to_str`; its `str` has the format of CuPy's
        `cupyx.profiler.benchmark`. Without a GPU, the label ``device cpu`` replaces ``GPU-0``.

    Raises
    ------
    ValueError
        If an argument has the wrong type.

    Examples
    --------
    >>> import PyGPU, PyGPU.profile
    >>> a = PyGPU.ones(1000)
    >>> times = PyGPU.profile.benchmark(PyGPU.sum, (a,), n_repeat=5, n_warmup=1)
    >>> times.cpu_times.shape, times.gpu_times.shape
    ((5,), (1, 5))
    """
    kwargs = {} if kwargs is None else kwargs
    devices = (_core.current_device(),) if devices is None else devices
    name = _name(func) if name is None else name
    expected = (
        ("func", func, callable(func), "a callable"),
        ("args", args, isinstance(args, tuple), "a tuple"),
        ("kwargs", kwargs, isinstance(kwargs, Mapping), "a dict"),
        ("n_repeat", n_repeat, _is_int(n_repeat) and n_repeat > 0, "an integer above 0"),
        ("name", name, isinstance(name, str), "a str"),
        ("n_warmup", n_warmup, _is_int(n_warmup), "an integer"),
        ("max_duration", max_duration, bool(np.isreal(max_duration)), "a number of seconds"),
        ("devices", devices, isinstance(devices, tuple), "a tuple of device numbers"),
    )
    for parameter, value, is_right, expectation in expected:
        if not is_right:
            remedy = "; write args=(x,)" if parameter == "args" else ""
            raise ValueError(f"benchmark(): {parameter}= is {describe(value)}; expected {expectation}{remedy}")
    rows = _repeated(lambda: func(*args, **kwargs), n_repeat, n_warmup, max_duration, devices)
    times = np.array(rows, dtype=np.float64)
    return BenchmarkResult(name, times[:, 0].copy(), times[:, 1:].T.copy(), devices)


def _is_int(value: object) -> bool:
    return isinstance(value, int)


def _repeated(
    call: Callable[[], Any], n_repeat: int, n_warmup: int, max_duration: float, devices: tuple[int, ...]
) -> list[list[float]]:
    """Call the function repeatedly, and return each call's time on the host and on each device, in seconds."""
    pairs = []
    for device in devices:
        with _core.Device(device):
            pairs.append((_core.Event(), _core.Event()))
    # A result that is dropped before its launch is never computed, so each result is kept until its launch.
    for _ in range(n_warmup):
        kept = call()
        _core.flush()
        del kept
    for device in devices:
        _core.Device(device).synchronize()
    rows: list[list[float]] = []
    duration = 0.0
    while len(rows) < n_repeat and duration <= max_duration:
        _record(devices, [begin for begin, _ in pairs])
        start = time.perf_counter()
        kept = call()
        seconds = time.perf_counter() - start
        _record(devices, [end for _, end in pairs])
        del kept
        for _, end in pairs:
            end.synchronize()
        rows.append([seconds, *(begin.elapsed_time(end) * 1e-3 for begin, end in pairs)])
        duration += time.perf_counter() - start
    return rows


def _record(devices: tuple[int, ...], events: list[_core.Event]) -> None:
    """Record an event on the current stream of each device."""
    for device, event in zip(devices, events, strict=True):
        with _core.Device(device):
            event.record()
