"""Leave out each place that launches what waits, one after the other, and see whether a test of this folder notices.

    python tests/fusion/mutations.py [--backend cuda] [part of a place ...]

One extension is built, of a copy of the sources, in which the calls of `deferral::close` and `deferral::is_any` look at
an environment variable: the one whose place that names does as if nothing waited. Then the tests are run once a place.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/fusion_mutated"
VARIABLE = "FUSION_MUTATED"
CALLS = re.compile(r"\bdeferral::(close|is_any)\(")
# Where the calls themselves are, and what launches rather than asks.
OWN = ("src/deferral.rs", "src/python/deferral/mod.rs")
QUICK = ["--deselect=tests/fusion/test_machine.py", "--deselect=tests/fusion/test_every_name.py"]
SLOW = ["tests/fusion/test_every_name.py", "tests/fusion/test_machine.py"]

LOOK = """
/// Whether the place that asks is the one that is left out.
#[track_caller]
fn is_left_out() -> bool {
    static LEFT_OUT: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let place = std::panic::Location::caller();
    let left_out = LEFT_OUT.get_or_init(|| std::env::var("VARIABLE").ok());
    left_out.as_ref().is_some_and(|left_out| format!("{}:{}", place.file(), place.line()).ends_with(left_out))
}
"""


def places() -> list[str]:
    """Each line of the sources that asks whether something waits, or launches it."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.rs")):
        name = str(path.relative_to(ROOT))
        if name in OWN:
            continue
        lines = path.read_text().splitlines()
        found += [f"{name}:{number}" for number, line in enumerate(lines, 1) if CALLS.search(line)]
    return found


def replaced(text: str, before: str, after: str) -> str:
    if before not in text:
        raise SystemExit(f"the text is not there any more: {before}")
    return text.replace(before, after)


def build() -> None:
    """Build the extension, and put it into a copy of the package."""
    folder = BUILD / "source"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("src", "python"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    for name in ("benches", "tests"):
        (folder / name).symlink_to(ROOT / name)
    gate = folder / OWN[0]
    text = gate.read_text()
    text = replaced(text, "#[inline(always)]\npub fn is_any", "#[track_caller]\npub fn is_any")
    count = "COUNT.load(Ordering::Acquire) > 0"
    text = replaced(text, f"{count}\n", f"{count} && !is_left_out()\n")
    text = replaced(text, "#[inline(always)]\npub fn close", "#[track_caller]\npub fn close")
    gate.write_text(text + LOOK.replace("VARIABLE", VARIABLE))
    front = folder / OWN[1]
    front.write_text(
        replaced(front.read_text(), "#[inline(always)]\npub(crate) fn close", "#[track_caller]\npub(crate) fn close")
    )
    command = ["cargo", "rustc", "--quiet", "--locked", "--features", "python", "--lib", "--crate-type", "cdylib"]
    command += ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(BUILD / "target")]
    environment = {**os.environ, "PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    subprocess.run(command, check=True, env=environment)
    library = next((BUILD / "target/debug").glob("lib*.so"))
    shutil.copy(library, folder / "python/PyGPU/_core.abi3.so")


def failing(place: str, backend: str, arguments: list[str]) -> str | None:
    """The first test that fails without a place; None if all pass."""
    environment = {
        **os.environ,
        VARIABLE: place,
        "PYGPU_BACKEND": backend,
        "PYTHONPATH": str(BUILD / "source/python"),
        "LD_LIBRARY_PATH": str(ROOT / "build/simulated"),
        "PYGPU_SIM_IMAGES": str(ROOT / "build/simulated/images"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout=60", *arguments]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=400, check=False
        )
    except subprocess.TimeoutExpired:
        return "a test that never ends"
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else f"a process that ends with {done.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", help="parts of the places' names; all by default")
    parser.add_argument("--backend", default="cuda", choices=("cuda", "hip"))
    parser.add_argument("--quick", action="store_true", help="leave the random programs out")
    arguments = parser.parse_args()
    build()
    if found := failing("nothing", arguments.backend, ["tests/fusion", *QUICK]):
        raise SystemExit(f"a test fails without any mutation: {found}")
    unseen = []
    for place in places():
        if arguments.places and not any(part in place for part in arguments.places):
            continue
        found = failing(place, arguments.backend, ["tests/fusion", *QUICK])
        if found is None:
            found = failing(place, arguments.backend, SLOW[: 1 if arguments.quick else 2])
        source = (ROOT / place.split(":")[0]).read_text().splitlines()[int(place.split(":")[1]) - 1].strip()
        print(f"{found or 'NOT SEEN'}: {place}: {source}", flush=True)
        if found is None:
            unseen.append(place)
    return 1 if unseen else 0


if __name__ == "__main__":
    raise SystemExit(main())
