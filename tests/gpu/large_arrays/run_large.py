"""Check operations on arrays of more than 2^31 elements against exact expected values.

    python tests/gpu/large_arrays/run_large.py --json report.json
    python tests/gpu/large_arrays/run_large.py --family reductions --family scans --fusion auto

Each case creates its operands on the device and applies operations of one kind. On the device it compares all elements
of the results with a rule (`large_array_support/element_rules.py`), and on the host some of them. The largest cases
occupy less than 60 GiB of device memory. With `--elements`, the same cases run with smaller arrays, on any backend.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "helpers"))

import PyGPU
from large_array_support.array_checker import ArrayChecker
from large_array_support.case_registry import CASES, Case, load
from PyGPU import _core

load()

# An odd number slightly above 2^31, so that element indices overflow 32-bit integers.
ELEMENTS = (1 << 31) + 4099
# The smallest permitted `--elements`, with which the results of each case still have several elements.
FEWEST = 2000
MODES = {"auto": ("auto",), "off": ("off",), "both": ("auto", "off")}


def run_case(large: ArrayChecker, function: Case) -> dict[str, Any]:
    """Run one case; return its measurements, and the text of its failure or None."""
    large.most_elements = large.most_bytes = 0
    failures, start = [], time.perf_counter()
    before = PyGPU.memory_statistics()["bytes"]
    try:
        function(large)
        PyGPU.synchronize()
    except Exception as error:
        failures.append(f"{type(error).__name__}: {error}")
    seconds = round(time.perf_counter() - start, 3)
    try:
        free_memory(large)
        after = PyGPU.memory_statistics()["bytes"]
        if after != before:
            failures.append(f"{after} bytes of arrays are in use after the case, {before} were before")
    except Exception as error:  # After a fault of a kernel, each call of the driver fails.
        failures.append(f"{type(error).__name__}: {error}")
    return {
        "elements": large.most_elements,
        "bytes": large.most_bytes,
        "seconds": seconds,
        "failure": "; ".join(failures) or None,
    }


def free_memory(large: ArrayChecker) -> None:
    """Return the memory of a case to the device, so that all device memory is free for the next case."""
    large.forget_tables()
    gc.collect()
    PyGPU.synchronize()
    PyGPU.trim_memory()


def run(elements: int, families: Iterable[str], modes: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Run the cases of the named families in each fusion mode, and yield the result of each case."""
    large = ArrayChecker(elements)
    for mode in modes:
        former = _core._set_fusion(mode)
        # Compile each fused kernel at the first use of its combination of operations.
        _core._limit_fusion(compile_threshold=1)
        large.mode = mode
        try:
            for family in families:
                for name, function in CASES[family].items():
                    yield {"mode": mode, "family": family, "name": name, **run_case(large, function)}
        finally:
            _core._limit_fusion()
            _core._set_fusion(former)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=ELEMENTS, help=f"at least {FEWEST}; by default 2^31 + 4099")
    parser.add_argument("--family", action="append", choices=CASES, help="may be repeated; all families by default")
    parser.add_argument("--fusion", choices=MODES, default="both", help="modes of deferred arithmetic")
    parser.add_argument("--json", type=Path, help="file for the report")
    options = parser.parse_args(arguments)
    if options.elements < FEWEST:
        parser.error(f"--elements must be at least {FEWEST}, not {options.elements}")
    start, cases = time.monotonic(), []
    for result in run(options.elements, options.family or CASES, MODES[options.fusion]):
        cases.append(result)
        outcome = result["failure"] or "ok"
        print(
            f"{result['mode']:4} {result['family']}: {result['name']}: {result['elements']} elements, "
            f"{result['bytes']} bytes, {result['seconds']} s: {outcome}",
            flush=True,
        )
    failed = sum(result["failure"] is not None for result in cases)
    statistics = PyGPU.memory_statistics()
    report = {
        "backend": PyGPU.backend_name(),
        "device": PyGPU.Device().name,
        "elements": options.elements,
        "seconds": round(time.monotonic() - start, 1),
        "peak_bytes": statistics["peak"],
        "failed": failed,
        "cases": cases,
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    print(f"{len(cases)} cases, {failed} failed, {report['seconds']} s, at most {report['peak_bytes']} bytes of arrays")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
