"""Run programs that are written for CuPy, unchanged, over PyGPU and, where it is installed, over CuPy.

python tests/cupy/run_programs.py [--source FOLDER] [--backend cpu,cuda,hip] [--simulated FOLDER] [NAME ...]

The programs and their repositories are listed in programs/programs.toml. Their files are fetched by git into
build/programs, or read from the folder `--source`, which has a folder `owner+name` for each repository. Each program
runs by `python -m PyGPU run --as-cupy` on each backend, and by Python itself if CuPy is installed. The output of each
program is compared with its output over CuPy, or over the first backend if CuPy is missing: numbers with a tolerance,
random numbers by their range. `--against FILE` takes the output over CuPy from a file that `--json` wrote on another
machine.

With `--simulated FOLDER`, the backends cuda and hip are the simulated drivers of this folder (build/simulated).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import time
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)(?![\w.]*\w)")


def fetch(program: dict[str, Any], folder: Path) -> None:
    """Fetch the files of a program, at the commit that programs.toml lists, into the folder of its repository."""
    missing = [name for name in program["files"] if not (folder / name).exists()]
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    git = ["git", "-C", str(folder)]
    url = f"https://github.com/{program['repository']}"
    try:
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "remote", "add", "origin", url], check=False, capture_output=True)
        fetching = ["fetch", "-q", "--depth", "1", "--filter=blob:none", "origin", program["commit"]]
        subprocess.run([*git, *fetching], check=True)
        subprocess.run([*git, "-c", "core.autocrlf=false", "checkout", "-q", "FETCH_HEAD", "--", *missing], check=True)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"{url} at {program['commit']} could not be fetched: give its files by --source") from error


def check(program: dict[str, Any], folder: Path) -> None:
    """Compare the checksums of a program's files with those in programs.toml."""
    for name, expected in program["files"].items():
        found = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        if found != expected:
            raise SystemExit(f"{folder / name} has the SHA-256 {found}, programs.toml has {expected}: fetch it again")


def environment(backend: str, simulated: Path | None) -> dict[str, str]:
    """Return the environment variables with which a program runs on a backend."""
    variables = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "python"), os.environ.get("PYTHONPATH")]))
    if backend != "cupy":
        variables["PYGPU_BACKEND"] = backend
    if simulated is not None and backend in ("cuda", "hip"):
        variables |= {"PYGPU_SIM_IMAGES": str(simulated / "images"), "LD_LIBRARY_PATH": str(simulated)}
    return variables


