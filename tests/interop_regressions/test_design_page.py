"""Test that each regression on the page `interop_regressions.md` has a test, and that the page names each test."""

import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.enough_on("cpu")

FOLDER = Path(__file__).parent
PAGE = FOLDER.parent.parent / "docs" / "design" / "interop_regressions.md"
WITH_THE_KERNELS = {"22", "23"}


def test_every_regression_number_of_page_has_test() -> None:
    text = PAGE.read_text(encoding="utf-8")
    tests = {
        number
        for path in FOLDER.glob("test_*.py")
        for number in re.findall(r"^def test_regression_(\d\d)_", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    rows = {f"{int(number):02}" for number in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert rows == {f"{number:02}" for number in range(1, 26)}
    assert set(re.findall(r"`test_regression_(\d\d)`", text)) == tests == rows - WITH_THE_KERNELS
