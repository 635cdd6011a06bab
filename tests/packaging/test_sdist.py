"""Test that the source distribution has all files of the repository, because `make test` needs them, and no files that
git ignores."""

import subprocess
import sysconfig
import tarfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]


def test_sdist_has_every_file_of_repository(tmp_path: Path) -> None:
    maturin = Path(sysconfig.get_path("scripts")) / "maturin"
    if not maturin.exists():
        pytest.skip("no maturin beside this Python")
    try:
        listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"not a git working tree: {error}")
    tracked = {name for name in listing.split("\0") if name and (ROOT / name).is_file()}
    built = subprocess.run(
        [maturin, "sdist", "--out", tmp_path], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    if built.returncode:
        pytest.fail(built.stderr)
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as archive:
        packed = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    assert sorted(tracked - packed) == []
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "--stdin"],
        cwd=ROOT,
        input="\n".join(sorted(packed - tracked)),
        capture_output=True,
        check=False,
        text=True,
    )
    assert ignored.stdout == ""
