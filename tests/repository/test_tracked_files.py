"""Test that files and folders stay small, and that no file contains a path of a developer's machine."""

import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")

ROOT = Path(__file__).parents[2]
MAX_LINES = 500
SOURCES = (
    "src/**/*.rs",
    "python/**/*.py",
    "tests/**/*.py",
    "tests/**/*.rs",
    "benches/**/*.py",
    "benches/**/*.rs",
    "fuzz/src/*.rs",
)
MAX_FILES = 20
ROOMS = ("src", "python", "tests")
OF_SOURCE = {".rs", ".py", ".pyi", ".c", ".h", ".cpp", ".hpp", ".cu", ".sh"}
CONFLICT = re.compile(r"^(<{7}|>{7}) ")
# Top-level folders of a developer's machine. Such a folder name is allowed inside a URL, or within a longer path.
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:work|root|home|Users)/\w")


def too_long(texts: Mapping[str, str]) -> list[str]:
    """Return a message for each file with more than `MAX_LINES` lines."""
    counts = {name: len(text.splitlines()) for name, text in texts.items()}
    return [f"{name} has {count} of at most {MAX_LINES} lines" for name, count in counts.items() if count > MAX_LINES]


def too_full(names: Iterable[str]) -> dict[str, int]:
    """Return the number of source files in each folder that has more than `MAX_FILES` source files."""
    counts = Counter(str(Path(name).parent) for name in names if Path(name).suffix in OF_SOURCE)
    return {folder: count for folder, count in counts.items() if count > MAX_FILES}


def lines_with(pattern: re.Pattern[str], texts: Mapping[str, str]) -> list[str]:
    """Return the lines of the texts in which a pattern matches."""
    return [
        f"{name}:{number}: {line.strip()}"
        for name, text in texts.items()
        for number, line in enumerate(text.splitlines(), 1)
        if pattern.search(line)
    ]


def texts_of(paths: Iterable[Path]) -> dict[str, str]:
    """Return the contents of text files, by their path from the root of the repository."""
    return dict(_read(paths))


def _read(paths: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for path in paths:
        # Skip submodules and deleted files, because git lists them too.
        if not path.is_file():
            continue
        content = path.read_bytes()
        # Inputs of the fuzzers are arbitrary bytes, not text.
        if b"\0" not in content and "corpus" not in path.parts:
            yield str(path.relative_to(ROOT)), content.decode("utf-8")


def tracked_files() -> list[Path]:
    """Return the files that git tracks."""
    try:
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"not a git working tree: {error}")
    return [ROOT / name for name in listing.split("\0") if name]


def test_files_have_at_most_500_lines() -> None:
    assert too_long(texts_of(path for pattern in SOURCES for path in ROOT.glob(pattern))) == []


def test_folders_have_at_most_20_files() -> None:
    names = [str(path.relative_to(ROOT)) for path in tracked_files() if path.is_file()]
    in_rooms = [name for name in names if name.startswith(tuple(f"{room}/" for room in ROOMS))]
    assert too_full(in_rooms) == {}


def test_folder_check_finds_folder_with_too_many_files() -> None:
    names = [f"src/a/{number}.rs" for number in range(MAX_FILES)]
    assert too_full([*names, "src/a/notes.md", "src/a/b/more.rs"]) == {}
    assert too_full([*names, "src/a/one_more.rs"]) == {"src/a": 21}


def test_no_file_contains_path_of_developers_machine() -> None:
    assert lines_with(MACHINE_PATH, texts_of(tracked_files())) == []


def test_no_file_contains_merge_conflict() -> None:
    assert lines_with(CONFLICT, texts_of(tracked_files())) == []
    assert lines_with(CONFLICT, {"a.md": f"text\n{'<' * 7} HEAD\n"}) == [f"a.md:2: {'<' * 7} HEAD"]


def test_length_check_finds_too_long_file() -> None:
    lines = "x\n" * MAX_LINES
    assert too_long({"right.rs": lines, "long.rs": lines + "x\n"}) == ["long.rs has 501 of at most 500 lines"]


@pytest.mark.parametrize("folder", ["work", "root", "home", "Users"])
def test_path_check_finds_path_of_developers_machine(folder: str) -> None:
    line = f'include = "/{folder}/someone/file"'
    assert lines_with(MACHINE_PATH, {"a.toml": f"\n{line}\n"}) == [f"a.toml:2: {line}"]


@pytest.mark.parametrize("line", ["https://example.org/home/page", "src/work/file", "~/work/x"])
def test_path_check_accepts_paths_that_exist_on_every_machine(line: str) -> None:
    assert lines_with(MACHINE_PATH, {"a.md": line}) == []
