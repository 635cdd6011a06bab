"""Count the instructions of small calls on the CPU backend, to detect regressions despite noisy times.

    python benches/python/instruction_counts.py [--update] [--json FILE] [--python PROGRAM]

Callgrind runs one Python process that iterates each statement N and 2N times; the difference is the cost of N
iterations without overhead. Calls of `os.getppid` mark the start and end of the iterations: callgrind writes its counts
at each call. Two runs differ by less than one percent. The counts are compared with benches/instruction_counts.json,
which belongs to one build of Python and NumPy. If the versions match, and NumPy's own calls in the same run have the
recorded counts, the counts are compared. Otherwise the ratios to the counts of NumPy's calls are compared, with a wider
tolerance. Without valgrind the program prints that valgrind is missing, and measures nothing. Run the program with a
release build.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

BASELINE = Path(__file__).parent.parent / "instruction_counts.json"
TURNS = 200
# A call is a regression if its instruction count exceeds the count in the baseline by more than this fraction.
TOLERANCE = 0.05
# Permitted growth of the ratio of PyGPU's count to NumPy's count, if the baseline was counted with another Python
# version. From Python 3.11 to 3.13 these ratios grow by up to an eighth.
RATIO_TOLERANCE = 0.2
# The baseline applies to this machine if the median deviation of NumPy's own counts is at most this fraction.
CONTROL = 0.02
LOOP = "the loop alone"
# Environment variables with which the measured Python process finds its files.
PASSED_ON = ("PATH", "HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV")

# The measured calls: for each, PyGPU's statement, and NumPy's equivalent if there is one.
CALLS: dict[str, tuple[str, str | None]] = {
    LOOP: ("pass", "pass"),
    "a[1:3]": ("a[1:3]", "n[1:3]"),
    "a[1]": ("a[1]", "n[1]"),
    "a[..., ::2]": ("a[..., ::2]", "n[..., ::2]"),
    "a[None, 1:-1, ::-1]": ("a[None, 1:-1, ::-1]", "n[None, 1:-1, ::-1]"),
    "a.T": ("a.T", "n.T"),
    "a.reshape(32, 16)": ("a.reshape(32, 16)", "n.reshape(32, 16)"),
    "a.shape": ("a.shape", "n.shape"),
    "a.dtype": ("a.dtype", "n.dtype"),
    "a.ptr": ("a.ptr", None),
    "empty((3, 3), f32)": ("g.empty((3, 3), f32)", "np.empty((3, 3), f32)"),
    "empty((3, 3), dtype=f32)": ("g.empty((3, 3), dtype=f32)", "np.empty((3, 3), dtype=f32)"),
    "to_gpu(five floats)": ("g.to_gpu(five)", "np.array(five)"),
    "get() of five floats": ("short.get()", "five.copy()"),
    "__dlpack__()": ("a.__dlpack__()", "n.__dlpack__()"),
    "__dlpack__(max_version)": ("a.__dlpack__(max_version=(1, 0))", "n.__dlpack__(max_version=(1, 0))"),
    "__array_interface__": ("a.__array_interface__", "n.__array_interface__"),
    "np.from_dlpack(a)": ("np.from_dlpack(a)", "np.from_dlpack(n)"),
    "from_dlpack(an ndarray)": ("g.from_dlpack(n)", None),
    "asarray(an array)": ("g.asarray(a)", "np.asarray(n)"),
    "a + b": ("short + short", "five + five"),
    "2 * a": ("2 * short", "2 * five"),
    "current_stream()": ("g.current_stream()", None),
    "event.record(stream)": ("event.record(stream)", None),
    "stream.wait_event(event)": ("stream.wait_event(event)", None),
    "stream.synchronize()": ("stream.synchronize()", None),
}
STATEMENTS = [
    (name, library, statement)
    for name, both in CALLS.items()
    for library, statement in zip(("PyGPU", "NumPy"), both, strict=True)
    if statement is not None
]
Counts = dict[str, dict[str, int]]


def turn() -> None:
    """Run each statement N times and 2N times under callgrind; calls of `os.getppid` mark start and end of each run."""
    import gc
    import time
    import timeit

    import numpy

    import PyGPU

    host = numpy.arange(512, dtype=numpy.float32).reshape(4, 8, 16)
    five = numpy.arange(5, dtype=numpy.float32)
    names = {"np": numpy, "g": PyGPU, "n": host, "a": PyGPU.to_gpu(host), "five": five, "short": PyGPU.to_gpu(five)}
    names |= {"f32": numpy.float32, "stream": PyGPU.Stream(), "event": PyGPU.Event()}
    timers = [timeit.Timer(statement, globals=names) for _, _, statement in STATEMENTS]
    gc.collect()
    gc.disable()
    gc.freeze()
    for timer in timers:
        # During the warm-up, the interpreter specialises the loop, and caches fill. Other threads of the process also
        # finish their work, because valgrind runs one thread at a time.
        timer.timeit(TURNS)
        time.sleep(0.02)
        # If `malloc` has no free chunk of a requested size, it splits a larger chunk, by 235 instructions. Freeing
        # these blocks gives `malloc` free chunks of each size, so that no count includes a split.
        blocks = [PyGPU.empty(size, numpy.uint8) for size in range(1, 1024, 16) for _ in range(8)]
        del blocks
        for turns in (TURNS, 2 * TURNS):
            os.getppid()
            timer.timeit(turns)
        os.getppid()


def totals(folder: Path) -> list[int]:
    """Return the instruction counts between callgrind's marks, in the order in which the program ran."""
    counts = {}
    for path in folder.glob("out.*"):
        match = re.search(r"^totals: (\d+)", path.read_text(errors="replace"), re.MULTILINE)
        if match is None:
            raise RuntimeError(f"callgrind wrote no totals into {path.name}")
        counts[int(path.suffix[1:])] = int(match[1])
    return [counts[number] for number in sorted(counts)]


