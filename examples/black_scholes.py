"""The price of options
====================

The formula of Black and Scholes for many options at once. On a GPU one kernel computes the whole expression.
"""

import numpy as np

import PyGPU


def normal(xp: object, x: np.ndarray) -> np.ndarray:
    """Return the cumulative normal distribution, with an error below 1e-7 (Abramowitz and Stegun, 26.2.17)."""
    t = 1 / (1 + 0.2316419 * xp.abs(x))
    tail = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = tail * xp.exp(-0.5 * x * x) / (2 * np.pi) ** 0.5
    return xp.where(x > 0, 1 - tail, tail)


def call_price(xp: object, spot: np.ndarray, strike: float, years: np.ndarray) -> np.ndarray:
    """Return the price of a call at 2 % interest and 30 % volatility; `xp` is PyGPU or NumPy."""
    rate, volatility = 0.02, 0.3
    root = volatility * xp.sqrt(years)
    d = (xp.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / root
    return spot * normal(xp, d) - strike * xp.exp(-rate * years) * normal(xp, d - root)


if __name__ == "__main__":
    from matplotlib.figure import Figure

    spot, years = PyGPU.linspace(50, 150, 400), PyGPU.array([0.05, 0.5, 1, 3])
    axes = (figure := Figure(figsize=(8, 5))).subplots()
    axes.plot(spot.get(), call_price(PyGPU, spot[:, None], 100, years).get(), label=years.get())
    axes.set(xlabel="price of the share", ylabel="price of a call at 100")
    axes.legend(title="years")
    figure.savefig("black_scholes.png")
