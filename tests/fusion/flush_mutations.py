"""Disable each flush call in the sources, one at a time, and report whether a test of tests/fusion then fails.

    python tests/fusion/flush_mutations.py [--backend cuda] [--markdown FILE] [part of a location ...]

The tool builds one extension from a copy of the sources. In this extension, the functions `flush_points::flush` and
`flush_points::has_pending` read two environment variables. One variable names the source location of a call, which then
acts as if no operation were pending. The other variable names a file that records which tests reach a call while
operations are pending. First all tests run once to write this record. Then each call is disabled in turn, and the tests
that reach it run until one fails, beginning with tests that reach the fewest other calls.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build/fusion_mutated"
LEFT_OUT, FOUND = "FUSION_LEFT_OUT", "FUSION_FOUND"
# `CALLS` finds calls that flush, or that query whether operations are pending.
# `INSIDE` finds such calls in `FOLDER`, whose files call the functions without a module name.
CALLS = re.compile(
    r"\b(?:flush_points|hooks)::(?:flush|flush_all|flush_now|flush_pending|has_pending)\("
    r"|\bfusion::(?:flush_pending|flush_all_pending)\("
)
INSIDE = re.compile(r"(?<![\w:.])(?<!fn )flush(?:_all)?_pending\((?:py, )?\w")
# `HIDDEN` finds calls that `CALLS` cannot find, so the sources must not contain them:
# functions imported under their own name, and `fusion::flush`.
RENAMED = (
    r"^ *(?:pub\S* )?use [^;]*\bflush_points::(?:\{[^}]*\b)?(?:flush|flush_all|flush_now|flush_pending|has_pending)\b"
)
HIDDEN = re.compile(rf"{RENAMED}|\bfusion::flush\(", re.MULTILINE)
FUNCTION = re.compile(r"^\s*(?:pub(?:\([\w ]+\))? )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)")
# `GATE` is the source file that defines the flush functions. Files in `FOLDER` call them without a module name.
GATE, FOLDER = "src/base/flush_points.rs", "src/python/fusion"
# Let faulthandler end a test after 30 s, even if the test holds the GIL. No test takes longer,
# because the first run has compiled all kernels.
NEVER = ("-ofaulthandler_timeout=30", "-ofaulthandler_exit_on_timeout=true")
# Slow tests, which the option `--quick` omits.
RANDOM = "tests/fusion/test_random_programs.py"

LOOK = """
/// Whether the place that asks is the one that is left out. Where a file is named for it, the test that came is noted.
#[track_caller]
fn is_left_out() -> bool {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::sync::{LazyLock, Mutex};
    static LEFT_OUT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("FUSION_LEFT_OUT").ok());
    static FOUND: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("FUSION_FOUND").ok());
    static NOTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if LEFT_OUT.is_none() && FOUND.is_none() || is_in_batch() {
        return false;
    }
    let place = std::panic::Location::caller();
    let place = format!("{}:{}", place.file(), place.line());
    if let Some(path) = &*FOUND {
        let noted = format!("{place}\\t{}\\n", std::env::var("PYTEST_CURRENT_TEST").unwrap_or_default());
        if NOTED.lock().unwrap().insert(noted.clone()) {
            let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
            file.unwrap().write_all(noted.as_bytes()).unwrap();
        }
    }
    LEFT_OUT.as_ref().is_some_and(|left_out| *left_out == place)
}
"""


PROSE = """# Flushes of deferred operations, and the tests that detect a missing flush

*For developers of PyGPU.*

On a simulated GPU, each call that launches pending operations, or queries whether there are any, was removed in turn.
The tests of [deferred arithmetic](../design/fusion.md) were then run without this call, by

```text
python tests/fusion/flush_mutations.py --markdown docs/results/closing_calls.md
```

