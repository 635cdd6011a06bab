"""Test that at most two modules declare a Rust type of the same name, as docs/design/style.md requires."""

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
# This file declares a trait with associated types. The driver of each vendor implements the trait.
TRAIT = "src/backend/cuda_and_hip/symbols.rs"
VENDORS = (TRAIT, "src/backend/cuda/", "src/backend/hip/")
# Exempt type names: each vendor's driver declares the type, or the type is an associated type of another trait.
SHARED = {"Api", "Slot", "Error", "PreviousDevice", "Target"}


def modules_of_types() -> dict[str, list[str]]:
    """Return, for each type name, the files that declare a type of this name."""
    found = defaultdict(set)
    associated = set(re.findall(r"^    type (\w+)", (ROOT / TRAIT).read_text(), re.MULTILINE))
    assert "GraphNode" in associated
    for path in (ROOT / "src").glob("**/*.rs"):
        file = str(path.relative_to(ROOT))
        if "/tests/" in file or file.endswith("/tests.rs"):
            continue
        for match in DECLARATION.finditer(path.read_text()):
            if not (file.startswith(VENDORS) and match["name"] in associated):
                found[match["name"]].add(file)
    return {name: sorted(files) for name, files in found.items()}


def test_type_names_are_declared_in_at_most_two_modules() -> None:
    found = modules_of_types()
    # If the pattern did not find this type, it would find no types at all.
    assert "LoopNest" in found
    shared = {name: files for name, files in found.items() if len(files) > MOST and name not in SHARED}
    assert not shared, "types of one name in several modules; name each after its content:\n" + "\n".join(
        f"{name}: {', '.join(files)}" for name, files in sorted(shared.items())
    )


def test_each_exempt_type_name_is_declared_in_more_than_two_modules() -> None:
    found = modules_of_types()
    unneeded = sorted(name for name in SHARED if len(found.get(name, [])) <= MOST)
    assert not unneeded, f"these names need no exception: {', '.join(unneeded)}"
