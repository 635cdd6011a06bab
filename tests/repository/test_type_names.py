"""Test that the name of a Rust type belongs to at most two modules: docs/design/style.md."""

import re
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = [pytest.mark.reads_in_place, pytest.mark.enough_on("cpu")]
ROOT = Path(__file__).parents[2]
DECLARATION = re.compile(
    r"^ *(?:pub(?:\([^)]*\))? )?(?:unsafe )?(?:struct|enum|union|trait|type) (?P<name>[A-Z]\w*)", re.MULTILINE
)
MOST = 2
# One definition for each vendor's driver: the associated types of `vendor::symbols::Types`, and its table of functions.
OF_EACH_VENDOR = {
    *("Address", "Api", "CaptureMode", "CaptureStatus", "DeviceAttribute", "Event", "Executable", "Function"),
    *("FunctionAttribute", "Graph", "GraphNode", "IpcEvent", "IpcMemory", "Module", "Pool", "PoolAccess"),
    *("PoolAttribute", "PoolProperties", "Slot", "Stream", "Uuid"),
}
# Associated types of traits, which each implementation declares.
ASSOCIATED = {"Error", "PreviousDevice"}
SHARED = OF_EACH_VENDOR | ASSOCIATED
# Folders that have not been renamed yet.
NOT_YET = ("src/python/",)


def modules_of_types() -> dict[str, list[str]]:
    """Return the files that declare each name of a type."""
    found = defaultdict(set)
    for path in (ROOT / "src").glob("**/*.rs"):
        file = str(path.relative_to(ROOT))
        if "/tests/" in file or file.endswith("/tests.rs") or file.startswith(NOT_YET):
            continue
        for match in DECLARATION.finditer(path.read_text()):
            found[match["name"]].add(file)
    return {name: sorted(files) for name, files in found.items()}


def test_type_names_belong_to_at_most_two_modules() -> None:
    found = modules_of_types()
    assert "LoopNest" in found  # the pattern finds types
    shared = {name: files for name, files in found.items() if len(files) > MOST and name not in SHARED}
    assert not shared, "types of one name in several modules; name each after its content:\n" + "\n".join(
        f"{name}: {', '.join(files)}" for name, files in sorted(shared.items())
    )


def test_exceptions_are_needed() -> None:
    found = modules_of_types()
    unneeded = sorted(name for name in SHARED if len(found.get(name, [])) <= MOST)
    assert not unneeded, f"these names need no exception: {', '.join(unneeded)}"
