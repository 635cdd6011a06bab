"""A low-pass filter
=================

Noise is removed from a signal by its Fourier transform: frequencies above a limit become zero.
"""

import numpy as np

import PyGPU


def low_pass(xp: object, signal: np.ndarray, limit: float, seconds: float) -> np.ndarray:
    """Return the part of a signal below a frequency in Hz; `xp` is PyGPU or NumPy."""
    signal = xp.asarray(signal)
    spectrum = xp.fft.rfft(signal)
    spectrum[xp.fft.rfftfreq(len(signal), seconds / len(signal)) > limit] = 0
    return xp.fft.irfft(spectrum, len(signal))


if __name__ == "__main__":
    from matplotlib.figure import Figure

    time = np.linspace(0, 1, 4096, endpoint=False)
    noise = np.random.default_rng(2).standard_normal(time.size)
    measured = np.sin(6 * np.pi * time) + 0.5 * np.sin(14 * np.pi * time) + 0.6 * noise
    axes = (figure := Figure(figsize=(8, 4))).subplots()
    axes.plot(time, measured, linewidth=0.3, label="measured")
    axes.plot(time, low_pass(PyGPU, measured, 10, 1).get(), linewidth=2, label="below 10 Hz")
    axes.set(xlabel="seconds")
    axes.legend()
    figure.savefig("low_pass.png")