def run(program: dict[str, Any], folder: Path, backend: str, simulated: Path | None) -> dict[str, Any]:
    """Run all command lines of a program, and return its output and its wall time."""
    output, start = "", time.perf_counter()
    for first, *arguments in program["run"]:
        file = folder / first
        if not file.exists():
            file, arguments = PROGRAMS / first, [str(folder), *arguments] if "files" in program else arguments
        python = (
            [sys.executable] if backend == "cupy" else [sys.executable, "-m", "PyGPU", "run", "--as-cupy", "--force"]
        )
        done = subprocess.run(
            [*python, str(file), *arguments],
            env=environment(backend, simulated),
            cwd=file.parent,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return {"error": done.stderr[-4000:], "seconds": time.perf_counter() - start}
        output += done.stdout
    return {"output": output, "seconds": round(time.perf_counter() - start, 2)}


def lines_of(program: dict[str, Any], output: str) -> list[tuple[str, list[float]]]:
    """Return the text and the numbers of each output line, without lines that report times."""
    lines = [line for line in output.splitlines() if not line.startswith(tuple(program.get("ignore", [])))]
    return [(" ".join(NUMBER.sub("#", line).split()), [float(part) for part in NUMBER.findall(line)]) for line in lines]


def difference(program: dict[str, Any], output: str, expected: str) -> str | None:
    """Return a description of the first difference between two outputs, or None if they agree."""
    tolerance, ranges = program.get("tolerance", 1e-8), program.get("ranges", {})
    found, expected_lines = lines_of(program, output), lines_of(program, expected)
    if not expected_lines or len(found) != len(expected_lines):
        return f"{len(found)} lines of output instead of {len(expected_lines)}"
    for (text, numbers), (other_text, others) in zip(found, expected_lines, strict=True):
        if text != other_text:
            return f"{text!r} instead of {other_text!r}"
        limits = next((limits for name, limits in ranges.items() if text.startswith(name)), None)
        for number, other in zip(numbers, others, strict=True):
            if limits is not None and not limits[0] <= number <= limits[1]:
                return f"{text!r}: {number} is outside {limits}"
            is_close = math.isclose(number, other, rel_tol=tolerance, abs_tol=tolerance)
            if limits is None and not is_close and not (math.isnan(number) and math.isnan(other)):
                return f"{text!r}: {number} instead of {other}"
    return None


def judge(program: dict[str, Any], results: dict[str, dict[str, Any]], earlier: dict[str, Any]) -> None:
    """Add a verdict to each program's result: same, reference, or the difference from the reference."""
    if "output" in earlier:
        results = {"reference": earlier, **results}
    order = ["reference", "cupy", *results]
    reference = next((name for name in order if "output" in results.get(name, {})), None)
    for name, result in results.items():
        if "output" not in result:
            result["verdict"] = "failed"
        elif name == reference:
            own = difference(program, result["output"], result["output"])
            result["verdict"] = "reference" if own is None else f"differs: {own}"
        else:
            assert reference is not None
            found = difference(program, result["output"], results[reference]["output"])
            result["verdict"] = "same" if found is None else f"differs: {found}"


def main() -> int:
    """Run the programs, print the table, and return 1 if a result differs from the reference."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="programs, by default all")
    parser.add_argument("--source", type=Path, help="folder with the files, instead of fetching them by git")
    parser.add_argument("--backend", default="cpu", help="backends, separated by commas")
    parser.add_argument("--simulated", type=Path, help="folder of the simulated drivers")
    parser.add_argument("--no-cupy", action="store_true", help="do not run CuPy, even if it is installed")
    parser.add_argument("--json", type=Path, help="file for the results")
    parser.add_argument("--against", type=Path, help="results with CuPy, written by --json")
    options = parser.parse_args()
    programs = tomllib.loads((PROGRAMS / "programs.toml").read_text())["programs"]
    if unknown := set(options.names) - {program["name"] for program in programs}:
        parser.error(f"programs.toml has no {', '.join(sorted(unknown))}")
    programs = [program for program in programs if not options.names or program["name"] in options.names]
    backends = options.backend.split(",")
    if find_spec("cupy") is not None and not options.no_cupy:
        backends.append("cupy")
    earlier = json.loads(options.against.read_text()) if options.against else {}
    simulated = options.simulated.resolve() if options.simulated else None

    report: dict[str, dict[str, dict[str, Any]]] = {}
    print(f"{'program':<20}" + "".join(f"{name:<20}" for name in backends))
    for program in programs:
        folder = PROGRAMS
        if "files" in program:
            folder = (options.source or ROOT / "build/programs").resolve() / program["repository"].replace("/", "+")
            if options.source is None:
                fetch(program, folder)
            check(program, folder)
        results = {name: run(program, folder, name, simulated) for name in backends}
        judge(program, results, earlier.get(program["name"], {}).get("cupy", {}))
        report[program["name"]] = results
        cells = [f"{result['verdict'].split(':')[0]}, {result['seconds']:.1f} s" for result in results.values()]
        print(f"{program['name']:<20}" + "".join(f"{cell:<20}" for cell in cells), flush=True)
        for name, result in results.items():
            if result["verdict"] not in ("same", "reference"):
                print(f"    {name}: {result['verdict']} {result.get('error', '')}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))
    return int(any(one["verdict"] not in ("same", "reference") for found in report.values() for one in found.values()))


if __name__ == "__main__":
    sys.exit(main())
