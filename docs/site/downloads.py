"""Write the archive of the examples of bindings, which pages link where they name a folder of these examples."""

import zipfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples" / "bindings"
ARCHIVE = EXAMPLES.parents[1] / "build" / "examples_of_bindings.zip"


def is_example_of_bindings(path: Path) -> bool:
    """Return whether a path is the folder of the examples of bindings, or a folder in it."""
    return path.is_dir() and path.is_relative_to(EXAMPLES)


def write(archive: Path = ARCHIVE) -> None:
    """Write the archive; the paths in it begin with ``bindings/``."""
    archive.parent.mkdir(exist_ok=True)
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in sorted(EXAMPLES.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                target.write(path, path.relative_to(EXAMPLES.parent))
