"""Measure the greatest error of each elementwise function against mpmath, in units in the last place (ulp).

    python benches/python/accuracy.py [--points 2000] [--json FILE]

The error of a result is its distance from the exact value, divided by the distance between adjacent numbers of the
dtype at this value; for complex results, the distance in the complex plane divided by the spacing at the absolute
value. A correctly rounded function has an error of at most 0.5. Operands are random numbers of the ranges in `DOMAINS`,
and whole numbers. Results that overflow or are subnormal are left out. Functions that are exact or correctly rounded by
IEEE 754, such as `add`, are not measured. Singular values are compared with NumPy's in double precision, in units of
the machine epsilon times the greatest singular value. `--json` keeps the results of other devices that the file already
contains.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import mpmath
import numpy as np

import PyGPU

mpmath.mp.prec = 160
MP = mpmath.mp
SEED = 20261126
# Ranges of the operands. Magnitudes are distributed evenly by their logarithm; signs are random if the range contains
# positive and negative numbers.
DOMAINS: dict[str, list[tuple[float, float]]] = {
    "arccos": [(-1, 1)], "arcsin": [(-1, 1)], "arctanh": [(-1, 1)], "arccosh": [(1, 1e6)],
    "arctan": [(-1e6, 1e6)], "arcsinh": [(-1e6, 1e6)], "arctan2": [(-1e6, 1e6), (-1e6, 1e6)],
    "cbrt": [(-1e30, 1e30)], "cos": [(-1e5, 1e5)], "sin": [(-1e5, 1e5)], "tan": [(-1e5, 1e5)],
    "cosh": [(-85, 85)], "sinh": [(-85, 85)], "tanh": [(-20, 20)],
    "degrees": [(-1e6, 1e6)], "radians": [(-1e6, 1e6)],
    "erf": [(-5, 5)], "erfc": [(-5, 9)], "exp": [(-85, 85)], "exp2": [(-120, 120)], "expm1": [(-85, 85)],
    "gamma": [(0.01, 30)], "lgamma": [(2.5, 1e6)], "i0": [(-80, 80)], "sinc": [(-50, 50)],
    "hypot": [(-1e15, 1e15), (-1e15, 1e15)], "log": [(1e-30, 1e30)], "log10": [(1e-30, 1e30)],
    "log1p": [(-0.999, 1e30)], "log2": [(1e-30, 1e30)], "logaddexp": [(-80, 80), (-80, 80)],
    "logaddexp2": [(-80, 80), (-80, 80)], "power": [(1e-3, 1e3), (-12, 12)], "reciprocal": [(-1e30, 1e30)],
}  # fmt: skip
# Functions of complex numbers, with the range of the real and imaginary parts of their operands.
COMPLEX = dict.fromkeys((
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "cos", "cosh", "exp",
    "exp2", "expm1", "log", "log10", "log1p", "log2", "multiply", "divide", "power",
    "reciprocal", "sin", "sinc", "sinh", "sqrt", "tan", "tanh", "absolute",
), (-8.0, 8.0))  # fmt: skip
# Shapes of the stacks of matrices whose singular values are measured.
MATRICES = [(50, 3, 3), (50, 16, 12), (20, 32, 32), (5, 64, 64), (4, 200, 100), (1, 500, 500)]
TWO = ("multiply", "divide", "power")
REFERENCES: dict[str, Callable[..., Any]] = {
    "absolute": MP.fabs, "arccos": MP.acos, "arccosh": MP.acosh, "arcsin": MP.asin, "arcsinh": MP.asinh,
    "arctan": MP.atan, "arctan2": MP.atan2, "arctanh": MP.atanh,
    "cbrt": lambda x: MP.sign(x) * MP.cbrt(abs(x)), "cos": MP.cos, "cosh": MP.cosh, "degrees": MP.degrees,
    "divide": lambda x, y: x / y, "erf": MP.erf, "erfc": MP.erfc, "exp": MP.exp, "exp2": lambda x: MP.power(2, x),
    "expm1": MP.expm1, "gamma": MP.gamma, "hypot": MP.hypot, "i0": lambda x: MP.besseli(0, x),
    "lgamma": MP.loggamma, "log": MP.log, "log10": MP.log10, "log1p": MP.log1p, "log2": lambda x: MP.log(x, 2),
    "logaddexp": lambda x, y: MP.log(MP.exp(x) + MP.exp(y)),
    "logaddexp2": lambda x, y: MP.log(MP.power(2, x) + MP.power(2, y), 2),
    "multiply": lambda x, y: x * y, "power": MP.power, "radians": MP.radians, "reciprocal": lambda x: 1 / x,
    "sin": MP.sin, "sinc": MP.sincpi, "sinh": MP.sinh, "sqrt": MP.sqrt, "tan": MP.tan, "tanh": MP.tanh,
}  # fmt: skip


def spread(rng: np.random.Generator, domain: tuple[float, float], count: int) -> np.ndarray:
    """Return whole numbers, and random numbers of a range whose magnitudes have evenly distributed logarithms."""
    low, high = domain
    greatest, least = max(abs(low), abs(high)), low if low > 0 else 1e-6
    numbers = np.exp(rng.uniform(np.log(least), np.log(greatest), count))
    # Zeros are left out: mpmath has no negative zero, but the sign of a zero selects the side of a branch cut.
    numbers[: count // 4] = np.maximum(np.rint(numbers[: count // 4]), 1)
    if low < 0:
        numbers *= rng.choice([-1.0, 1.0], count)
    return numbers[(numbers >= low) & (numbers <= high)]


def operands(name: str, dtype: str, count: int) -> list[np.ndarray]:
    """Return random operands for a function, as arrays of the given dtype."""
    rng = np.random.default_rng(SEED)
    if dtype.startswith("complex"):
        numbers = [spread(rng, COMPLEX[name], 2 * count) for _ in range(2 if name in TWO else 1)]
        return [(one[:count] + 1j * one[count : 2 * count]).astype(dtype) for one in numbers]
    columns = [spread(rng, domain, 2 * count)[:count] for domain in DOMAINS[name]]
    return [column[: min(map(len, columns))].astype(dtype) for column in columns]


def exact_number(value: Any) -> Any:
    """Convert a NumPy number to an mpmath number without rounding."""
    return MP.mpc(value.real.item(), value.imag.item()) if np.iscomplexobj(value) else MP.mpf(value.item())


def greatest_error(name: str, dtype: str, count: int) -> tuple[float, list[str]]:
    """Return the greatest error of a function in ulp, and the operands that cause this error."""
    columns = operands(name, dtype, count)
    results = getattr(PyGPU, name)(*map(PyGPU.to_gpu, columns)).get()
    limits = np.finfo(dtype)
    worst, where = 0.0, []
    for *values, result in zip(*columns, results, strict=True):
        try:
            reference = REFERENCES[name](*map(exact_number, values))
        except (ZeroDivisionError, ValueError):
            continue  # The function has a pole at this operand.
        size = float(abs(reference))
        if not (limits.smallest_normal <= size <= limits.max) or (MP.im(reference) and not np.iscomplexobj(result)):
            continue
        ulp = float(np.spacing(limits.dtype.type(size)))
        error = float(abs(exact_number(result) - reference)) / ulp if np.isfinite(result) else float("inf")
        if error > worst:
            worst, where = error, [str(value) for value in values]
    return worst, where


def measure(count: int) -> dict[str, dict[str, float]]:
    """Print the greatest error of each function and dtype with the operands that cause it, and return all errors."""
    errors: dict[str, dict[str, float]] = {}
    for name in sorted({*DOMAINS, *COMPLEX}):
        dtypes = ["float32", "float64"] if name in DOMAINS else []
        dtypes += ["complex64", "complex128"] if name in COMPLEX else []
        for dtype in dtypes:
            error, where = greatest_error(name, dtype, count)
            errors.setdefault(name, {})[dtype] = round(error, 2)
            print(f"{name:12} {dtype:10} {error:8.2f} ulp at {', '.join(where)}")
    return errors


def measure_singular_values() -> dict[str, dict[str, float]]:
    """Measure the greatest error of singular values of random matrices, for each shape and dtype."""
    rng = np.random.default_rng(SEED)
    errors: dict[str, dict[str, float]] = {}
    for shape in MATRICES:
        for dtype in ("float32", "float64"):
            matrices = rng.standard_normal(shape).astype(dtype)
            exact = np.linalg.svd(matrices.astype(np.float64), compute_uv=False)
            values = PyGPU.linalg.svdvals(PyGPU.to_gpu(matrices)).get()
            error = float(np.max(np.abs(values - exact)) / np.max(exact) / np.finfo(dtype).eps)
            errors.setdefault(" x ".join(map(str, shape)), {})[dtype] = round(error, 2)
            print(f"svdvals {shape} {dtype:10} {error:8.2f} eps")
    return errors


def main() -> None:
    """Measure the errors of all functions on the current backend, and add them to the JSON file as a column."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    PyGPU.device_count()
    backend = PyGPU.backend_name()
    column = {
        "machine": machine.describe(),
        "points": arguments.points,
        "ulp": measure(arguments.points),
        "singular values, eps": measure_singular_values(),
    }
    if arguments.json:
        columns = json.loads(arguments.json.read_text()) if arguments.json.exists() else {}
        columns[backend] = column
        arguments.json.write_text(machine.to_text(dict(sorted(columns.items()))) + "\n")


if __name__ == "__main__":
    main()