def count(valgrind: str, program: str) -> Counts:
    """Return the instructions per iteration for each call and library, without the instructions of the timing loop."""
    # Few environment variables are passed on, because each variable changes the layout of the heap and thereby the
    # instruction counts. OpenBLAS gets one thread, because further threads would change the instruction counts, too.
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {"PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "PYGPU_BACKEND": "cpu"}
    environment |= {"OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        callgrind = [valgrind, "--tool=callgrind", "--fair-sched=try", f"--callgrind-out-file={folder}/out"]
        callgrind.append("--dump-before=getppid")
        done = subprocess.run(
            [*callgrind, program, __file__, "--turn"],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"callgrind ended with {done.returncode}:\n{done.stderr[-3000:]}")
        marks = totals(folder)
    # The program sets three marks for each statement. The interval before the first mark is warm-up.
    if len(marks) != 3 * len(STATEMENTS):
        raise RuntimeError(f"{len(marks)} counts for {3 * len(STATEMENTS)} marks: did anything else call getppid?")
    counts: Counts = {}
    for index, (call, library, _) in enumerate(STATEMENTS):
        once, twice = marks[3 * index + 1 : 3 * index + 3]
        counts.setdefault(call, {})[library] = round((twice - once) / TURNS)
    for call, figures in counts.items():
        if call != LOOP:
            for library in figures:
                figures[library] -= counts[LOOP][library]
    return counts


def made_with(program: str) -> dict[str, str]:
    """Return the Python version, NumPy version and processor type to which a baseline belongs."""
    code = "import numpy, platform; print(platform.python_version(), numpy.__version__)"
    python, numpy = subprocess.run([program, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    return {"python": python, "numpy": numpy, "machine": platform.machine()}


def other_machine(counts: Counts, versions: dict[str, str], baseline: dict[str, Any]) -> str | None:
    """Return the reason why the baseline's counts do not apply to this machine, or None if they apply."""
    if versions != baseline["versions"]:
        return f"the baseline is of {baseline['versions']}, this is {versions}"
    before: Counts = baseline["counts"]
    both = [(counts[call]["NumPy"], was["NumPy"]) for call, was in before.items() if "NumPy" in counts.get(call, {})]
    off = statistics.median(abs(now / was - 1) for now, was in both if was)
    if off > CONTROL:
        return f"NumPy's own calls count {off:.0%} off the baseline: another build of Python, NumPy or the C library"
    return None


def least(one: Counts, other: Counts) -> Counts:
    """Return the smaller of two instruction counts, for each call and library."""
    return {call: {name: min(number, other[call][name]) for name, number in one[call].items()} for call in one}


def regressions(counts: Counts, before: Counts) -> list[str]:
    """Return the calls whose instruction counts exceed the baseline, and the calls that the baseline lacks."""
    messages = []
    for call, figures in counts.items():
        if call not in before:
            messages.append(f"{call} is not in the baseline")
        elif call != LOOP and figures["PyGPU"] > before[call]["PyGPU"] * (1 + TOLERANCE):
            messages.append(f"{call}: {figures['PyGPU']} instructions, {before[call]['PyGPU']} in the baseline")
    return messages


def ratio_regressions(counts: Counts, before: Counts) -> list[str]:
    """Return the calls whose ratio to NumPy's instruction count exceeds the ratio in the baseline."""
    messages = []
    for call, figures in counts.items():
        was = before.get(call, {})
        if call == LOOP or "NumPy" not in figures or "NumPy" not in was:
            continue
        ratio, earlier = figures["PyGPU"] / figures["NumPy"], was["PyGPU"] / was["NumPy"]
        if ratio > earlier * (1 + RATIO_TOLERANCE):
            messages.append(f"{call}: {ratio:.2f} of NumPy's instructions, {earlier:.2f} in the baseline")
    return messages


def table(counts: Counts, before: Counts) -> None:
    """Print the instruction counts of PyGPU, of NumPy and of the baseline."""
    from machine import print_table

    rows = []
    for call, figures in counts.items():
        ours, numpys, was = figures["PyGPU"], figures.get("NumPy"), before.get(call, {}).get("PyGPU")
        change = f"{ours / was - 1:+.1%}" if was else "-"
        ratio = f"{ours / numpys:.2f}" if numpys else "-"
        rows.append([call, str(ours), str(numpys or "-"), ratio, str(was or "-"), change])
    print_table(rows, ["instructions", "PyGPU", "NumPy", "ratio", "baseline", "change"])


def main() -> int:
    """Count instructions, print the table, and compare it with the baseline."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the counts into the baseline")
    parser.add_argument("--json", metavar="FILE", help="write the counts there")
    parser.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the Python that has PyGPU")
    parser.add_argument("--turn", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.turn:
        turn()
        return 0
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        print("instruction counts are skipped: valgrind is not installed")
        return 0
    counts, versions = count(valgrind, arguments.python), made_with(arguments.python)
    baseline = json.loads(BASELINE.read_text()) if BASELINE.exists() else {"versions": None, "counts": {}}
    if not arguments.update and regressions(counts, baseline["counts"]):
        # The first count may include work of other threads, so the program counts again and uses the smaller count.
        counts = least(counts, count(valgrind, arguments.python))
    content = json.dumps({"versions": versions, "counts": counts}, indent=1) + "\n"
    if arguments.json:
        Path(arguments.json).parent.mkdir(parents=True, exist_ok=True)
        Path(arguments.json).write_text(content)
    if arguments.update:
        BASELINE.write_text(content)
    table(counts, baseline["counts"])
    if arguments.update:
        return 0
    other = other_machine(counts, versions, baseline)
    if other is not None:
        print(f"only the ratios to NumPy are compared: {other}")
    messages = ratio_regressions(counts, baseline["counts"]) if other else regressions(counts, baseline["counts"])
    for line in messages:
        print(f"regression: {line}")
    if messages:
        print("is this a release build? If the change is meant: make instructions INSTRUCTIONS=--update")
    return 1 if messages else 0


if __name__ == "__main__":
    sys.exit(main())
