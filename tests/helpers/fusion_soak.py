"""Random programs with operations that wait, held against NumPy and against the mode off, for as long as one likes.

    python tests/helpers/fusion_soak.py --operations 1000000 --seed 7 --json report.json

`fusing/machine.py` has the programs. On a difference the seed of its program and the last steps are printed; the seed
repeats it. A device is needed, simulated or real. Fragments come from a catalogue, so that few kernels are compiled.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from pathlib import Path
from random import SystemRandom
from typing import Any

import PyGPU
import simulated
from fusing import machine


def soak(operations: int, seed: int, fragments: int = machine.MOST_FRAGMENTS, *, shown: bool = False) -> dict[str, Any]:
    """A whole run and its report; what is wrong stands under `"failure"`, which is None if nothing is."""

    def tell(number: int) -> None:
        print(f"\rseed {seed}: {number} operations", end="", file=sys.stderr, flush=True)

    PyGPU.zeros(1)
    gc.collect()
    PyGPU.synchronize()
    driver = simulated.driver()
    found_before = len(driver.reports()) if driver is not None else 0
    before = PyGPU.memory_statistics()["bytes"]
    start = time.perf_counter()
    report = machine.run(seed, operations, fragments, tell if shown else None)
    gc.collect()
    PyGPU.synchronize()
    after = PyGPU.memory_statistics()["bytes"]
    findings = driver.reports()[found_before:] if driver is not None else []
    if report["failure"] is None and after > before:
        report["failure"] = f"{after} bytes are in use after all arrays are gone, {before} were before"
    if report["failure"] is None and findings:
        report["failure"] = f"the simulated driver has {len(findings)} findings: {findings[:5]}"
    seconds = round(time.perf_counter() - start, 2)
    return report | {"backend": PyGPU.backend_name(), "simulated": driver is not None, "seconds": seconds}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--fragments", type=int, default=machine.MOST_FRAGMENTS, help="of the catalogue")
    parser.add_argument("--seed", type=int, default=None, help="random by default, and printed")
    parser.add_argument("--json", type=Path, default=None, help="also write the report there")
    arguments = parser.parse_args()
    if PyGPU.backend_name() == "cpu":
        parser.error("operations on arrays of the host are never put off: choose another backend")
    seed = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    report = soak(arguments.operations, seed, arguments.fragments, shown=sys.stderr.isatty())
    if sys.stderr.isatty():
        print(file=sys.stderr)
    name = f"simulated {report['backend']}" if report["simulated"] else report["backend"]
    print(f"seed {seed}, {name}: {report['operations']} operations in {report['seconds']} s")
    for part in ("counts", "figures", "closed", "at_once"):
        print(f"{part}: " + ", ".join(f"{kind} {count}" for kind, count in report[part].items()))
    print(f"FAILED, {report['failure']}" if report["failure"] else "no difference")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if report["failure"] else 0


if __name__ == "__main__":
    sys.exit(main())
