"""Test that the folder of measured results is small, and that generated files are marked."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "results"
# A copy of the repository on a machine with a GPU may lack the results.
pytestmark = [
    pytest.mark.enough_on("cpu"),
    pytest.mark.skipif(not RESULTS.exists(), reason="docs/results is missing"),
]
MOST_BYTES = 200_000
WRITER = re.compile(r"(?i)\bwrites? (docs/[\w/]+\.(?:md|txt))")


def test_results_are_in_one_folder_below_size_limit() -> None:
    files = [path for path in RESULTS.rglob("*") if path.is_file()]
    assert [path for path in files if path.parent != RESULTS] == []
    assert [path for path in files if path.suffix in (".svg", ".png")] == [], "make plots draws them into build/plots"
    assert sum(path.stat().st_size for path in files) <= MOST_BYTES, "replace older results, do not add to them"


def test_each_result_is_listed_on_results_page() -> None:
    page = (RESULTS / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in sorted(RESULTS.iterdir()) if path.name not in page and path.name != "README.md"] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="this is no clone of the repository")
def test_files_written_by_scripts_are_marked_as_generated() -> None:
    scripts = [*(ROOT / "docs").glob("make_*.py"), *(ROOT / "tools").glob("*.py")]
    written = {path for script in scripts for path in WRITER.findall(script.read_text(encoding="utf-8"))}
    assert written >= {"docs/reference.md", "docs/performance.md", "docs/licenses_of_crates.txt"}
    command = ["git", "check-attr", "linguist-generated", *sorted(written)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert [line for line in done.stdout.splitlines() if not line.endswith(": set")] == []