The script finds these calls in the sources. It fails if no test detects that a call is missing.
"""


class CallSite(NamedTuple):
    """Store the source location of a call that flushes, or that queries whether operations are pending."""

    file: str
    line: int
    function: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}"


def call_sites() -> Iterator[CallSite]:
    """Yield the location of each source line that flushes or that queries whether operations are pending."""
    for path in sorted((ROOT / "src").rglob("*.rs")):
        file, text = str(path.relative_to(ROOT)), path.read_text()
        if file == GATE:
            continue
        if hidden := not file.startswith(FOLDER) and HIDDEN.search(text):
            raise SystemExit(f"{file}: flushes are called by the name of their module: `{hidden[0]}`")
        function = ""
        for number, line in enumerate(text.splitlines(), 1):
            if begun := FUNCTION.match(line):
                function = begun[1]
            code = line.split("//")[0]
            if file.startswith(FOLDER) and function in ("flush_pending", "flush_all_pending"):
                continue  # This line belongs to the definition of the flush function, not to a call.
            if CALLS.search(code) or (file.startswith(FOLDER) and INSIDE.search(code)):
                yield CallSite(file, number, function, code.strip())


def replaced(text: str, before: str, after: str) -> str:
    if before not in text:
        raise SystemExit(f"the text is not there any more: {before}")
    return text.replace(before, after)


def write(path: Path, text: str) -> None:
    """Write a file of the copied sources with a constant modification time, so that cargo rebuilds only changed files.

    The time is the modification time of the original file or of this program, whichever is later.
    """
    path.write_text(text)
    newest = max(Path(__file__).stat().st_mtime, (ROOT / path.relative_to(BUILD / "source")).stat().st_mtime)
    os.utime(path, (newest, newest))


def instrumented() -> dict[str, str]:
    """Return the source files of the flush functions, changed so that a disabled call has no effect."""
    gate = (ROOT / GATE).read_text()
    gate = replaced(gate, "#[inline(always)]\npub fn has_pending", "#[track_caller]\npub fn has_pending")
    count = "LANDING.is_any()"
    gate = replaced(gate, f"{count}\n", f"{count} && !is_left_out()\n")
    gate = replaced(gate, "#[inline(always)]\npub fn flush", "#[track_caller]\npub fn flush")
    gate = replaced(gate, "#[inline]\npub fn flush_all", "#[track_caller]\npub fn flush_all")
    gate = replaced(gate, "#[cold]\npub fn flush_pending", "#[cold]\n#[track_caller]\npub fn flush_pending")
    start = "pub fn flush_now(scope: Scope, cause: FlushReason) {\n"
    gate = replaced(gate, start, f"#[track_caller]\n{start}    if is_left_out() {{\n        return;\n    }}\n")
    front = f"{FOLDER}/mod.rs"
    text = (ROOT / front).read_text()
    for inlined, name in (("#[inline(always)]", "flush_pending"), ("#[inline]", "flush_all_pending")):
        text = replaced(text, f"{inlined}\npub(crate) fn {name}", f"#[track_caller]\npub(crate) fn {name}")
    return {GATE: gate + LOOK, front: text}


def build() -> None:
    """Copy the sources, add the check for disabled calls, and build the extension into a copy of the package."""
    changed = instrumented()
    folder = BUILD / "source"
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("src", "python"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy2(path, folder)
    for name in ("benches", "tests"):
        (folder / name).symlink_to(ROOT / name)
    for name, text in changed.items():
        write(folder / name, text)
    command = ["cargo", "build", "--quiet", "--locked", "--package", "pygpu-python"]
    command += ["--manifest-path", str(folder / "Cargo.toml"), "--target-dir", str(BUILD / "target")]
    environment = {**os.environ, "PYO3_PYTHON": sys.executable, "PYO3_BUILD_EXTENSION_MODULE": "1"}
    subprocess.run(command, check=True, env=environment)
    library = next((BUILD / "target/debug").glob("lib*.so"))
    shutil.copy(library, folder / "python/PyGPU/_core.abi3.so")


def failing(backend: str, tests: list[str], *options: str, **variables: str) -> str | None:
    """Run tests with the built extension; return the name of the first failing test, or None if all pass."""
    environment = {
        **os.environ,
        **variables,
        "PYGPU_BACKEND": backend,
        "PYTHONPATH": str(BUILD / "source/python"),
        "LD_LIBRARY_PATH": str(ROOT / "build/simulated"),
        "PYGPU_SIM_IMAGES": str(ROOT / "build/simulated/images"),
    }
    command = [sys.executable, "-u", "-m", "pytest", "-v", "-x", "-p", "no:cacheprovider", *options, *tests]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode in (0, 5):  # 0: all tests passed; 5: pytest found no test for this backend.
        return None
    if failed := re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", done.stdout, re.MULTILINE):
        return failed[1]
    # If there is no report of a failure, the process has crashed in the last test that began.
    begun = re.findall(r"^(tests/\S+::.+?)(?: (?:PASSED|SKIPPED|XFAIL).*)?$", done.stdout, re.MULTILINE)
    return begun[-1].strip() if begun else f"a process that ends with {done.returncode}"


def visits(backend: str, files: list[str]) -> dict[str, list[str]]:
    """Run all tests, and return for each source location the tests that reach it while operations are pending.

    The tests of a location are sorted by the number of locations that they reach. Each file runs in a separate process,
    because some tests affect which code later tests run: after the first use of a custom allocator, no array is
    allocated from a stream's cache.
    """
    path = BUILD / "found.txt"
    path.unlink(missing_ok=True)
    for file in files:
        if found := failing(backend, [file], **{FOUND: str(path)}):
            raise SystemExit(f"a test fails without any mutation: {found}")
    found_by = defaultdict(set)
    for line in path.read_text().splitlines():
        site, test = line.split("\t")
        if test:
            found_by[site].add(test.rsplit(" (", 1)[0])
    count = Counter(test for tests in found_by.values() for test in tests)
    return {site: sorted(tests, key=lambda test: (count[test], test)) for site, tests in found_by.items()}


def page(seen: list[tuple[CallSite, str | None]]) -> str:
    """Return the Markdown page of results, without line numbers, because these change too often."""
    rows = [PROSE, "| file below `src` | in | first test below `tests/fusion` that fails |", "|---|---|---|"]
    for site, test in seen:
        noticed = f"`{test.removeprefix('tests/fusion/')}`" if test else "**none**"
        rows.append(f"| `{site.file.removeprefix('src/')}` | `{site.function}` | {noticed} |")
    return "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("locations", nargs="*", help="parts of the locations' names; all by default")
    parser.add_argument("--backend", default="cuda", choices=("cuda", "hip"))
    parser.add_argument("--quick", action="store_true", help="leave the random programs out")
    parser.add_argument("--markdown", type=Path, help="a file for the list, as a page")
    arguments = parser.parse_args()
    all_sites = list(call_sites())
    build()
    files = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests/fusion").rglob("test_*.py"))]
    visiting = visits(arguments.backend, [file for file in files if file != RANDOM or not arguments.quick])
    seen: list[tuple[CallSite, str | None]] = []
    for site in all_sites:
        if arguments.locations and not any(part in site.name for part in arguments.locations):
            continue
        coming = visiting.get(site.name)
        found = failing(arguments.backend, coming, *NEVER, **{LEFT_OUT: site.name}) if coming else None
        why = found or ("NOT SEEN" if coming else "NO TEST COMES THERE")
        print(f"{why}: {site.name}: {site.function}: {site.text}", flush=True)
        seen.append((site, found))
    if arguments.markdown:
        arguments.markdown.write_text(page(seen))
    return 0 if all(found for _, found in seen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
