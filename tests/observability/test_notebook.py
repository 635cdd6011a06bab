"""Test the notebooks of examples/ by running their cells in order.

The test does not use nbclient, which needs a kernel in a separate process and about forty packages. The cells are plain
Python without magics, and each last line is displayed as in a notebook.
"""

import ast
import json
from pathlib import Path
from typing import Any

import pytest

import PyGPU

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def cells(path: Path) -> list[dict[str, Any]]:
    content = json.loads(path.read_text(encoding="utf-8"))
    return [cell for cell in content["cells"] if cell["cell_type"] == "code"]


def shown(source: str, names: dict[str, Any]) -> str | None:
    """Run a cell, and return the text that a notebook displays for the cell's last line if this line is an
    expression."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    exec(compile(tree, "cell", "exec"), names)
    value = None if last is None else eval(compile(last, "cell", "eval"), names)
    return value._repr_html_() if hasattr(value, "_repr_html_") else None if value is None else repr(value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_all_cells(path: Path) -> None:
    try:
        PyGPU.Module('extern "C" __global__ void first() {}')
    except (PyGPU.BackendUnavailableError, PyGPU.NotSupportedError) as error:
        pytest.skip(f"no kernels: {error}")
    names: dict[str, Any] = {}
    views = [shown("".join(cell["source"]), names) for cell in cells(path)]
    assert sum(view is not None and "<table>" in view for view in views) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_committed_without_output(path: Path) -> None:
    assert NOTEBOOKS
    assert [cell["outputs"] for cell in cells(path) if cell["outputs"] or cell["execution_count"] is not None] == []
