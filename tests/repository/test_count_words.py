"""Test the count of words of the hand-written pages."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.enough_on("cpu")
ROOT = Path(__file__).parents[2]
PAGE = """# Two words

One [link](page.md) and `a name`, 12 GB/s.

```python
not_counted = 1
```

<!-- written by docs/make_functions.py -->
not counted
<!-- end -->
"""


@pytest.fixture(scope="module")
def count_words() -> ModuleType:
    """Load tools/count_words.py as a module."""
    spec = importlib.util.spec_from_file_location("count_words", ROOT / "tools" / "count_words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_word_count_omits_code_names_figures_and_generated_parts(count_words: ModuleType) -> None:
    # In the test's page, these words are counted: Two, words, One, link, and, GB, s.
    assert count_words.count(PAGE) == 7
    # With `everything`, these words are counted: #, Two, words, One, [link](page.md), and, `a, name`, 12, GB/s.
    assert count_words.count(PAGE, everything=True) == 10


def test_word_count_omits_results_and_generated_pages(count_words: ModuleType) -> None:
    counted = count_words.of_tree(everything=True)
    assert {"README.md", "docs/index.md", "docs/howto/torch.md", "docs/design/index.md"} <= set(counted)
    assert not {"docs/reference.md", "docs/performance.md", "docs/results/README.md", "CHANGELOG.md"} & set(counted)


def test_word_report_compares_counts_with_earlier_revision(count_words: ModuleType) -> None:
    lines = count_words.report({"a.md": 3, "b.md": 1}, {"a.md": 4}, pages=True)
    assert lines == ["a.md: 3 words, 4 before (-25.0%)", "b.md: 1 words", "total: 4 words, 4 before (+0.0%)"]
