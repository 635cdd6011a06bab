"""Run random programs of deferred operations and compare them with NumPy and with fusion mode "off".


    python tests/helpers/fusion_soak.py --operations 1000000 --seed 7 --json report.json
    python tests/helpers/fusion_soak.py --operations 1000000 --resume report.json
    python tests/helpers/fusion_soak.py --operations 1000000 --finalisers --refusing --threads 4

`--resume` continues the run of an earlier report with the same options, and adds to the report's totals. Processes
whose seeds lie far apart run different programs, so a long run can be split between processes.
`fusion_support/state_machine.py` defines the programs. If the runs of a program give different values, the command
prints the program's seed, which reproduces the difference, and the program's last steps. The command requires a
simulated or real device. Programs are composed of fragments from a catalogue, so that few kernels are compiled.
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
import simulated_driver
from fusion_support import state_machine


def soak(
    operations: int, seed: int, fragments: int = state_machine.MOST_FRAGMENTS, *, shown: bool = False, **options: Any
) -> dict[str, Any]:
    """Run random programs and return a report; `report["failure"]` describes the first failure, or is None."""

    def tell(number: int) -> None:
        print(f"\rseed {seed}: {number} operations", end="", file=sys.stderr, flush=True)

    PyGPU.zeros(1)
    gc.collect()
    PyGPU.synchronize()
    driver = simulated_driver.driver()
    found_before = len(driver.reports()) if driver is not None else 0
    before = PyGPU.memory_statistics()["bytes"]
    start, processor = time.perf_counter(), time.process_time()
    report = state_machine.run(seed, operations, fragments, tell if shown else None, **options)
    gc.collect()
    PyGPU.synchronize()
    after = PyGPU.memory_statistics()["bytes"]
    findings = driver.reports()[found_before:] if driver is not None else []
    if report["failure"] is None and after > before:
        report["failure"] = f"{after} bytes are in use after all arrays are gone, {before} were before"
    if report["failure"] is None and findings:
        report["failure"] = f"the simulated driver has {len(findings)} findings: {findings[:5]}"
    seconds = round(time.perf_counter() - start, 2)
    processor_seconds = round(time.process_time() - processor, 2)
    origin = {"backend": PyGPU.backend_name(), "simulated": driver is not None, "fragments": fragments}
    return report | origin | {"seconds": seconds, "processor_seconds": processor_seconds}


def added(former: dict[str, Any], report: dict[str, Any]) -> dict[str, Any]:
    """Add the totals of an earlier report to those of a continued run."""
    sums = {}
    for name, value in report.items():
        before = former.get(name)
        if isinstance(value, dict):
            names = sorted({*value, *(before or {})})
            sums[name] = {key: value.get(key, 0) + (before or {}).get(key, 0) for key in names}
        elif name in TOTALS:
            sums[name] = round(value + (before or 0), 2)
    return report | sums | {"seed": former["seed"]}


# Entries of the report that are sums: a continued run adds the entries of the earlier report to its own.
TOTALS = ("programs", "operations", "finalisers", "refusals", "seconds", "processor_seconds")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--fragments", type=int, default=state_machine.MOST_FRAGMENTS, help="of the catalogue")
    parser.add_argument("--seed", type=int, default=None, help="random by default, and printed")
    parser.add_argument("--json", type=Path, default=None, help="also write the report there")
    parser.add_argument("--resume", type=Path, default=None, help="a report to continue, which is written again")
    parser.add_argument("--threads", type=int, default=1, help="programs that run at once")
    parser.add_argument("--finalisers", action="store_true", help="use arrays wherever Python collects garbage")
    parser.add_argument("--refusing", action="store_true", help="refuse memory once, and by allocators of the program")
    arguments = parser.parse_args()
    if PyGPU.backend_name() == "cpu":
        parser.error("operations on arrays of the host are never deferred: choose another backend")
    seed = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    fragments, threads = arguments.fragments, arguments.threads
    has_finalisers, is_refusing = arguments.finalisers, arguments.refusing
    former = None
    if arguments.resume is not None:
        former = json.loads(arguments.resume.read_text())
        if former["failure"]:
            parser.error(f"{arguments.resume} ended with a failure")
        seed, fragments, threads = former["next_seed"], former["fragments"], former["threads"]
        has_finalisers, is_refusing = bool(former["finalisers"]), bool(former["refusals"])
        arguments.json = arguments.json or arguments.resume
    shown = sys.stderr.isatty()
    options = {"threads": threads, "has_finalisers": has_finalisers, "is_refusing": is_refusing}
    report = soak(arguments.operations, seed, fragments, shown=shown, **options)
    if former is not None:
        report = added(former, report)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    name = f"simulated {report['backend']}" if report["simulated"] else report["backend"]
    rate = round(report["operations"] / max(report["processor_seconds"], 1e-9))
    print(
        f"seed {seed}, {name}: {report['operations']} operations in {report['seconds']} s, {rate} a second of processor"
    )
    if threads > 1 or has_finalisers or is_refusing:
        print(f"{threads} threads, {report['finalisers']} finalisers, {report['refusals']} refusals of memory")
    for part in ("counts", "figures", "closed", "at_once"):
        print(f"{part}: " + ", ".join(f"{kind} {count}" for kind, count in report[part].items()))
    print(f"FAILED, {report['failure']}" if report["failure"] else "no difference")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n")
    return 1 if report["failure"] else 0


if __name__ == "__main__":
    sys.exit(main())
